"""Faults of a sensor: their effect on its readings."""

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from strapdown.arrays import Array
from strapdown.environment.session.faults.table import Fault
from strapdown.environment.table import Name, NotNegative, Number, Positive
from strapdown.sensors.chain.state import kept_generator, restored_generator
from strapdown.sensors.streams import branch, seed_of

Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]
INSTRUMENTS = (
    *("accelerometer", "gyroscope", "magnetometer", "inclinometer", "altimeter", "barometer", "odometer"),
    *("position_fix", "velocity_fix"),
)


class Reading(NamedTuple):
    """Reading of an instrument at an instant.

    new: a reading has arrived; otherwise `value` is the last one.
    """

    value: Array
    new: bool


class SensorFault(Fault):
    """A fault of one sensor.

    instrument: one instrument of a module; None means all.
    """

    sensor: Name
    instrument: Literal[INSTRUMENTS] | None = None  # type: ignore[valid-type]
    together: ClassVar[bool] = False  # all instruments of the sensor draw the same random numbers

    def begin(self, seed: int, name: str) -> Any:
        """The memory of the fault, a value."""
        return None

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        raise NotImplementedError


class _Random(SensorFault):
    def begin(self, seed: int, name: str) -> Any:
        return kept_generator(branch(seed_of(seed, "fault", name), 1)[0])


class Dead(SensorFault):
    """Gives no more readings. One instrument of a module: its rows continue and repeat the last value, not as new."""

    kind: Literal["dead"] = "dead"

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        kept = reading.value if memory is None else memory
        return kept, Reading(kept, False)


class Stuck(SensorFault):
    """Repeats the first reading of the fault as if each were new."""

    kind: Literal["stuck"] = "stuck"

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        kept = reading.value if memory is None else memory
        return kept, Reading(kept, reading.new)


class Biased(SensorFault):
    """Reads too much by a constant, in the unit of the instrument (m/s2, rad/s, uT, rad, m, Pa)."""

    kind: Literal["biased"] = "biased"
    offset: Annotated[tuple[Number, ...], Field(min_length=1, max_length=3)]

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        return None, Reading(reading.value + fitted(self.offset, reading.value), reading.new)


class Noisy(_Random):
    """Has additional white noise: standard deviation of a reading, in the unit of the instrument."""

    kind: Literal["noisy"] = "noisy"
    sigma: Positive

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        if not reading.new:
            return memory, reading
        generator = restored_generator(memory)
        noise = self.sigma * generator.standard_normal(np.shape(reading.value))
        return kept_generator(generator), Reading(reading.value + noise, True)


class Spikes(_Random):
    """Jumps by `size` on a random axis in a share of its readings."""

    kind: Literal["spikes"] = "spikes"
    size: Positive
    share: Share = 0.01

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        if not reading.new:
            return memory, reading
        generator = restored_generator(memory)
        hit, sign, place = generator.random(3).tolist()
        if hit < self.share:
            value = np.array(reading.value, dtype=np.float64, ndmin=1)
            value[int(place * value.size)] += self.size if sign < 0.5 else -self.size
            reading = Reading(value.reshape(np.shape(reading.value)), True)
        return kept_generator(generator), reading


class Saturated(SensorFault):
    """The readings are clipped at a limit, as with too small a range."""

    kind: Literal["saturated"] = "saturated"
    limit: Positive

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        return None, Reading(np.clip(reading.value, -self.limit, self.limit), reading.new)


class Delayed(SensorFault):
    """Gives its readings too late, to the nearest interval of the sensor; none until the first delayed one arrives.
    Stamps are those of the arrival, so the delay is not visible."""

    kind: Literal["delayed"] = "delayed"
    delay_s: NotNegative

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        count = round(self.delay_s * rate_hz)
        line = (*(memory or (Reading(reading.value, False),) * count), reading)
        return line[1:], line[0]


class Losing(_Random):
    """Loses a share of its readings. A module loses whole rows, unless one instrument is named."""

    kind: Literal["losing"] = "losing"
    share: Share
    together: ClassVar[bool] = True

    def begin(self, seed: int, name: str) -> Any:
        return super().begin(seed, name), None

    def act(self, memory: Any, reading: Reading, rate_hz: float) -> tuple[Any, Reading]:
        kept, last = memory
        generator = restored_generator(kept)
        lost = generator.random() < self.share
        given = Reading(reading.value if last is None else last, False) if lost or not reading.new else reading
        return (kept_generator(generator), given.value), given


def fitted(values: tuple[float, ...], value: Any) -> Any:
    """Numbers of a fault for each axis; a single number is used for all."""
    return values[0] if len(values) == 1 else np.array(values)
