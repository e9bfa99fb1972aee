"""Strapdown: inertial navigation from motion to evaluation. The public names, loaded when first used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
