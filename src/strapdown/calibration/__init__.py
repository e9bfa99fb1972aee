"""From readings to the errors of the sensor that gave them, and back to readings without them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
