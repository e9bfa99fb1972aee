"""A rig or a path as the base of a campaign: simulate, calibrate, navigate, evaluate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.calibration_file import read_calibration
from strapdown.campaigns.bases import navigation
from strapdown.campaigns.bases.calibration_effort import Bench, CalibrationTable
from strapdown.campaigns.bases.named_files import named_files, outside_package, refuse_full_paths, relative_to
from strapdown.campaigns.bases.navigation import NavigateTable, Run, figures_of, run_of, split_tables
from strapdown.campaigns.definition.file import Campaign
from strapdown.campaigns.definition.settings import with_settings
from strapdown.checks import triple
from strapdown.environment.mounted_motion import path_of
from strapdown.environment.rig import Rig, rig_from
from strapdown.environment.simulate import magnetic_world, simulate
from strapdown.environment.table import NotNegative, Table
from strapdown.errors import InputError
from strapdown.io.plain_values import toml_values
from strapdown.kernels.compiled import ENGINES, ERRORS
from strapdown.navigation.body_origin import body_motion
from strapdown.papers.c.drive import iron_below
from strapdown.recordings.facts import noise_of_part
from strapdown.recordings.join import with_instrument
from strapdown.regular_file import whole_bytes
from strapdown.rotation import q_from_euler, q_mul
from strapdown.sensors.streams import stream
from strapdown.types import Recording

PATH_PART = "MPU-6050"  # of a path that names none: the part of papers B and C
PATH_HZ = 100.0
_MOST_CALIBRATIONS = 500  # kept at a time
_PLACES = 2000  # of a path, at which iron below the floor is looked at


class WorldTable(Table):
    """What surrounds the sensor, drawn anew for every seed. floor_iron_deg: iron below the floor turns the magnetic
    azimuth along a path by so much, rms. hard_iron_sigma_ut, soft_iron_sigma: of the body around the magnetometer."""

    floor_iron_deg: NotNegative = 0.0
    hard_iron_sigma_ut: NotNegative = 0.0
    soft_iron_sigma: NotNegative = 0.0


TABLES: dict[str, type[Table]] = {"navigate": NavigateTable, "calibration": CalibrationTable, "world": WorldTable}


@dataclass(frozen=True)
class Settings:
    """Of one run. q_bs: the stated mounting; the rig has the true one."""

    rig: Rig
    navigate: NavigateTable
    calibration: CalibrationTable
    sensor: int
    q_bs: Array


class RigBase:
    """rig: values of its file, or those made for a path."""

    figures: tuple[str, ...] = navigation.FIGURES
    usual: tuple[str, ...] = navigation.USUAL
    kernels: tuple[str, ...] = (*ENGINES, *ERRORS, *navigation.KERNELS)

    def __init__(self, campaign: Campaign) -> None:
        self._folder = campaign.folder
        self._calibrations: dict[str, Calibration | None] = {}  # a specimen is calibrated once, whatever it then drives
        if campaign.file.rig is not None:
            self._path = campaign.folder / campaign.file.rig
            self._values = toml_values(whole_bytes(self._path, "rig file"), self._path, "a rig has tables")
        else:
            assert campaign.file.path is not None
            self._path = campaign.path
            sensor = {"name": "imu", "link": "body", "part": PATH_PART, "rate_hz": PATH_HZ}
            self._values = {"motion": relative_to(campaign.folder, campaign.file.path), "sensor": [sensor]}

    def check(self, settings: Mapping[str, Any]) -> None:
        found = self._settings(settings, 0)
        table = found.rig.sensor[found.sensor]
        table.module(found.rig.folder, 0)
        if found.rig.motion is not None:
            path_of(found.rig)
        if found.calibration.effort != "none":
            self._effort_possible(found)
        if found.calibration.file is not None:
            read_calibration(found.calibration.file)

    def run(self, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
        return figures_of(self.full_run(settings, seed))

    def full_run(self, settings: Mapping[str, Any], seed: int) -> Run:
        found = self._settings(settings, seed)
        rig, table = found.rig, found.rig.sensor[found.sensor]
        recordings = simulate(rig).recordings
        log = recordings[table.name]
        for odometer in rig.odometer[:1]:
            log = with_instrument(log, recordings[odometer.name], "odometer")
        calibration = self._calibration(found, log, seed)
        if calibration is not None:
            log = apply(calibration, log)
        assert log.truth is not None
        truth = body_motion(log.truth, np.array(table.mounting()), table.position_m)
        return run_of(
            log,
            found.navigate,
            seed,
            q_bs=found.q_bs,
            calibration=calibration,
            r_bs_b=table.position_m,
            reference=truth,
        )

    def files(self, settings: Mapping[str, Any]) -> Iterable[Path]:
        changed = with_settings(self._values, relative_to(self._folder, settings))
        refuse_full_paths(self._values, str(self._path))
        yield self._path.resolve()
        yield from outside_package(named_files(self._path.parent, changed))

    def _settings(self, settings: Mapping[str, Any], seed: int) -> Settings:
        values = with_settings(self._values, relative_to(self._folder, settings))
        tables, values = split_tables(values, TABLES)
        navigate, world = tables["navigate"], tables["world"]
        values["seed"] = seed
        rig = rig_from(values, self._path)
        if not rig.sensor:
            raise InputError(f"{self._path}: the rig has no [[sensor]], and a campaign navigates one; add it")
        names = [sensor.name for sensor in rig.sensor]
        if navigate.sensor is not None and navigate.sensor not in names:
            raise InputError(f'navigate.sensor is "{navigate.sensor}"; valid names: {", ".join(names)}')
        at = 0 if navigate.sensor is None else names.index(navigate.sensor)
        q_bs = np.array(rig.sensor[at].mounting())
        more: dict[str, Any] = {}
        if any(navigate.mounting_error_deg):
            turned = q_mul(q_bs, q_from_euler(*np.radians(navigate.mounting_error_deg)))
            more |= {"rotation_deg": None, "quaternion_wxyz": tuple(turned.tolist())}
        if world.hard_iron_sigma_ut or world.soft_iron_sigma:
            rng = stream(seed, "campaign", "iron")
            hard = world.hard_iron_sigma_ut * rng.standard_normal(3)
            soft = np.eye(3) + world.soft_iron_sigma * rng.standard_normal((3, 3))
            more |= {"hard_iron_ut": tuple(hard.tolist()), "soft_iron": tuple(map(tuple, soft.tolist()))}
        if more:
            rig = _with_sensor(rig, at, more)
        if world.floor_iron_deg:
            rig = _with_iron(rig, world.floor_iron_deg, seed)
        return Settings(rig, navigate, tables["calibration"], at, q_bs)

    def _calibration(self, found: Settings, log: Recording, seed: int) -> Calibration | None:
        if found.calibration.file is not None:
            return read_calibration(found.calibration.file)
        if found.calibration.effort == "none":
            return None
        self._effort_possible(found)
        sensor, rig = found.rig.sensor[found.sensor], found.rig
        what = "".join(t.model_dump_json() for t in (sensor, rig.physics, rig.magnetism, found.calibration)) + str(seed)
        if what not in self._calibrations:
            while len(self._calibrations) >= _MOST_CALIBRATIONS:
                self._calibrations.pop(next(iter(self._calibrations)))
            self._calibrations[what] = _bench(rig, found, log, seed).calibration(found.calibration.effort)
        return self._calibrations[what]

    def _effort_possible(self, found: Settings) -> None:
        table = found.rig.sensor[found.sensor]
        module = table.module(found.rig.folder, 0)
        if module is None:
            raise InputError(f'sensor "{table.name}" is ideal and needs no calibration; name a part, or effort "none"')
        lacks = [name for name in ("accelerometer", "gyroscope") if name not in module.triads]
        if lacks:
            raise InputError(
                f'sensor "{table.name}" has no {lacks[0]}, which effort "{found.calibration.effort}" needs; '
                "choose another part"
            )


def _bench(rig: Rig, found: Settings, log: Recording, seed: int) -> Bench:
    sensor = rig.sensor[found.sensor]
    module = sensor.module(rig.folder, seed)
    assert module is not None
    return Bench(
        module.triads,
        noise_of_part(log)[1] or {},
        sensor.rate_hz,
        seed,
        rig.physics.g(),
        np.asarray(magnetic_world(rig).uniform_n),
        (np.array(sensor.hard_iron_ut), np.array(sensor.soft_iron)),
        found.calibration.level_deg,
    )


def _with_sensor(rig: Rig, at: int, changed: Mapping[str, Any]) -> Rig:
    sensors = list(rig.sensor)
    sensors[at] = sensors[at].model_copy(update=dict(changed))
    return rig.model_copy(update={"sensor": tuple(sensors)})


def _with_iron(rig: Rig, rms_deg: float, seed: int) -> Rig:
    from strapdown.environment.rig_sensors import DipoleTable

    if rig.motion is None:
        raise InputError("world.floor_iron_deg needs a path, whose places are known; remove it for a robot")
    path = path_of(rig)
    p_n = path.at(np.linspace(0.0, path.duration_s, _PLACES)).p_n
    field_n = np.asarray(magnetic_world(rig).uniform_n)
    iron = iron_below(p_n, stream(seed, "campaign", "floor"), rms_deg, field_n)
    dipoles = tuple(
        DipoleTable(moment_am2=triple("moment_n", d.moment_n), position_m=triple("p_n", d.p_n)) for d in iron
    )
    magnetism = rig.magnetism.model_copy(update={"dipole": (*rig.magnetism.dipole, *dipoles)})
    return rig.model_copy(update={"magnetism": magnetism})
