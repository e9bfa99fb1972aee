"""Logs: units, faults, rest, axes, facts, joining. All code that takes a log uses this package."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
