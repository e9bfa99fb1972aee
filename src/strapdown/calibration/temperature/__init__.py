"""Offsets against temperature."""
