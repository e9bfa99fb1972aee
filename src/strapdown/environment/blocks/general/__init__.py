"""Blocks for any signal: sources, arithmetic, logic, limits, filters, PID."""
