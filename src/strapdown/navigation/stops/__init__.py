"""Stop detectors."""
