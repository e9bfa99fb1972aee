"""The columns of a recording file: names, units, frames."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from strapdown.earth import STANDARD_GRAVITY
from strapdown.types import Array


@dataclass(frozen=True)
class Column:
    """One column: `name [unit, frame]`. `field` is the field of a recording, `axis` the component."""

    name: str
    unit: str | None
    frame: str | None
    field: str
    axis: int | None

    @property
    def header(self) -> str:
        inside = ", ".join(part for part in (self.unit, self.frame) if part)
        return f"{self.name} [{inside}]" if inside else self.name


def _triad(name: str, unit: str, frame: str, field: str) -> list[Column]:
    return [Column(f"{name}_{axis}", unit, frame, field, i) for i, axis in enumerate("xyz")]


# instruments that may be slower than the rows: column new_... has 1 where the row holds a new reading
NEW = {
    "mag": "mag_s",
    "temperature": "temperature",
    "tilt": "tilt_s",
    "odometer": "odometer",
    "fix_p": "position_fix",
    "fix_v": "velocity_fix",
    "height": "height",
}

# The one table of the format. Truth is the motion of the sensor's own frame s, so its attitude takes s to n.
COLUMNS: tuple[Column, ...] = (
    Column("sensor", None, None, "sensor", None),
    Column("t", "s", None, "t", None),
    *_triad("gyr", "rad/s", "s", "gyr_s"),
    *_triad("acc", "m/s2", "s", "acc_s"),
    *_triad("mag", "uT", "s", "mag_s"),
    Column("temperature", "degC", None, "temperature", None),
    Column("stop", None, None, "stop", None),
    Column("clipped", None, None, "clipped", None),
    Column("odometer", "m", None, "odometer", None),
    *(Column(f"tilt_{axis}", "rad", "s", "tilt_s", i) for i, axis in enumerate("xy")),
    Column("dt", "s", None, "increments.dt", None),
    *_triad("theta", "rad", "s", "increments.theta_s"),
    *_triad("dv", "m/s", "s", "increments.dv_s"),
    *_triad("true_p", "m", "n", "truth.p_n"),
    *_triad("true_v", "m/s", "n", "truth.v_n"),
    *_triad("true_a", "m/s2", "n", "truth.a_n"),
    *(Column(f"true_q_{axis}", "1", "ns", "truth.q_nb", i) for i, axis in enumerate("wxyz")),
    *_triad("true_w", "rad/s", "s", "truth.w_nb_b"),
    *_triad("true_dw", "rad/s2", "s", "truth.dw_nb_b"),
    *_triad("fix_p", "m", "n", "position_fix.value_n"),
    *_triad("fix_p_sigma", "m", "n", "position_fix.sigma_n"),
    Column("fix_p_t", "s", None, "position_fix.t_s", None),
    *_triad("fix_v", "m/s", "n", "velocity_fix.value_n"),
    *_triad("fix_v_sigma", "m/s", "n", "velocity_fix.sigma_n"),
    Column("fix_v_t", "s", None, "velocity_fix.t_s", None),
    Column("height", "m", "n", "height.height_m", None),
    Column("height_sigma", "m", None, "height.sigma_m", None),
    *(Column(f"new_{name}", None, None, f"new.{field}", None) for name, field in NEW.items()),
)
# true or false; all other columns but the sensor's name are numbers
FLAGS = ("stop", "clipped", *(f"new_{name}" for name in NEW))
BY_NAME = {column.name: column for column in COLUMNS}


@dataclass(frozen=True)
class Unit:
    """`value * times / over + plus` is in the unit `si`. Two factors, so that 2 ms is the double 0.002 s.

    text: the cells are not numbers but clock times (io/foreign/clock.py).
    """

    si: str
    times: float = 1.0
    over: float = 1.0
    plus: float = 0.0
    text: bool = False

    def convert(self, value: Array) -> Array:
        if (self.times, self.over, self.plus) == (1.0, 1.0, 0.0):
            return value  # adding 0.0 would turn -0.0 into 0.0
        return value * self.times / self.over + self.plus


UNITS: dict[str, Unit] = {
    "s": Unit("s"),
    "ms": Unit("s", over=1e3),
    "us": Unit("s", over=1e6),
    "ns": Unit("s", over=1e9),
    "d": Unit("s", times=86400.0),
    "clock": Unit("s", text=True),
    "m/s2": Unit("m/s2"),
    "g": Unit("m/s2", times=STANDARD_GRAVITY),
    "mg": Unit("m/s2", times=STANDARD_GRAVITY, over=1e3),
    "rad/s": Unit("rad/s"),
    "deg/s": Unit("rad/s", times=math.pi, over=180.0),
    "mdeg/s": Unit("rad/s", times=math.pi, over=180e3),
    "mrad/s": Unit("rad/s", over=1e3),
    "uT": Unit("uT"),
    "nT": Unit("uT", over=1e3),
    "mT": Unit("uT", times=1e3),
    "G": Unit("uT", times=100.0),
    "mG": Unit("uT", over=10.0),
    "gauss": Unit("uT", times=100.0),
    "degC": Unit("degC"),
    "K": Unit("degC", plus=-273.15),
    "m": Unit("m"),
    "mm": Unit("m", over=1e3),
    "cm": Unit("m", over=100.0),
    "rad": Unit("rad"),
    "deg": Unit("rad", times=math.pi, over=180.0),
    "m/s": Unit("m/s"),
    "rad/s2": Unit("rad/s2"),
    "1": Unit("1"),
}


def listed(names: Sequence[str], most: int = 60) -> str:
    """Names on one line, in quotes where they contain commas, and cut if there are hundreds."""
    plain = ["".join(c if c.isprintable() else "?" for c in name[:80]) for name in names[:most]]
    shown = [f'"{name}"' if "," in name or not name.strip() else name for name in plain]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
