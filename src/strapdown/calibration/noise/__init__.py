"""Noise constants of a part from a log at rest: Allan deviation, fit, virtual twin."""
