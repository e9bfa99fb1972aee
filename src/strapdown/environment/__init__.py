"""The world a vehicle or robot moves in: rigs and scenarios read from files, run without a browser."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
