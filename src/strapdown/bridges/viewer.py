"""What a bridge shows: readings of sensors and poses, each with its time. Every viewer takes the same."""

import importlib
from typing import Any, NamedTuple, Protocol

from strapdown.arrays import Array
from strapdown.errors import InputError

INSTALL = "pip install 'strapdown[bridges]'"


class Readings(NamedTuple):
    """One sample of a sensor, SI units and uT, frame s. None: no such instrument, or no new reading."""

    sensor: str
    t_s: float
    gyr_s: Array | None
    acc_s: Array | None
    mag_s: Array | None = None
    temperature: float | None = None


class Pose(NamedTuple):
    """A pose in frame n. q_nb, or p_n and v_n, are None where they are not known."""

    name: str
    t_s: float
    q_nb: Array | None
    p_n: Array | None = None
    v_n: Array | None = None


class Viewer(Protocol):
    """Where updates are shown or recorded."""

    def show(self, update: Readings | Pose) -> None: ...

    def close(self) -> None:
        """Whatever was recorded is complete afterwards."""


def sdk(module: str, what: str) -> Any:
    """The library of a viewer, or a sentence that names what to install."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"the bridge to {what} needs {module}; install it: {INSTALL}") from None
