"""What a log is: units, faults, rest, axes, facts, joining. All that takes a log asks here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
