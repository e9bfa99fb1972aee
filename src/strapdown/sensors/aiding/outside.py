"""Altimeter, barometer and fix receivers along the true motion of a recording: its columns height and fixes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from strapdown.errors import InputError
from strapdown.sensors.aiding.altimeter import Altimeter
from strapdown.sensors.aiding.barometer import Barometer
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.streams import seed_of
from strapdown.sensors.temperature import Temperature
from strapdown.types import Recording

Outside = Altimeter | Barometer | FixReceiver


def with_outside(
    recording: Recording,
    sensors: Sequence[Outside],
    seed: int,
    *,
    ground_m: float = 0.0,
    temperature_c: Temperature | None = None,
) -> Recording:
    """The recording with the readings of these sensors along its truth; they sit in the frame s of the recording.

    At most one of height (altimeter or barometer), one of position and one of velocity. Each sensor draws from its own
    stream of the seed. An altimeter's range is in the column of heights unchanged: over level ground at height 0 it is
    the height of a level body.

    ground_m: height of the ground below the altimeter, frame n.
    temperature_c: temperature of a barometer.
    """
    if recording.truth is None:
        raise InputError("the recording has no truth; altimeter, barometer and fixes need the true motion")
    columns: dict[str, Any] = {}
    new = dict(recording.new)
    for sensor in sensors:
        if isinstance(sensor, FixReceiver):
            column, stream = f"{sensor.kind}_fix", seed_of(seed, f"{sensor.kind} fix")
            found: tuple[Any, Any] = sensor.measure(recording.truth, stream=stream)
        elif isinstance(sensor, Altimeter):
            column = "height"
            found = sensor.measure(recording.truth, stream=seed_of(seed, "altimeter"), ground_m=ground_m)
        elif isinstance(sensor, Barometer):
            column, stream = "height", seed_of(seed, "barometer")
            found = sensor.measure(recording.truth, stream=stream, temperature_c=temperature_c)
        else:
            raise InputError(f"a {type(sensor).__name__} is no altimeter, barometer or fix receiver; give one of these")
        if column in columns:
            raise InputError(f"two sensors give the column {column}; give one of them")
        columns[column], new[column] = found
    return replace(recording, **columns, new=new)
