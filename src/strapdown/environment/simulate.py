"""Runs a rig: moves its robot or path and lets its virtual sensors read, each at its own rate."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from strapdown.earth_magnetism import magnetic_field
from strapdown.engines.program import Command
from strapdown.environment.mounted_motion import MountedSensor, path_motions, path_of, robot_motions
from strapdown.environment.rig import Rig
from strapdown.environment.rig_sensors import InclinometerTable, Mounted, OdometerTable, SensorTable
from strapdown.errors import InputError, RangeWarning
from strapdown.motion import StopAndGo
from strapdown.sensors.imu import OutOfRange
from strapdown.sensors.magnetic_sources import MagneticWorld
from strapdown.sensors.magnetometer import ideal_field
from strapdown.sensors.methods import Sight
from strapdown.sensors.streams import seed_of
from strapdown.sensors.temperature import temperature_at
from strapdown.types import Recording


@dataclass(frozen=True)
class Simulated:
    """A recording per sensor, in the order of the rig, and the methods that left their range of validity."""

    recordings: dict[str, Recording]
    out_of_range: tuple[OutOfRange, ...]


def simulate(
    rig: Rig, progress: Callable[[float], None] | None = None, *, commands: Sequence[Command] = ()
) -> Simulated:
    """Run the rig; warns once per sensor and method (RangeWarning) where a method leaves its range of validity.

    commands: commands of motors or joints, besides those of the rig's program; as by Command.along with a Course of a
        function.
    """
    if commands:
        rig = rig.with_commands(tuple(commands))
    tasks = [_task(rig, table) for table in rig.mounted()]
    sights = robot_motions(rig, tasks, progress) if rig.robot is not None else path_motions(rig, tasks)
    recordings: dict[str, Recording] = {}
    out_of_range: list[OutOfRange] = []
    for task, sight in zip(tasks, sights, strict=True):
        table = task.table
        if isinstance(table, SensorTable):
            recording, left = _sensor(rig, table, task, sight)
            out_of_range += left
        else:
            recording = _tilt(rig, table, sight) if isinstance(table, InclinometerTable) else _wheel(rig, table, sight)
        recordings[table.name] = recording.with_meta(
            link=table.link, position_m=list(table.position_m), quaternion_wxyz=list(table.mounting()), **sight.about
        )
    if rig.motion is not None:
        recordings = _with_stops(path_of(rig), recordings)
    for item in out_of_range:
        warnings.warn(str(item), RangeWarning, stacklevel=2)
    return Simulated(recordings, tuple(out_of_range))


def _with_stops(path: object, recordings: dict[str, Recording]) -> dict[str, Recording]:
    """A path of a vehicle that stops has a controller, whose stop signal is in every log."""
    if not isinstance(path, StopAndGo):
        return recordings
    return {name: replace(r, stop=path.stopped(np.clip(r.t, 0.0, path.duration_s))) for name, r in recordings.items()}


def _task(rig: Rig, table: Mounted) -> MountedSensor:
    module = table.module(rig.folder, rig.seed) if isinstance(table, SensorTable) else None
    factor = 1
    # differences are over the sensor's own period, so only exact readings can be taken more often
    if module is not None and isinstance(table, SensorTable) and set(table.methods()) == {"exact"}:
        factor = module.inner_factor(table.rate_hz)
    return MountedSensor(table, module, factor * table.rate_hz)


def _sensor(rig: Rig, table: SensorTable, task: MountedSensor, sight: Sight) -> tuple[Recording, list[OutOfRange]]:
    ideal, left = table.imu(task.inner_hz).measure(sight)
    with_magnetometer = table.magnetometer or (task.module is not None and "magnetometer" in task.module.triads)
    if not with_magnetometer and table.model_fields_set & {"hard_iron_ut", "soft_iron"}:
        raise InputError(f'sensor "{table.name}" has iron but no magnetometer; set magnetometer = true or remove it')
    if with_magnetometer:
        assert ideal.truth is not None
        world = magnetic_world(rig)
        try:
            field_s = ideal_field(ideal.truth, world, table.hard_iron_ut, table.soft_iron)
        except InputError as error:
            raise InputError(f'sensor "{table.name}": {error}') from None
        # of the place, without magnets near by: what a calibration may take for the size of the field
        ideal = replace(ideal, mag_s=field_s).with_meta(magnetic_field_n_ut=np.asarray(world.uniform_n).tolist())
    if task.module is None:
        return ideal, left
    return task.module.measure(ideal, table.rate_hz), left


def magnetic_world(rig: Rig) -> MagneticWorld:
    table, physics = rig.magnetism, rig.physics
    if table.field_ut is not None:
        uniform = np.array(table.field_ut)
    else:  # a number for gravity is a laboratory on Earth
        place = physics.gravity if isinstance(physics.gravity, str) else "earth"
        uniform = magnetic_field(place, physics.latitude_deg, table.longitude_deg, physics.height_m, table.year)
    dipoles, loops = [t.source() for t in table.dipole], [t.source() for t in table.loop]
    return MagneticWorld(uniform, [*dipoles, *loops])


def _tilt(rig: Rig, table: InclinometerTable, sight: Sight) -> Recording:
    stream = seed_of(rig.seed, table.name, "inclinometer")
    tilt = table.inclinometer().measure(sight.motion, sight.gravity, stream=stream, temperature_c=table.temperature())
    meta = {"sensor": table.name, "rate_hz": table.rate_hz, "gravity_m_s2": sight.gravity, "seed": rig.seed}
    celsius = temperature_at(table.temperature(), sight.motion.t)
    return Recording(
        sight.motion.t,
        temperature=np.broadcast_to(celsius, len(sight.motion)),
        tilt_s=tilt.tilt,
        clipped=np.any(tilt.saturated, axis=1),
        truth=sight.motion,
        meta=meta,
    )


def _wheel(rig: Rig, table: Mounted, sight: Sight) -> Recording:
    assert isinstance(table, OdometerTable)
    wheel = table.odometer().measure(sight.motion, stream=seed_of(rig.seed, table.name, "odometer"))
    meta = {"sensor": table.name, "rate_hz": table.rate_hz, "seed": rig.seed}
    return Recording(sight.motion.t, odometer=wheel.distance_m, truth=sight.motion, meta=meta)
