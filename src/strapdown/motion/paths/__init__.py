"""Analytic paths, one file each."""
