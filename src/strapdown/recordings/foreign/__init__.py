"""Logs without a description: their mapping and units, guessed from names and readings."""
