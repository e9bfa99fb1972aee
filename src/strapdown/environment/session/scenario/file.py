"""Scenario files (TOML): vehicle, sensors, diagram, scene, pilot, faults. docs/environment.md explains every key."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from strapdown.environment.complaint import first_complaint
from strapdown.environment.diagram.file import Diagram, read_diagram
from strapdown.environment.diagram.problem import did_you_mean
from strapdown.environment.rig_sensors import Mounted, Seed
from strapdown.environment.session.faults.kinds import AnyFault
from strapdown.environment.session.scenario.pilot import PilotTable, check_order
from strapdown.environment.session.scenario.scene import SceneTable, read_scene_text
from strapdown.environment.session.scenario.sensor_tables import (
    AltimeterTable,
    BarometerTable,
    EncoderTable,
    ModuleTable,
    ReceiverTable,
    TiltTable,
)
from strapdown.environment.session.scenario.slider_diagram import slider_diagram
from strapdown.environment.session.scenario.vibration_table import VibrationTable
from strapdown.environment.table import Name, NotNegative, Positive, Table
from strapdown.errors import InputError
from strapdown.io.plain_values import check_settings_version, toml_values
from strapdown.regular_file import whole_bytes
from strapdown.vehicles.vehicle import Vehicle, read_vehicle, vehicle_names

VERSION = 1
SHIPPED = Path(__file__).parents[2] / "scenarios"
FAULTS = SHIPPED / "faults"
Text = Annotated[str, Field(max_length=2000)]
# a typing error would run for years: the whole run is kept in memory, and a step takes microseconds
LONGEST_S, FASTEST_HZ = 86_400.0, 100_000.0


class ExpectTable(Table):
    """Expected result of the run, stated before it.

    survives: within the limits.
    degrades: beyond a limit, and not lost.
    lost: tipped over, hit the ground or left the scene.
    """

    verdict: Literal["survives", "degrades", "lost"]
    attitude_deg: Positive | None = None  # limit of the RMSE of roll and of pitch, the larger counts
    height_m: Positive | None = None  # limit of the largest error of the estimated height in the air
    why: Text = ""


class Scenario(Table):
    """A whole scenario file."""

    version: Annotated[int, Field(strict=True)] = VERSION
    title: Text = ""
    comment: Text = ""
    vehicle: Name
    diagram: Name | None = None  # file; None: the vehicle's own
    duration_s: Annotated[Positive, Field(le=LONGEST_S)]
    seed: Seed = 0
    physics_hz: Annotated[Positive, Field(le=FASTEST_HZ)] = 1000.0
    engine: Literal["mujoco", "pybullet", "drake"] = "mujoco"
    history_s: NotNegative = 600.0  # how far back the session can be rewound
    scene: SceneTable = SceneTable()
    vibration: VibrationTable = VibrationTable()
    sensor: tuple[ModuleTable, ...] = ()
    inclinometer: tuple[TiltTable, ...] = ()
    altimeter: tuple[AltimeterTable, ...] = ()
    barometer: tuple[BarometerTable, ...] = ()
    receiver: tuple[ReceiverTable, ...] = ()
    odometer: tuple[EncoderTable, ...] = ()
    pilot: tuple[PilotTable, ...] = ()
    pilot_recording: Name | None = None  # a recorded session: its console is played back
    fault: tuple[AnyFault, ...] = ()
    expect: ExpectTable | None = None
    folder: Path = Field(default=Path(), exclude=True)  # of the file: relative paths start here

    @model_validator(mode="after")
    def _consistent(self) -> "Scenario":
        names = [table.name for table in self.mounted()]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f'has two sensors called "{twice[0]}"; give each its own name')
        check_order(self.pilot)
        if self.pilot and self.pilot_recording is not None:
            raise ValueError("has both a pilot script and a pilot_recording; keep one")
        for fault in self.fault:
            sensor = getattr(fault, "sensor", None)
            if sensor is not None and sensor not in names:
                raise ValueError(
                    f'has a fault "{fault.kind}" of sensor "{sensor}", which does not exist; '
                    f"valid names: {', '.join(names) or 'none'}"
                )
        called = [fault.name for fault in self.fault if fault.name is not None]
        again = [name for name in called if called.count(name) > 1]
        if again:
            raise ValueError(f'has two faults called "{again[0]}"; give each its own name')
        return self

    def mounted(self) -> tuple[Mounted, ...]:
        """All sensors, in the order of the recording."""
        return (*self.sensor, *self.inclinometer, *self.altimeter, *self.barometer, *self.receiver, *self.odometer)

    def full_scene(self) -> SceneTable:
        """The scene, with the values of its text file."""
        if self.scene.file is None:
            return self.scene
        path = self.folder / self.scene.file
        given = self.scene.model_dump(exclude_unset=True)
        try:
            return SceneTable(**{**read_scene_text(path), **given})
        except ValidationError as error:
            raise InputError(f"{path}: {first_complaint(error, SceneTable, 'scene')}") from None

    def read_vehicle(self) -> Vehicle:
        """The vehicle: one of the package by its name, else a file next to the scenario."""
        if self.vehicle in vehicle_names():
            return read_vehicle(self.vehicle)
        return read_vehicle(self.folder / self.vehicle)

    def read_diagram(self, vehicle: Vehicle) -> Diagram:
        """The diagram is a file next to the scenario or next to the vehicle's own, or the vehicle's own. For joints
        without a diagram, the result has a slider for each joint.
        """
        if self.diagram is None:
            if vehicle.diagram is None and vehicle.kind == "joints":
                return slider_diagram(vehicle, self._instruments())
            if vehicle.diagram is None:
                raise InputError(
                    f'vehicle "{vehicle.name}" has no diagram of its own; name one with diagram = "FILE.toml"'
                )
            return read_diagram(vehicle.diagram)
        own = None if vehicle.diagram is None else vehicle.diagram.parent / self.diagram
        path = self.folder / self.diagram
        return read_diagram(own if own is not None and not path.exists() and own.is_file() else path)

    def _instruments(self) -> frozenset[str]:
        """Instruments of the first module."""
        if not self.sensor:
            return frozenset()
        return frozenset(self.sensor[0].drawn(self.folder, self.seed, 25.0).triads)


def scenario_names() -> list[str]:
    """The scenarios that come with the package, without those of faults."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def fault_names() -> list[str]:
    """The fault scenarios that come with the package, as "faults/NAME"."""
    return sorted(f"faults/{path.stem}" for path in FAULTS.glob("*.toml"))


def read_scenario(name_or_path: str | os.PathLike[str]) -> Scenario:
    """A scenario of the package by its name, or a file by its path."""
    text = os.fspath(name_or_path)
    path = Path(text)
    if not path.suffix and text in (*scenario_names(), *fault_names()):
        path = SHIPPED / f"{text}.toml"
    elif not path.suffix and not path.exists():
        raise InputError(
            f'scenario "{text}" does not come with the package; '
            + did_you_mean(
                text,
                (*scenario_names(), *fault_names()),
                f"valid names: {', '.join(scenario_names())}, or the path of a file",
            )
        )
    return scenario_from(_values(path), path)


def _values(path: Path) -> dict[str, Any]:
    return toml_values(whole_bytes(path, "scenario"), path, "a scenario has tables and plain values")


def _on_base(values: dict[str, Any], path: Path) -> tuple[dict[str, Any], Path]:
    """The values added to those of the scenario that `base` names, and the folder from which relative paths start."""
    base = values.get("base")
    if base is None:
        return values, path.parent
    if not isinstance(base, str) or not base:
        raise InputError(f"{path}: base is {base!r}; give the name of a scenario or a file")
    below = SHIPPED / f"{base}.toml" if base in scenario_names() else path.parent / base
    try:
        under = _values(below)
    except InputError as error:
        raise InputError(f"{path}: base: {error}") from None
    if "base" in under:
        raise InputError(f"{path}: base {base} has a base itself; name that one, or copy what is needed")
    under = _seen_from(under, below.parent, path.parent)
    own = {key: value for key, value in values.items() if key not in ("base", "version")}
    merged = {**under, **own}
    for table in ("scene", "vibration"):
        if isinstance(own.get(table), dict) and isinstance(under.get(table), dict):
            merged[table] = {**under[table], **own[table]}
    return merged, path.parent


def _seen_from(values: dict[str, Any], folder: Path, start: Path) -> dict[str, Any]:
    """A base's values with the paths of files in its folder relative to another folder."""
    if folder.resolve() == start.resolve():
        return values

    def moved(table: Any, keys: tuple[str, ...]) -> Any:
        if not isinstance(table, dict):
            return table
        files = {key: table[key] for key in keys if isinstance(table.get(key), str) and (folder / table[key]).exists()}
        return {**table, **{key: os.path.relpath(folder / name, start) for key, name in files.items()}}

    values = moved(values, ("vehicle", "diagram", "pilot_recording"))
    if "scene" in values:
        values = {**values, "scene": moved(values["scene"], ("file",))}
    if isinstance(values.get("sensor"), list):
        keys = ("part", "model", "magnetometer_part")
        values = {**values, "sensor": [moved(table, keys) for table in values["sensor"]]}
    return values


def scenario_from(values: dict[str, Any], path: str | os.PathLike[str]) -> Scenario:
    """The scenario in plain values; `path` is where they came from, for messages and relative paths."""
    check_settings_version(values.get("version"), VERSION, path)
    if "folder" in values:
        raise InputError(f'{path}: field "folder" is not known; remove it')
    values, folder = _on_base(values, Path(path))
    try:
        return Scenario(**values, folder=folder)
    except ValidationError as error:
        raise InputError(f"{path}: {first_complaint(error, Scenario, 'scenario')}") from None
