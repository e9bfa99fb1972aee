"""The world around the vehicle while it moves: wind, magnets, temperature, vibration, and faults that change them."""

import math
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.session.faults.kinds import THERMAL_S, GustFault, Magnet, TemperatureStep
from strapdown.environment.session.live_sensors import Around
from strapdown.environment.session.scenario.file import Scenario
from strapdown.environment.session.scenario.scene import SceneTable
from strapdown.environment.session.world.wind import NO_WIND, Gust, gust_at
from strapdown.sensors.streams import branch, seed_of
from strapdown.vehicles.plant import VehiclePlant
from strapdown.vehicles.vehicle import Vehicle


class Surroundings:
    """Scene, wind, and faults of the world. keep and bring_back return and restore the whole state, a value."""

    def __init__(self, scene: SceneTable, scenario: Scenario, vehicle: Vehicle, seed: int) -> None:
        self.vibration = scenario.vibration.of(vehicle, seed)
        self._actuators = len(vehicle.actuators)
        self.drives = self.vibration is not None and self.vibration.sources > self._actuators  # road or hum is felt
        self._radius = vehicle.wheels[0].radius_m if vehicle.wheels else 0.0
        self.scene, self.wind = scene, scene.wind()
        self._windy = not self.wind.calm
        self._wind = self.wind.start(branch(seed_of(seed, "wind"), 1)[0])
        self._hum_rad_s = 2.0 * math.pi * scenario.vibration.hum_hz
        self._hum, self.running = 0.0, False  # phase of the drive's hum, and whether the drive runs
        self._gusts: tuple[Gust, ...] = ()
        self._magnets: tuple[tuple[str, Magnet], ...] = ()
        self._steps: tuple[tuple[str, TemperatureStep], ...] = ()
        self._celsius: float | None = None  # of the parts, once a step has begun
        self._thermal_s = THERMAL_S
        self.felt_now = Around(scene.field_n(), scene.magnets())

    def room(self, steps: int) -> Array:
        """Arrays for the sources of vibration at this many steps; without columns if nothing vibrates."""
        columns = 0 if self.vibration is None else 3 * self._actuators + 6
        self.felt_now.jets = np.zeros((steps, columns))
        return self.felt_now.jets

    def drive(self, jets: Array, step_s: float) -> None:
        """Update road and hum at the steps that were made, if there are any."""
        n = 3 * self._actuators
        if self._radius:  # the way along the road
            jets[:, n] = self._radius * jets[:, 0:n:3].mean(axis=1)
            jets[:, n + 1] = self._radius * jets[:, 1:n:3].mean(axis=1)
        turns = self._hum_rad_s * step_s if self.running else 0.0
        for k in range(len(jets)):  # one by one: the sum does not depend on how many steps a cycle has
            self._hum += turns
            jets[k, n + 3] = self._hum
        jets[:, n + 4] = self._hum_rad_s if self.running else 0.0

    def blow(self, t: float, row: list[float], plant: VehiclePlant, dt: float) -> None:
        """Wind and temperature of a control cycle.

        row: row of the body.
        """
        if self._windy or self._gusts:
            vx, vy, vz = row[7:10]
            ex, ey, ez = self.wind.mean_n
            speed = math.sqrt((vx - ex) ** 2 + (vy - ey) ** 2 + (vz - ez) ** 2)
            self._wind, wind = self.wind.step(self._wind, row[2], speed, dt)
            plant.set_air(self.scene.density(), wind + np.array(gust_at(self._gusts, t)))
        if self._celsius is not None:
            air = self.scene.celsius() + sum(step.step_c for _, step in self._steps)
            self._celsius += (air - self._celsius) * -math.expm1(-dt / self._thermal_s)
            self.felt_now.celsius = self._celsius

    def change(self, scene: SceneTable, plant: VehiclePlant) -> None:
        """Another scene from now on."""
        if scene.celsius() != self.scene.celsius() and self._celsius is None:
            self._celsius = self.scene.celsius()
        self.scene, self.wind = scene, scene.wind()
        self._windy = not self.wind.calm
        self.felt_now.field_n = scene.field_n()
        self._place_magnets()
        plant.set_air(scene.density(), np.array(scene.wind_m_s) if not self.wind.calm else NO_WIND)

    def begin(self, name: str, fault: Any, t: float) -> None:
        if isinstance(fault, GustFault):
            self._gusts = (*self._gusts, Gust(fault.velocity_m_s, t, fault.for_s, name))
        elif isinstance(fault, Magnet):
            self._magnets = (*self._magnets, (name, fault))
            self._place_magnets()
        elif isinstance(fault, TemperatureStep):
            self._steps, self._thermal_s = (*self._steps, (name, fault)), fault.time_constant_s
            self._celsius = self.scene.celsius() if self._celsius is None else self._celsius

    def end(self, name: str) -> None:
        # a gust stays in the list without its velocity: the next control cycle sets the air to what is left
        self._gusts = tuple(g._replace(velocity_n=(0.0, 0.0, 0.0)) if g.name == name else g for g in self._gusts)
        self._magnets = tuple(item for item in self._magnets if item[0] != name)
        self._steps = tuple(item for item in self._steps if item[0] != name)
        self._place_magnets()

    def _place_magnets(self) -> None:
        """Magnets of the scene and of faults: in the world, or carried by the body."""
        found: dict[bool, list[list[float]]] = {False: self.scene.magnets().tolist(), True: []}
        for _, magnet in self._magnets:
            found[magnet.on_vehicle].append([*magnet.moment_am2, *magnet.position_m])
        self.felt_now.magnets, self.felt_now.carried = (np.array(found[k]).reshape(-1, 6) for k in (False, True))

    def keep(self) -> Any:
        around = self.felt_now
        felt = around.field_n, around.magnets, around.carried, around.celsius, self._hum, self.running, self._thermal_s
        return self.scene, self.wind, self._wind, self._gusts, self._magnets, self._steps, self._celsius, felt

    def bring_back(self, kept: Any) -> None:
        self.scene, self.wind, self._wind, self._gusts, self._magnets, self._steps, self._celsius, felt = kept
        self._windy = not self.wind.calm
        around = self.felt_now
        around.field_n, around.magnets, around.carried, around.celsius, self._hum, self.running, self._thermal_s = felt
