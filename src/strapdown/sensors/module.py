"""A virtual measuring module: ideal readings in, the readings of a part out, as its log would show them.

The instruments of a module share one clock: time stamps, their jitter and lost samples are those of whole rows. Every
instrument draws from its own stream, so adding a magnetometer changes no sample of the accelerometer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.kernels.sensors.module import ANY_CLIPPED, CELSIUS, NEW_MAG, OF_ROW, READINGS, T
from strapdown.motion.resample import resample
from strapdown.sensors.chain.inputs import even_times, exact_step
from strapdown.sensors.chain.numbers import MISSING, PHYSICAL, as_mode
from strapdown.sensors.module_reader import FIELDS, ModuleReader
from strapdown.sensors.temperature import SelfHeating, Temperature, TemperatureSeries, temperature_at
from strapdown.sensors.triad import Matrix, Triad
from strapdown.types import Recording

INNER_PER_BANDWIDTH = 10.0  # the low-pass of the part then follows its analogue original to 1 %
FASTEST_INNER_HZ = 20_000.0


@dataclass(frozen=True)
class Module:
    """One specimen of a module in a run.

    seed: seed of the run; the module's name separates its streams from others.

    magnetometer_axes: v_imu = axes @ v_magnetometer; the magnetometer's errors act in its own axes, its readings are
        expressed in those of the module.
    fastest_hz: largest rate of instruments that are slower than the module; their last reading is repeated in the rows
        between.
    about: facts of the specimen that go into the log's meta.
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
            given = " ".join(str(self.magnetometer_axes).split())[:60]
            raise InputError(
                f'sensor "{self.name}": magnetometer_axes is {given}; give three rows of three numbers that rotate or '
                "swap axes"
            )

    def inner_factor(self, rate_hz: float) -> int:
        """Factor by which the input of the module must be finer than its output, for its low-pass to act before
        decimation.
        """
        bands = [triad.bandwidth_hz for triad in self.triads.values() if triad.bandwidth_hz is not None]
        if not bands:
            return 1
        wanted = min(INNER_PER_BANDWIDTH * max(bands), FASTEST_INNER_HZ)
        return max(1, math.ceil(wanted / rate_hz))

    def reader(
        self, rate_hz: float, step_s: float | None = None, instruments: tuple[str, ...] | None = None
    ) -> ModuleReader:
        """The module read live at rate_hz, from ideal rows step_s apart; None: as fine as its low-pass needs."""
        return ModuleReader(self, rate_hz, step_s, instruments)

    def measure(self, ideal: Recording, rate_hz: float) -> Recording:
        """The log of the module, from ideal readings at a whole multiple of its rate.

        A temperature in the ideal readings is that of the part, instead of the module's own.
        """
        given = tuple(name for name in FIELDS if name in self.triads and getattr(ideal, FIELDS[name]) is not None)
        if not given:
            raise InputError(f'module "{self.name}" has no instrument that the ideal readings know')
        times, step = even_times(ideal.t, rate_hz)
        reader = ModuleReader(self, rate_hz, exact_step(times, step, rate_hz), given, even=False)
        if ideal.temperature is None and not isinstance(self.temperature, float | TemperatureSeries | SelfHeating):
            celsius = temperature_at(self.temperature, ideal.t)
            ideal = replace(ideal, temperature=np.broadcast_to(celsius, len(ideal)))
        _, log, newest = reader.read_log(reader.start(), ideal)
        log = log[log[:, T] <= newest]
        t, rows = log[:, T], log[:, OF_ROW].astype(np.int64)
        if len(t) == 0:
            raise InputError(
                f'sensor "{self.name}" has no sample left in the run: latency and loss take them all; run longer'
            )
        truth = None
        if ideal.truth is not None:
            stamped_late = not np.array_equal(t, ideal.t[rows])
            truth = resample(ideal.truth, t) if stamped_late else ideal.truth[rows]
        columns = {FIELDS[name]: READINGS + 3 * list(FIELDS).index(name) for name in given}
        slow = "magnetometer" in given and self.fastest_hz.get("magnetometer", math.inf) < rate_hz
        values: dict[str, Any] = {field: log[:, first : first + 3] for field, first in columns.items()}
        return Recording(
            t,
            **values,
            temperature=log[:, CELSIUS],
            clipped=log[:, ANY_CLIPPED] != 0.0,
            truth=truth,
            meta={**ideal.meta, **self._meta(rate_hz, given)},
            new={"mag_s": log[:, NEW_MAG] != 0.0} if slow else {},
        )

    def _meta(self, rate_hz: float, given: Sequence[str]) -> dict[str, Any]:
        """Data that makes the log reproducible: mode, seed, specimen, unit of a count, and the terms that the mode
        lacks.
        """
        meta: dict[str, Any] = {"rate_hz": rate_hz, "errors": self.mode, "seed": self.seed, **self.about}
        meta["resolution"] = {name: self.triads[name].resolution for name in given}
        changed = {
            name: [term for term in MISSING[self.mode] if getattr(self.triads[name], term) != getattr(ours, term)]
            for name in given
            for ours in (as_mode(self.triads[name], self.mode),)
        }
        if any(changed.values()):
            meta["left_out"] = {name: terms for name, terms in changed.items() if terms}
        return meta
