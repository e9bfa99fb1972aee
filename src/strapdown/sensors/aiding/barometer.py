"""A barometer: the pressure of the air where the sensor is, and the height that belongs to it."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from strapdown.atmosphere import EARTH, Atmosphere
from strapdown.checks import Interval, finite, not_negative, positive, set_fields
from strapdown.errors import InputError
from strapdown.sample import Height, Heights
from strapdown.sensors.aiding.own_pace import Chance, Pace, Stream, chances, pace_of, refuse_state_of, step_of_motion
from strapdown.sensors.temperature import Temperature, temperature_at
from strapdown.types import Motion


class BarometerState(NamedTuple):
    """Memory of a barometer between two calls.

    drift: state of the drift, in its standard deviations.
    air_pa, felt_pa: pressure of the air and behind the lag at the last reading.
    """

    pace: Pace
    noise: Chance
    slow: Chance
    last_s: float = math.nan
    drift: float = 0.0
    air_pa: float = 0.0
    felt_pa: float = 0.0


@dataclass(frozen=True)
class Barometer:
    """One specimen of a barometer.

    The errors act in this order:

    lag_s: first-order lag of the pressure, as of a housing with a small hole, settled at the first reading.
    bias_pa: constant offset.
    drift_pa: standard deviation of a slow error (weather and the part's own), first-order Gauss-Markov with the time
        constant drift_s.
    per_degc_pa: offset per degC from reference_c.
    sigma_pa: white noise of a reading.
    resolution_pa: step of a reading.

    Outside limits_pa there is no reading.

    rate_hz: None reads at every call.
    """

    atmosphere: Atmosphere = EARTH
    rate_hz: float | None = 50.0
    sigma_pa: float = 1.5
    bias_pa: float = 0.0
    drift_pa: float = 0.0
    drift_s: float = 300.0
    per_degc_pa: float = 0.0
    reference_c: float = 25.0
    lag_s: float = 0.0
    resolution_pa: float = 0.0
    limits_pa: Interval = (0.0, math.inf)

    def __post_init__(self) -> None:
        if not isinstance(self.atmosphere, Atmosphere):
            raise InputError(f"atmosphere is {self.atmosphere!r}; give EARTH, MARS or an Atmosphere of your own")
        low, high = self.limits_pa
        if not 0.0 <= low < high:
            raise InputError(f"limits_pa is {self.limits_pa}; give the lower pressure first, in Pa")
        sizes = ("sigma_pa", "drift_pa", "lag_s", "resolution_pa")
        set_fields(
            self,
            rate_hz=None if self.rate_hz is None else positive("rate_hz", self.rate_hz),
            drift_s=positive("drift_s", self.drift_s),
            **{name: not_negative(name, getattr(self, name)) for name in sizes},
            **{name: finite(name, getattr(self, name)) for name in ("bias_pa", "per_degc_pa", "reference_c")},
            limits_pa=(float(low), float(high)),
        )

    def start(self, stream: Stream, step_s: float) -> BarometerState:
        """The state before the first call, for calls step_s apart."""
        noise, slow = chances(stream, False, False)
        return BarometerState(pace_of(step_s, self.rate_hz, "barometer"), noise, slow)

    def read(
        self, state: BarometerState, t: float, height_m: float, *, temperature_c: float | None = None
    ) -> tuple[BarometerState, float | None]:
        """The pressure read at t (Pa), if a reading is due.

        height_m: true height above the atmosphere's height 0.
        temperature_c: temperature of the part; None: reference_c.
        """
        if not isinstance(state, BarometerState):
            raise refuse_state_of(state, Barometer)
        if t < state.pace.next_s:
            return state, None
        (noise, (white,)), (slow, (step,)) = state.noise.next(1), state.slow.next(1)
        air = felt = self.atmosphere.pressure_at(height_m)
        rho = 0.0
        if not math.isnan(state.last_s):
            passed = t - state.last_s
            rho = math.exp(-passed / self.drift_s)
            if self.lag_s > 0.0:  # exact for a pressure that goes in straight lines between readings
                w = passed / self.lag_s
                mean = -math.expm1(-w) / w
                felt = math.exp(-w) * state.felt_pa + (1.0 - mean) * air + (mean - math.exp(-w)) * state.air_pa
        drift = rho * state.drift + math.sqrt(1.0 - rho * rho) * step
        after = BarometerState(state.pace.after(t, self.rate_hz), noise, slow, t, drift, air, felt)
        warm = 0.0 if temperature_c is None else temperature_c - self.reference_c
        value = felt + self.bias_pa + self.drift_pa * drift + self.per_degc_pa * warm + self.sigma_pa * white
        if self.resolution_pa > 0.0:
            value = self.resolution_pa * round(value / self.resolution_pa)
        return after, value if self.limits_pa[0] < value <= self.limits_pa[1] else None

    @property
    def reading_sigma_pa(self) -> float:
        """Standard deviation of a reading relative to the reading at height 0: noise, rounding and drift."""
        return math.sqrt(self.sigma_pa**2 + self.resolution_pa**2 / 12.0 + self.drift_pa**2)

    def height_of(self, pressure_pa: float, zero_pa: float | None = None) -> Height:
        """Height and its standard deviation, above the place where zero_pa was read; None: above the atmosphere's
        height 0. Height of the barometer's reading: one pascal is 1 / (density gravity) metres."""
        height = self.atmosphere.height_of(pressure_pa)
        per_pa = 1.0 / (self.atmosphere.density_at(height) * self.atmosphere.gravity_m_s2)
        zero = 0.0 if zero_pa is None else self.atmosphere.height_of(zero_pa)
        return Height(height - zero, self.reading_sigma_pa * per_pa)

    def measure(
        self, motion: Motion, *, stream: Stream, temperature_c: Temperature | None = None
    ) -> tuple[Heights, NDArray[np.bool_]]:
        """Heights along the motion of the sensor's frame s above its first reading: rows for Recording.height, and
        which of them are new. Rows between two readings repeat the last one. The atmosphere's height 0 is frame n's
        origin, and the first reading is taken as the start height of the motion."""
        given = self.reference_c if temperature_c is None else temperature_c
        warm = np.broadcast_to(temperature_at(given, motion.t, None), (len(motion),)).tolist()
        state, last, zero = self.start(stream, step_of_motion(motion)), Height(0.0, 1.0), None
        rows, new = np.empty((len(motion), 2)), np.zeros(len(motion), dtype=bool)
        begin = float(motion.p_n[0, 2])
        for i, (t, height) in enumerate(zip(motion.t.tolist(), motion.p_n[:, 2].tolist(), strict=True)):
            state, pressure = self.read(state, t, height, temperature_c=warm[i])
            if pressure is not None:
                zero = pressure if zero is None else zero
                above, sigma = self.height_of(pressure, zero)
                last, new[i] = Height(above + begin, sigma), True
            rows[i] = last
        return Heights(rows[:, 0], rows[:, 1]), new
