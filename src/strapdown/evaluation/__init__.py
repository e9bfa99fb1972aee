"""Errors against truth, tables of stops, consistency of the stated sigma."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
