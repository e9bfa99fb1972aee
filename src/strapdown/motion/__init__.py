"""Where the body is: analytic paths, recorded poses, and the protocols that engines share with them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
