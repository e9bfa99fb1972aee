"""Campaigns: thousands of runs on one machine or a cluster. The public names, loaded when first used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
