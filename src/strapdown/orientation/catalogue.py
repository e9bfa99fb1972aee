"""The orientation filters by name, and when to use which. A filter's file is imported when it is first used."""

from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from strapdown.errors import InputError


@dataclass(frozen=True)
class Entry:
    """A filter of the catalogue: module of its class, description, and when to use it."""

    module: str
    class_name: str
    what: str
    when: str

    @property
    def cls(self) -> type[Any]:
        """The class of the filter's settings."""
        return getattr(import_module(f"strapdown.orientation.{self.module}"), self.class_name)


FILTERS: dict[str, Entry] = {
    "gyro": Entry("gyro", "Gyro", "gyroscope alone", "for seconds, and to see what corrections are worth"),
    "paper-b": Entry(
        "paper_b", "PaperB", "paper B's Euler-angle filter, as printed", "to compare with; fails at pitch 90 deg"
    ),
    "complementary": Entry(
        "complementary",
        "Complementary",
        "complementary filter with time constants",
        "simple, and free of tuning by rate",
    ),
    "mahony": Entry(
        "mahony", "Mahony", "proportional and integral correction, gyroscope bias", "where speed matters most"
    ),
    "madgwick": Entry("madgwick", "Madgwick", "gradient descent of fixed step", "to compare with published results"),
    "mekf": Entry("mekf", "Mekf", "error-state Kalman filter of attitude and bias", "where sigmas are needed"),
    "vqf": Entry(
        "vqf", "Vqf", "specific force low-passed in an inertial frame, rest and disturbance detection", "well proven"
    ),
    "lodestar": Entry(
        "lodestar",
        "Lodestar",
        "our own: VQF's inclination, a Kalman filter of the heading, a smoother",
        "by default: the most accurate on recorded data",
    ),
}


def filter_by_name(name: str, **settings: Any) -> Any:
    """The named filter with these settings; the others keep their defaults."""
    if name not in FILTERS:
        raise InputError(f'there is no filter "{name}"; valid names: {", ".join(FILTERS)}')
    cls = FILTERS[name].cls
    known = [field.name for field in fields(cls) if field.init]
    for given in settings:
        if given not in known:
            raise InputError(f'the filter "{name}" has no setting "{given}"; it has {", ".join(known)}')
    return cls(**settings)
