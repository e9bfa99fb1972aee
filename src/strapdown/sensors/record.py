"""From a motion and a specimen to its log in one call: perfect readings along the path, then the errors of the part."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.motion.protocol import Path
from strapdown.rotation import IDENTITY
from strapdown.sensors.aiding.outside import Outside, with_outside
from strapdown.sensors.imu import Imu, sample_times
from strapdown.sensors.magnetic_sources import MagneticWorld
from strapdown.sensors.magnetometer import ideal_field
from strapdown.sensors.methods import Sight
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import Specimen
from strapdown.sensors.temperature import Temperature
from strapdown.types import Motion, Recording

DEFAULT_RATE_HZ = 100.0


@dataclass(frozen=True)
class Surroundings:
    """Surroundings of a sensor.

    magnetic: the field (uT; east, north, up) or a MagneticWorld with sources; None: magnetometers are not read.
    temperature: temperature of the part, degC; None: a Module's own, or 25.
    ground_m: height of the level ground below an altimeter, frame n.
    """

    gravity_m_s2: float = STANDARD_GRAVITY
    magnetic: MagneticWorld | ArrayLike | None = None
    temperature: Temperature | None = None
    ground_m: float = 0.0

    def world(self) -> MagneticWorld | None:
        """The magnetic field with its sources."""
        if self.magnetic is None or isinstance(self.magnetic, MagneticWorld):
            return self.magnetic
        return MagneticWorld(self.magnetic)


@dataclass(frozen=True)
class MountedPath:
    """The path of a frame s fixed to the body: lever arm r_bs_b (m, frame b), mounting rotation q_bs."""

    path: Path
    r_bs_b: ArrayLike = (0.0, 0.0, 0.0)
    q_bs: ArrayLike = field(default_factory=lambda: tuple(IDENTITY))

    @property
    def duration_s(self) -> float:
        return self.path.duration_s

    def at(self, t: ArrayLike) -> Motion:
        return self.path.at(t).seen_from(self.r_bs_b, self.q_bs)

    def stopped(self, t: ArrayLike) -> NDArray[np.bool_] | None:
        """The planned stops of the body's path, if it has some."""
        return planned_stops(self.path, t)


def record(
    path: Path,
    specimen: Specimen | Module | Imu,
    seed: int | None = None,
    *,
    rate_hz: float | None = None,
    surroundings: Surroundings | None = None,
    outside: Sequence[Outside] = (),
) -> Recording:
    """The log of a sensor that is moved along the path, with the truth.

    specimen: specimen of a part, as load_part(...).draw(...) gives it; or a Module; or an Imu, which is ideal.
    seed: seed of the run, 0 or the module's own if it is None; the specimen has drawn its tolerances before.
    rate_hz: the specimen's own if it is None, 100 Hz if it has none. The stop flag is that of the path's planned stops,
        where it has some.
    outside: altimeter, barometer and fix receivers, read along the same path.
    """
    around = Surroundings() if surroundings is None else surroundings
    ideal = isinstance(specimen, Imu) and len(outside) > 0  # its seed is that of the sensors outside
    log = _recorded(path, specimen, None if ideal else seed, rate_hz, around)
    if not outside:
        return log
    own = specimen.seed if seed is None and isinstance(specimen, Module) else seed
    return with_outside(
        log, outside, 0 if own is None else own, ground_m=around.ground_m, temperature_c=around.temperature
    )


def _recorded(
    path: Path, specimen: Specimen | Module | Imu, seed: int | None, rate_hz: float | None, around: Surroundings
) -> Recording:
    if isinstance(specimen, Imu):
        if seed is not None:
            raise InputError(f'sensor "{specimen.name}" is ideal and has no use for a seed; leave it out')
        imu = specimen if rate_hz is None else replace(specimen, rate_hz=rate_hz)
        motion = path.at(sample_times(imu.rate_hz, path.duration_s))
        log, _ = imu.measure(Sight(motion, around.gravity_m_s2))
        if around.magnetic is not None and log.truth is not None:
            log = replace(log, mag_s=_field(log.truth, around), meta={**log.meta, **_magnetic_meta(around)})
        return _with_stops(log, path)
    module, rate = _module_of(specimen, seed, around), _rate_of(specimen, rate_hz)
    fine_hz = rate * module.inner_factor(rate)
    ideal = ideal_readings(path.at(sample_times(fine_hz, path.duration_s)), around)
    return _with_stops(module.measure(ideal, rate), path)


def ideal_readings(motion: Motion, surroundings: Surroundings | None = None) -> Recording:
    """Readings of perfect instruments along the motion of their frame s, with the truth."""
    around = Surroundings() if surroundings is None else surroundings
    return Recording(
        motion.t,
        gyr_s=motion.w_nb_b,
        acc_s=motion.specific_force_b(around.gravity_m_s2),
        mag_s=None if around.magnetic is None else _field(motion, around),
        truth=motion,
        meta={"gravity_m_s2": around.gravity_m_s2, **_magnetic_meta(around)},
    )


def planned_stops(path: Path, t: ArrayLike) -> NDArray[np.bool_] | None:
    """The controller's stop signal of a path that has planned stops (StopAndGo), else None."""
    stopped = getattr(path, "stopped", None)
    if stopped is None:
        return None
    flags: NDArray[np.bool_] | None = stopped(np.clip(np.asarray(t, dtype=np.float64), 0.0, path.duration_s))
    return flags


def _module_of(specimen: Specimen | Module, seed: int | None, around: Surroundings) -> Module:
    if isinstance(specimen, Module):
        changed = {"seed": seed, "temperature": around.temperature}
        return replace(specimen, **{name: value for name, value in changed.items() if value is not None})  # type: ignore[arg-type]
    about: dict[str, Any] = {
        "part": specimen.part,
        "specimen_seed": specimen.seed,
        "range": dict(specimen.range),
        "magnetometer_part": specimen.magnetometer_part,
    }
    return Module(
        "imu",
        specimen.triads(),
        0 if seed is None else seed,
        temperature=25.0 if around.temperature is None else around.temperature,
        magnetometer_axes=specimen.magnetometer_axes,
        fastest_hz=specimen.fastest_hz,
        about={name: value for name, value in about.items() if value is not None},
    )


def _rate_of(specimen: Specimen | Module, rate_hz: float | None) -> float:
    own = specimen.rate_hz if isinstance(specimen, Specimen) else None
    rate = rate_hz if rate_hz is not None else own if own is not None else DEFAULT_RATE_HZ
    if not (np.isfinite(rate) and rate > 0.0):
        raise InputError(f"rate_hz is {rate}; give a number above 0")
    return float(rate)


def _field(motion: Motion, around: Surroundings) -> Any:
    world = around.world()
    assert world is not None
    return ideal_field(motion, world)


def _magnetic_meta(around: Surroundings) -> dict[str, Any]:
    """The field of the place, without magnets nearby: a calibration may use it as the size of the field."""
    world = around.world()
    return {} if world is None else {"magnetic_field_n_ut": np.asarray(world.uniform_n).tolist()}


def _with_stops(log: Recording, path: Path) -> Recording:
    stop = planned_stops(path, log.t)
    return log if stop is None else replace(log, stop=stop)
