"""The sensors of a scenario file: the meaning of each table, and the live sensor made of it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from strapdown.atmosphere import EARTH, MARS
from strapdown.engines.parts import Mount
from strapdown.environment.diagram.running.schedule import rates_near
from strapdown.environment.rig_sensors import InclinometerTable, Mounted, Pair, SensorTable
from strapdown.environment.session.live_sensors import ModuleSensor, ValueSensor, iron_numbers
from strapdown.environment.session.scenario.scene import SceneTable
from strapdown.environment.table import Name, NotNegative, Number, Positive, Vector
from strapdown.errors import InputError
from strapdown.sensors.aiding.altimeter import Altimeter
from strapdown.sensors.aiding.barometer import Barometer
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.module import Module
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad

BODY = "body"  # stands for the link that carries a vehicle's sensors
Share = Annotated[float, Field(strict=True, ge=0.0, lt=1.0)]
_NO_MOTION = (
    "method",
    "increments",
    "proof_mass_kg",
    "joint_frequency_hz",
    "damping_ratio",
    "allowed_error_m_s2",
    "allowed_error_rad_s",
)


def mount_of(table: Mounted, body: str) -> Mount:
    """Mount of the sensor; link "body" is the vehicle's own."""
    link = body if table.link == BODY else table.link
    return Mount(table.name, link, table.position_m, table.mounting())


def every_time(every: int, base_hz: float) -> Callable[[Any, float], float]:
    """Time of the next reading, less half a step, for a sensor that reads at every n-th physics step."""

    def due(state: Any, t: float) -> float:
        return ((math.floor(t * base_hz / every + 0.5 / every) + 1) * every - 0.5) / base_hz

    return due


class ModuleTable(SensorTable):
    """A [[sensor]]: a part of the catalogue, or an ideal one, on a link of the vehicle."""

    link: Name = BODY
    rate_hz: Positive = 500.0
    noise_factor: NotNegative = 1.0  # on white noise, instability and random walk

    @model_validator(mode="after")
    def _live(self) -> "ModuleTable":
        wrong = [name for name in _NO_MOTION if name in self.model_fields_set]
        if wrong:
            raise ValueError(f"has {wrong[0]}, which is for recorded motion (strapdown simulate); remove it")
        return self

    def drawn(self, folder: Path, seed: int, celsius: float) -> Module:
        """The specimen. Its temperature is that of the air, if it does not have its own."""
        module = self.module(folder, seed)
        if module is None:
            ideal = {"accelerometer": Triad("m/s2"), "gyroscope": Triad("rad/s")}
            if self.magnetometer:
                ideal["magnetometer"] = Triad("uT")
            module = Module(self.name, ideal, seed)
        triads = {name: scaled_noise(triad, self.noise_factor) for name, triad in module.triads.items()}
        temperature = celsius if self.temperature_c is None else module.temperature
        return Module(
            module.name,
            triads,
            seed,
            module.mode,
            temperature,
            module.magnetometer_axes,
            module.fastest_hz,
            module.about,
        )

    def live(self, folder: Path, seed: int, body: str, base_hz: float, celsius: float) -> ModuleSensor:
        every = base_hz / self.rate_hz
        if abs(every - round(every)) > 1e-9 * every or round(every) < 1:
            raise InputError(
                f'sensor "{self.name}": rate_hz {self.rate_hz:g} does not divide the physics rate of {base_hz:g} Hz; '
                f"choose {rates_near(base_hz, every)}"
            )
        iron = iron_numbers(self.hard_iron_ut, self.soft_iron)
        module = self.drawn(folder, seed, celsius)
        try:
            return ModuleSensor(self.name, mount_of(self, body), base_hz, module, self.rate_hz, iron)
        except InputError as error:
            raise InputError(f'sensor "{self.name}": {error}') from None


def scaled_noise(triad: Triad, factor: float) -> Triad:
    """The triad with this many times its noise."""
    if factor == 1.0:
        return triad
    from dataclasses import replace

    def times(vector: Any) -> Any:
        return tuple(factor * x for x in vector)

    return replace(triad, white=times(triad.white), instability=times(triad.instability), walk=times(triad.walk))


class TiltTable(InclinometerTable):
    """An [[inclinometer]]."""

    link: Name = BODY

    def live(self, seed: int, body: str, base_hz: float, celsius: float) -> ValueSensor:
        part = self.inclinometer()
        every = max(1, round(base_hz / self.rate_hz))
        temperature = celsius if self.temperature_c is None else self.temperature()
        step_s = every / base_hz

        def read(state: Any, t: float, rows: Any, j: int) -> Any:
            if round(t * base_hz) % every:
                return state, None
            state, tilt = part.read(state, np.array([t]), rows[j, 19:22][None, :], temperature_c=temperature)
            value = tilt.tilt[0]
            return state, (value, np.zeros(2), t)

        start = part.start(seed_of(seed, self.name, "inclinometer"), step_s)
        return ValueSensor(
            self.name, mount_of(self, body), base_hz, "inclinometer", 2, start, read, every_time(every, base_hz)
        )


class AltimeterTable(Mounted):
    """An [[altimeter]]: range to the ground along its -z axis."""

    link: Name = BODY
    rate_hz: Positive = 50.0
    sigma_m: NotNegative = 0.02
    sigma_per_m: NotNegative = 0.0
    bias_m: Number = 0.0
    scale_error: Number = 0.0
    limits_m: tuple[NotNegative, Positive] = (0.0, 1e4)
    resolution_m: NotNegative = 0.0
    loss: Share = 0.0

    def live(self, seed: int, body: str, base_hz: float, range_along: Any) -> ValueSensor:
        part = Altimeter(
            self.rate_hz,
            self.sigma_m,
            self.sigma_per_m,
            self.bias_m,
            self.scale_error,
            self.limits_m,
            self.resolution_m,
            self.loss,
        )

        def read(state: Any, t: float, rows: Any, j: int) -> Any:
            if t < state.pace.next_s:
                return state, None
            w, x, y, z = rows[j, 3:7].tolist()
            down = -2.0 * (x * z + w * y), 2.0 * (w * x - y * z), 2.0 * (x * x + y * y) - 1.0
            state, height = part.read(state, t, range_along(rows[j, 0:3], down))
            return state, None if height is None else (height.height_m, height.sigma_m, t)

        start = part.start(seed_of(seed, self.name, "altimeter"), 1.0 / base_hz)
        return ValueSensor(
            self.name, mount_of(self, body), base_hz, "altimeter", 1, start, read, lambda state, t: state.pace.next_s
        )


class BarometerTable(Mounted):
    """A [[barometer]]: pressure of the air (Pa). Its atmosphere is that of the scene."""

    link: Name = BODY
    rate_hz: Positive = 50.0
    sigma_pa: NotNegative = 1.5
    bias_pa: Number = 0.0
    drift_pa: NotNegative = 0.0
    drift_s: Positive = 300.0
    per_degc_pa: Number = 0.0
    lag_s: NotNegative = 0.0
    resolution_pa: NotNegative = 0.0

    def live(self, seed: int, body: str, base_hz: float, scene: SceneTable) -> ValueSensor:
        part = Barometer(
            MARS if scene.gravity == "mars" else EARTH,
            self.rate_hz,
            self.sigma_pa,
            self.bias_pa,
            self.drift_pa,
            self.drift_s,
            self.per_degc_pa,
            lag_s=self.lag_s,
            resolution_pa=self.resolution_pa,
        )
        celsius, above_m = scene.celsius(), scene.height_m

        def read(state: Any, t: float, rows: Any, j: int) -> Any:
            state, pressure = part.read(state, t, above_m + rows.item(j, 2), temperature_c=celsius)
            return state, None if pressure is None else (pressure, part.reading_sigma_pa, t)

        start = part.start(seed_of(seed, self.name, "barometer"), 1.0 / base_hz)
        mount = mount_of(self, body)
        return ValueSensor(self.name, mount, base_hz, "barometer", 1, start, read, lambda state, t: state.pace.next_s)


class ReceiverTable(Mounted):
    """A [[receiver]]: fixes of position (m) or velocity (m/s), as of a satellite receiver or camera odometry."""

    link: Name = BODY
    measures: Literal["position", "velocity"]
    rate_hz: Positive = 10.0
    sigma: Vector = (0.05, 0.05, 0.05)  # m or m/s
    delay_s: NotNegative = 0.0
    outages_s: tuple[Pair, ...] = ()
    correlated: Vector = (0.0, 0.0, 0.0)
    correlation_s: Positive = 100.0
    scale_error: Number = 0.0
    loss: Share = 0.0

    def live(self, seed: int, body: str, base_hz: float) -> ValueSensor:
        try:
            part = FixReceiver(
                self.measures,
                self.rate_hz,
                self.sigma,
                self.delay_s,
                self.outages_s,
                self.correlated,
                self.correlation_s,
                self.scale_error,
                self.loss,
            )
            start = part.start(seed_of(seed, self.name, "receiver"), 1.0 / base_hz)
        except InputError as error:
            raise InputError(f'receiver "{self.name}": {error}') from None
        first = 0 if self.measures == "position" else 7

        def read(state: Any, t: float, rows: Any, j: int) -> Any:
            waiting = state.waiting
            if t < state.pace.next_s and not waiting:
                return state, None
            state, fix = part.read(state, t, rows[j, first : first + 3].tolist())
            return state, None if fix is None else (fix.value_n, fix.sigma_n, fix.t_s)

        def due(state: Any, t: float) -> float:
            arrives = state.waiting[0][0] + self.delay_s - state.pace.half_s if state.waiting else math.inf
            return min(state.pace.next_s, arrives)

        return ValueSensor(self.name, mount_of(self, body), base_hz, f"{self.measures}_fix", 3, start, read, due)


class EncoderTable(Mounted):
    """An [[odometer]]: travel from the wheel encoders, the mean of the wheels that are named (default: all)."""

    link: Name = BODY
    rate_hz: Positive = 100.0
    wheels: tuple[Name, ...] = ()
    scale_error: Number = 0.0

    def live(self, body: str, base_hz: float, travel_m: Any) -> ValueSensor:
        """travel_m(wheels) -> m: ticks of these wheels times their rolling circumference."""
        every = max(1, round(base_hz / self.rate_hz))

        def read(state: Any, t: float, rows: Any, j: int) -> Any:
            if round(t * base_hz) % every:
                return state, None
            return state, ((1.0 + self.scale_error) * travel_m(self.wheels), 0.0, t)

        return ValueSensor(
            self.name, mount_of(self, body), base_hz, "odometer", 1, (), read, every_time(every, base_hz)
        )
