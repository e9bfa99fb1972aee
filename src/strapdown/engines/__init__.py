"""Simulators as motion sources. MuJoCo is the first; each engine gives the same readings."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
