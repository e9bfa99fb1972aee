"""The tables of a rig for sensors on links, inclinometers, wheel odometers, and magnetic sources."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from strapdown.engines.parts import Mount, ProofMass
from strapdown.environment.table import DEG, Flag, Name, NotNegative, Number, Positive, Table, Turned, Vector
from strapdown.errors import InputError
from strapdown.sensors.imu import ALLOWED_ACC, ALLOWED_GYR, Imu
from strapdown.sensors.inclinometer import Inclinometer
from strapdown.sensors.magnetic_sources import CurrentLoop, Dipole
from strapdown.sensors.magnetometer import NO_IRON, NO_SOFT_IRON
from strapdown.sensors.module import Module
from strapdown.sensors.odometer import WheelOdometer
from strapdown.sensors.parts.model_file import read_model
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.temperature import SelfHeating, Temperature, TemperatureSeries
from strapdown.sensors.triad import Matrix, Triad

Seed = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Pair = tuple[Number, Number]


class TemperatureTable(Table):
    """Self-heating (ambient_c, rise_c, time_constant_s), or a series (times_s, celsius)."""

    ambient_c: Number | None = None
    rise_c: Number | None = None
    time_constant_s: Positive | None = None
    times_s: tuple[Number, ...] | None = None
    celsius: tuple[Number, ...] | None = None

    @model_validator(mode="after")
    def _one_model(self) -> "TemperatureTable":
        heating = [self.ambient_c, self.rise_c, self.time_constant_s]
        series = [self.times_s, self.celsius]
        if (None in heating and None in series) or (heating.count(None) < 3 and series.count(None) < 2):
            raise ValueError("needs either ambient_c, rise_c and time_constant_s, or times_s and celsius")
        return self

    def source(self) -> Temperature:
        if self.times_s is not None and self.celsius is not None:
            return TemperatureSeries(np.array(self.times_s), np.array(self.celsius))
        assert self.ambient_c is not None and self.rise_c is not None and self.time_constant_s is not None
        return SelfHeating(self.ambient_c, self.rise_c, self.time_constant_s)


class Mounted(Turned):
    """Common part of every sensor: a name, a place on a link, a rate."""

    name: Name
    link: Name
    rate_hz: Positive = 100.0
    position_m: Vector = (0.0, 0.0, 0.0)

    def mounting(self) -> tuple[float, float, float, float]:
        return self.q() or (1.0, 0.0, 0.0, 0.0)

    def mount(self) -> Mount:
        return Mount(self.name, self.link, self.position_m, self.mounting())


class Warm(Mounted):
    """Base of sensors with a temperature; 25 degC if none is given."""

    temperature_c: Number | TemperatureTable | None = None

    def temperature(self) -> Temperature:
        given = self.temperature_c
        if given is None:
            return 25.0
        return given.source() if isinstance(given, TemperatureTable) else given


class SensorTable(Warm):
    method: str | list[str] = "exact"
    increments: Flag = False
    allowed_error_m_s2: Positive = ALLOWED_ACC
    allowed_error_rad_s: Positive = ALLOWED_GYR
    proof_mass_kg: Positive = 1e-3
    joint_frequency_hz: Positive | None = None
    damping_ratio: NotNegative = 0.7
    magnetometer: Flag = False
    hard_iron_ut: Vector = NO_IRON
    soft_iron: tuple[Vector, Vector, Vector] = NO_SOFT_IRON
    part: Name | None = None
    model: Name | None = None
    magnetometer_part: Name | None = None
    specimen_seed: Seed | None = None
    range: dict[str, Positive] = Field(default_factory=dict)
    errors: Literal["physical", "matlab", "paper"] = "physical"

    @model_validator(mode="after")
    def _one_source(self) -> "SensorTable":
        if self.part is not None and self.model is not None:
            raise ValueError("has both part and model; keep one")
        if self.part is None and (self.specimen_seed is not None or self.range):
            raise ValueError("has specimen_seed or range, which belong to a part; name the part")
        ideal = self.part is None and self.model is None
        if ideal and (self.errors != "physical" or self.temperature_c is not None):
            raise ValueError("has errors or temperature_c, which an ideal sensor does not feel; name a part or model")
        if self.magnetometer_part is not None and (ideal or self.magnetometer):
            raise ValueError(
                "has magnetometer_part, which stands next to a part or model, instead of magnetometer = true"
            )
        if self.increments and (self.part or self.model):
            raise ValueError("has increments, which are ideal, and the errors of a part; keep one")
        return self

    def methods(self) -> tuple[str, ...]:
        return (self.method,) if isinstance(self.method, str) else tuple(self.method)

    def imu(self, rate_hz: float | None = None) -> Imu:
        return Imu(
            self.name,
            rate_hz or self.rate_hz,
            self.methods(),
            self.increments,
            self.allowed_error_m_s2,
            self.allowed_error_rad_s,
        )

    def mount(self) -> Mount:
        proof = None
        if "proof-mass" in self.methods():
            proof = ProofMass(self.proof_mass_kg, self.joint_frequency_hz, self.damping_ratio)
        return Mount(self.name, self.link, self.position_m, self.mounting(), proof)

    def module(self, folder: Path, seed: int) -> Module | None:
        """The part or model with its errors; None: an ideal sensor. Each sensor of a run is a specimen of its own."""
        try:
            if self.part is not None:
                named = _named(folder, self.part)
                specimen_seed = self.specimen_seed
                if specimen_seed is None:
                    specimen_seed = int(seed_of(seed, self.name, "specimen").generate_state(1)[0])
                part = load_part(named)
                beside = () if self.magnetometer_part is None else ("magnetometer",)
                own_range = {name: r for name, r in self.range.items() if name not in beside}
                specimen = part.draw(specimen_seed, own_range or None, self.rate_hz)
                triads, axes = specimen.triads(), specimen.magnetometer_axes
                about = {"part": named, "specimen_seed": specimen_seed, "range": dict(specimen.range)}
                top = part.largest_rate_hz("magnetometer") if "magnetometer" in triads else None
                fastest = {} if top is None else {"magnetometer": top}
            elif self.model is not None:
                triads, meta = read_model(folder / self.model)
                about = {"model": str((folder / self.model).resolve())}
                axes, fastest = meta.get("magnetometer_axes"), {}
            else:
                return None
            if self.magnetometer_part is not None:
                triads, axes, fastest, about = self._with_compass(folder, seed, triads, about)
        except InputError as error:
            raise InputError(f'sensor "{self.name}": {error}') from None
        if self.magnetometer and "magnetometer" not in triads:  # an ideal one next to the part
            triads = {**triads, "magnetometer": Triad("uT")}
        return Module(self.name, triads, seed, self.errors, self.temperature(), axes, fastest, about)

    def _with_compass(
        self, folder: Path, seed: int, triads: dict[str, Triad], about: dict[str, Any]
    ) -> tuple[dict[str, Triad], Matrix | None, dict[str, float], dict[str, Any]]:
        """The magnetometer of another part on the same board, in the same log, as in paper C's module."""
        assert self.magnetometer_part is not None
        if "magnetometer" in triads:
            raise InputError("it has a magnetometer of its own; leave magnetometer_part out")
        named = _named(folder, self.magnetometer_part)
        part = load_part(named)
        if "magnetometer" not in part.instruments:
            raise InputError(f"magnetometer_part {part.name} has no magnetometer; name one that has")
        specimen_seed = self.specimen_seed
        if specimen_seed is None:
            specimen_seed = int(seed_of(seed, self.name, "specimen").generate_state(1)[0])
        top = part.largest_rate_hz("magnetometer")
        wanted = {"magnetometer": self.range["magnetometer"]} if "magnetometer" in self.range else None
        rate_hz = self.rate_hz if top is None else min(self.rate_hz, top)
        specimen = part.draw(specimen_seed, wanted, rate_hz if part.instruments == ("magnetometer",) else None)
        assert specimen.magnetometer is not None
        said = {**about, "magnetometer_part": named}
        if "range" in about:
            said["range"] = {**about["range"], "magnetometer": specimen.range["magnetometer"]}
        fastest = {} if top is None else {"magnetometer": top}
        return {**triads, "magnetometer": specimen.magnetometer}, specimen.magnetometer_axes, fastest, said


def _named(folder: Path, part: str) -> str:
    """A part of the catalogue by its name; a part file by its full path, which is the same in every folder."""
    return str((folder / part).resolve()) if part.lower().endswith(".toml") else part


class InclinometerTable(Warm):
    bandwidth_hz: Positive | None = None
    range_deg: Positive = 90.0
    resolution_deg: NotNegative = 0.0
    bias_deg: Pair = (0.0, 0.0)
    scale_error: Pair = (0.0, 0.0)
    cross_axis: Number = 0.0
    drift_deg_c: Pair = (0.0, 0.0)
    noise_deg_rthz: NotNegative = 0.0  # N: one-sided density / sqrt(2)

    def inclinometer(self) -> Inclinometer:
        x, y = self.scale_error
        return Inclinometer(
            bandwidth_hz=self.bandwidth_hz,
            range_rad=self.range_deg * DEG,
            resolution=self.resolution_deg * DEG,
            bias=(self.bias_deg[0] * DEG, self.bias_deg[1] * DEG),
            matrix=((1.0 + x, self.cross_axis), (self.cross_axis, 1.0 + y)),
            drift=(self.drift_deg_c[0] * DEG, self.drift_deg_c[1] * DEG),
            white=(self.noise_deg_rthz * DEG, self.noise_deg_rthz * DEG),
        )


class OdometerTable(Mounted):
    radius_m: Positive
    ticks_per_revolution: Annotated[int, Field(strict=True, gt=0)] | None = None
    scale_error: Number = 0.0
    roughness_rtm: NotNegative = 0.0
    slip: Pair = (0.0, 0.0)
    slip_above_m_s2: NotNegative = 0.5
    dead_s: tuple[Pair, ...] = ()

    def odometer(self) -> WheelOdometer:
        return WheelOdometer(
            self.radius_m,
            self.ticks_per_revolution,
            (0.0, 0.0, 0.0),  # the mount has already taken the motion to the wheel
            self.scale_error,
            self.roughness_rtm,
            self.slip,
            self.slip_above_m_s2,
            dead_s=self.dead_s,
        )


class DipoleTable(Table):
    moment_am2: Vector
    position_m: Vector

    def source(self) -> Dipole:
        return Dipole(self.moment_am2, self.position_m)


class LoopTable(Table):
    position_m: Vector
    axis: Vector = (0.0, 0.0, 1.0)
    radius_m: Positive
    current_a: Number
    turns: Positive = 1.0

    def source(self) -> CurrentLoop:
        return CurrentLoop(self.position_m, self.axis, self.radius_m, self.current_a, self.turns)


class MagnetismTable(Table):
    """The field at the place: given, or of the world magnetic model at [physics]'s latitude and height."""

    field_ut: Vector | None = None  # east, north, up
    longitude_deg: Annotated[float, Field(strict=True, ge=-180.0, le=180.0)] = 0.0
    year: Number = 2026.0
    dipole: tuple[DipoleTable, ...] = ()
    loop: tuple[LoopTable, ...] = ()

    @model_validator(mode="after")
    def _one_field(self) -> "MagnetismTable":
        if self.field_ut is not None and self.model_fields_set & {"longitude_deg", "year"}:
            raise ValueError("has field_ut and also longitude_deg or year, which give the field of the Earth; keep one")
        return self
