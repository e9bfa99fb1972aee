"""The picture of the measuring module: for the scene, and by typescript.py for the chooser."""

from strapdown.studio.messages.session import Geom

_GREEN, _BLUE, _DARK, _METAL = (0.1, 0.42, 0.3), (0.16, 0.32, 0.66), (0.16, 0.17, 0.19), (0.75, 0.76, 0.78)
# the module as it is built, drawn 2.5 times its size: base, GY-521, GY-273, controller, their chips, USB connector;
# half lengths and middle in m, colour
_SHAPE = (
    ("base", (0.13, 0.08, 0.006), (0.0, 0.0, 0.0), (0.32, 0.34, 0.37)),
    ("GY-521", (0.026, 0.02, 0.004), (0.085, 0.045, 0.012), _BLUE),
    ("MPU-6050", (0.006, 0.006, 0.003), (0.085, 0.045, 0.019), _DARK),
    ("GY-273", (0.018, 0.022, 0.004), (0.085, -0.042, 0.012), _GREEN),
    ("QMC5883L", (0.005, 0.005, 0.003), (0.085, -0.042, 0.019), _DARK),
    ("controller", (0.066, 0.028, 0.004), (-0.045, 0.0, 0.012), _BLUE),
    ("STM32F103", (0.011, 0.011, 0.003), (-0.04, 0.0, 0.019), _DARK),
    ("USB", (0.012, 0.011, 0.006), (-0.115, 0.0, 0.016), _METAL),
)


def module_shape() -> list[Geom]:
    return [
        Geom(name=name, type="box", size=list(size), pos=list(at), rgba=[*colour, 1.0], quat=[1.0, 0.0, 0.0, 0.0])
        for name, size, at, colour in _SHAPE
    ]
