"""A virtual measuring module: ideal readings in, the readings of a part out, as its log would show them.

The instruments of a module share one clock: time stamps, their jitter and lost samples are those of whole rows. Every
instrument draws from its own stream, so adding a magnetometer changes no sample of the accelerometer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.motion.resample import resample
from strapdown.sensors.error_chain import MISSING, PHYSICAL, Measured, as_mode, measure
from strapdown.sensors.streams import seed_of
from strapdown.sensors.temperature import Temperature, temperature_at
from strapdown.sensors.triad import Matrix, Triad
from strapdown.types import Recording

Array = NDArray[np.float64]

FIELDS = {"accelerometer": "acc_s", "gyroscope": "gyr_s", "magnetometer": "mag_s"}
INNER_PER_BANDWIDTH = 10.0  # the low-pass of the part then follows its analogue original to 1 %
FASTEST_INNER_HZ = 20_000.0


@dataclass(frozen=True)
class Module:
    """One specimen of a module in a run. seed: of the run; the module's name makes its streams its own.

    magnetometer_axes: v_imu = axes @ v_magnetometer; the magnetometer's errors act in its own axes, its readings are
    told in those of the module. fastest_hz: instruments that cannot keep up with the module's rate; their last reading
    is repeated in the rows between. about: what the log should say of the specimen.
    """

    name: str
    triads: Mapping[str, Triad]
    seed: int = 0
    mode: str = PHYSICAL
    temperature: Temperature = 25.0
    magnetometer_axes: Matrix | None = None
    fastest_hz: Mapping[str, float] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.magnetometer_axes is None:
            return
        try:
            axes = np.array(self.magnetometer_axes, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            axes = np.empty(0)
        regular = axes.shape == (3, 3) and bool(np.isfinite(axes).all())
        if not (regular and np.allclose(np.clip(axes, -2.0, 2.0) @ np.clip(axes, -2.0, 2.0).T, np.eye(3), atol=1e-6)):
            raise InputError(
                f'sensor "{self.name}": magnetometer_axes is {str(self.magnetometer_axes)[:60]}; give three rows of '
                "three numbers that rotate or swap axes"
            )

    def inner_factor(self, rate_hz: float) -> int:
        """How many times finer than its output the module has to be fed, for its low-pass to act before decimation."""
        bands = [triad.bandwidth_hz for triad in self.triads.values() if triad.bandwidth_hz is not None]
        if not bands:
            return 1
        wanted = min(INNER_PER_BANDWIDTH * max(bands), FASTEST_INNER_HZ)
        return max(1, math.ceil(wanted / rate_hz))

    def measure(self, ideal: Recording, rate_hz: float) -> Recording:
        """The log of the module, from ideal readings at a whole multiple of its rate."""
        given = [name for name in FIELDS if name in self.triads and getattr(ideal, FIELDS[name]) is not None]
        if not given:
            raise InputError(f'module "{self.name}" has no instrument that the ideal readings know')
        clock = self._clock(ideal.t, rate_hz)
        rows = clock.kept
        values, clipped = {}, np.zeros(len(rows), dtype=bool)
        for instrument in given:
            measured = self._instrument(instrument, ideal, rate_hz)
            at = np.searchsorted(measured.kept, rows, side="right") - 1
            values[FIELDS[instrument]] = self._turned(instrument, measured.values[at])
            clipped |= measured.saturated[at].any(axis=1)
        within = (clock.t >= ideal.t[0]) & (clock.t <= ideal.t[-1]) & (np.diff(clock.t, prepend=-np.inf) > 0.0)
        t = clock.t[within]
        if len(t) == 0:
            raise InputError(
                f'sensor "{self.name}" has no sample left in the run: latency and loss take them all; run longer'
            )
        truth = None
        if ideal.truth is not None:
            stamped_late = not np.array_equal(clock.t, ideal.t[rows])
            truth = resample(ideal.truth, t) if stamped_late else ideal.truth[rows[within]]
        celsius = np.broadcast_to(temperature_at(self.temperature, ideal.t), len(ideal.t))
        return Recording(
            t,
            **{field: value[within] for field, value in values.items()},
            temperature=celsius[rows[within]],
            clipped=clipped[within],
            truth=truth,
            meta={**ideal.meta, **self._said(rate_hz, given)},
        )

    def _said(self, rate_hz: float, given: Sequence[str]) -> dict[str, Any]:
        """What makes the log reproducible: mode, seed, specimen, unit of a count, and what the mode leaves out."""
        said: dict[str, Any] = {"rate_hz": rate_hz, "errors": self.mode, "seed": self.seed, **self.about}
        said["resolution"] = {name: self.triads[name].resolution for name in given}
        changed = {
            name: [term for term in MISSING[self.mode] if getattr(self.triads[name], term) != getattr(ours, term)]
            for name in given
            for ours in (as_mode(self.triads[name], self.mode),)
        }
        if any(changed.values()):
            said["left_out"] = {name: terms for name, terms in changed.items() if terms}
        return said

    def _clock(self, t: Array, rate_hz: float) -> Measured:
        """Stamps and lost samples, of the instrument with the worst of each."""
        worst = Triad(
            "m/s2",
            latency_s=max(triad.latency_s for triad in self.triads.values()),
            jitter_s=max(triad.jitter_s for triad in self.triads.values()),
            loss=max(triad.loss for triad in self.triads.values()),
        )
        stream = seed_of(self.seed, self.name, "clock")
        return measure(worst, t, np.zeros((len(t), 3)), stream=stream, output_rate_hz=rate_hz)

    def _instrument(self, instrument: str, ideal: Recording, rate_hz: float) -> Measured:
        # a part has terms that the other models' formulas lack: choosing such a model means to leave them out
        triad = as_mode(replace(self.triads[instrument], latency_s=0.0, jitter_s=0.0, loss=0.0), self.mode)
        truth = np.asarray(getattr(ideal, FIELDS[instrument]))
        if instrument == "magnetometer" and self.magnetometer_axes is not None:
            truth = truth @ np.array(self.magnetometer_axes)
        try:
            return measure(
                triad,
                ideal.t,
                truth,
                stream=seed_of(self.seed, self.name, instrument),
                temperature_c=self.temperature,
                specific_force=ideal.acc_s if instrument == "gyroscope" else None,
                output_rate_hz=rate_hz / max(1, math.ceil(rate_hz / self.fastest_hz.get(instrument, math.inf))),
                mode=self.mode,
            )
        except InputError as error:
            raise InputError(f'sensor "{self.name}", {instrument}: {error}') from None

    def _turned(self, instrument: str, values: Array) -> Array:
        if instrument == "magnetometer" and self.magnetometer_axes is not None:
            return values @ np.array(self.magnetometer_axes).T
        return values
