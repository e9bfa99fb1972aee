"""Are the readings of a log in the units that they claim? Raw counts, g, deg/s, gauss, kelvin and ms are told here.

A reading in another unit gives wrong numbers without any other sign, or a refusal with the wrong reason; so every
command that takes a log looks here first.
"""

from collections.abc import Iterable

import numpy as np

from strapdown.calibration.calibration import FIELDS
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.types import Array, Recording

_LOOKED_AT = 10_000  # samples: a median needs no more
_SLOWEST_S = 1.0  # usual step: no log for a calibration is slower
_AT_REST, _MOVING = (0.5, 2.0), (0.3, 3.0)  # median |f| over gravity; in g it is 0.1, in mg or cm/s2 100
_FASTEST = 40.0  # rad/s at the median: 2300 deg/s
_FIELD_UT = (2.0, 2000.0)  # at the median, hard iron included; in gauss it is below 1
_CELSIUS = (-60.0, 200.0)  # in kelvin a room is 293
_WINDOW_S, _LEAST_WINDOW = 0.5, 16
_QUIETEST = 0.1  # of the windows
# Where the accelerometer is as quiet as on a table, no gyroscope reads so much or scatters so much: the largest printed
# offset is 20 deg/s per axis, the largest noise a few tenths of a deg/s. In deg/s they come out as such numbers
_TABLE = 0.06  # m/s2 per sample
_MOST_OFFSET, _STEADY = 1.0, 0.2  # rad/s, and the share of it by which a steady reading scatters
_MOST_NOISE = 0.05  # rad/s per sample: 3 deg/s
_MAPPING = "in the column mapping (docs/io.md)"


def refuse_other_units(recording: Recording, instruments: Iterable[str], gravity: float | None = None) -> None:
    """For any log, at rest or moving. gravity (m/s2): of the place; the log's own word or the standard if None."""
    refuse_time(recording)
    for name in instruments:
        values = getattr(recording, FIELDS[name])
        if values is not None:
            _refuse_magnitude(name, values, _gravity(recording, gravity), _MOVING)


def refuse_other_units_at_rest(recording: Recording, gravity: float | None = None) -> None:
    """For a log that is to be at rest somewhere: its accelerometer and gyroscope, before rest is looked for."""
    refuse_time(recording)
    for name in ("accelerometer", "gyroscope"):
        values = getattr(recording, FIELDS[name])
        if values is not None:
            _refuse_magnitude(name, values, _gravity(recording, gravity), _AT_REST)
    doubt = gyroscope_doubt(recording)
    if doubt is not None:
        raise InputError(doubt)


def refuse_time(recording: Recording) -> None:
    step = float(np.median(np.diff(recording.t))) if len(recording) > 1 else 0.0
    if step > _SLOWEST_S:
        raise InputError(
            f"the usual step of the log is {step:.5g} s: time looks like ms or us; give the unit of time {_MAPPING}"
        )


def refuse_temperature(celsius: Array) -> None:
    """In degC, as thermometers of such parts read it."""
    low, high = float(celsius.min()), float(celsius.max())
    if not (_CELSIUS[0] <= low and high <= _CELSIUS[1]):
        raise InputError(
            f"the temperature runs from {low:.5g} to {high:.5g}, which no sensor in degC does: kelvin or raw counts; "
            f"give its unit {_MAPPING}"
        )


def gyroscope_doubt(recording: Recording) -> str | None:
    """A sentence if the gyroscope reads what none does where the accelerometer is as quiet as on a table."""
    if recording.gyr_s is None or len(recording) < 2 * _LEAST_WINDOW:
        return None
    step = float(np.median(np.diff(recording.t)))
    width = max(_LEAST_WINDOW, round(_WINDOW_S / step))
    count = len(recording) // width
    if count < 2:
        return None

    def windows(values: Array) -> tuple[Array, Array]:
        cut = values[: count * width].reshape(count, width, 3)
        return cut.mean(axis=1), cut.std(axis=1).max(axis=1)

    mean, scatter = windows(recording.gyr_s)
    quietness, table = scatter, False
    if recording.acc_s is not None:
        _, quietness = windows(recording.acc_s)
    quietest = np.argsort(quietness, kind="stable")[: max(2, int(_QUIETEST * count))]
    if recording.acc_s is not None:
        table = float(np.median(quietness[quietest])) < _TABLE
    offset = float(np.median(np.linalg.norm(mean[quietest], axis=1)))
    # an offset is the same in all of them, whichever way the sensor lies; a turn that goes on is not
    between = float(np.median(np.linalg.norm(mean[quietest] - np.median(mean[quietest], axis=0), axis=1)))
    within = float(np.median(scatter[quietest]))
    steady = offset > _MOST_OFFSET and max(within, between) < _STEADY * offset
    steady = steady and (table or recording.acc_s is None)
    # by second differences: motion is smooth, noise is not
    bent = np.diff(recording.gyr_s[: count * width].reshape(count, width, 3)[quietest], n=2, axis=1)
    noise = float(np.median(bent.std(axis=1).max(axis=1))) / np.sqrt(6.0)
    if not (steady or (table and noise > _MOST_NOISE)):
        return None
    where = "the accelerometer" if recording.acc_s is not None else "it"
    return (
        f"the gyroscope reads {offset:.4g} rad/s with a noise of {noise:.2g} where {where} is quietest, more than "
        f"any part does at rest: deg/s or raw counts; give its unit {_MAPPING}"
    )


def _gravity(recording: Recording, given: float | None) -> float:
    said = recording.meta.get("gravity_m_s2") if given is None else given
    usable = isinstance(said, int | float) and not isinstance(said, bool) and 0.1 <= said <= 100.0
    return float(said) if usable and said is not None else STANDARD_GRAVITY


def _refuse_magnitude(name: str, values: Array, gravity: float, like_gravity: tuple[float, float]) -> None:
    some = values[:: max(1, len(values) // _LOOKED_AT)]
    largest = float(np.abs(some).max(initial=0.0))
    size = largest if largest > 1e100 else float(np.median(np.linalg.norm(some, axis=1)))  # squares would overflow
    if name == "accelerometer" and not like_gravity[0] < size / gravity < like_gravity[1]:
        guess = "they look like g" if 0.7 < size < 1.4 else "they look like raw counts or another unit"
        raise InputError(
            f"the accelerometer reads {size:.5g} at the median where gravity is {gravity:.4g} m/s2: {guess}; give unit "
            f"and scale of its columns {_MAPPING}"
        )
    if name == "gyroscope" and size > _FASTEST:
        raise InputError(
            f"the gyroscope reads {size:.4g} rad/s at the median, faster than any part can: deg/s or raw counts; give "
            f"its unit {_MAPPING}"
        )
    if name == "magnetometer" and not _FIELD_UT[0] < size < _FIELD_UT[1]:
        guess = "gauss" if 0.1 < size < 1.0 else "raw counts or another unit"
        raise InputError(
            f"the magnetometer reads {size:.4g} uT at the median, and the Earth's field is 22 to 67 uT: {guess}; give "
            f"unit and counts_per_unit {_MAPPING}"
        )
