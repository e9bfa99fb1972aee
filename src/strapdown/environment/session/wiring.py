"""Connection of a diagram to its session: sensor blocks, console, truth, actuators, estimate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from strapdown.arrays import Array
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.problem import did_you_mean
from strapdown.environment.diagram.running.runner import Runner
from strapdown.environment.session.console import Console
from strapdown.environment.session.live_sensors import LiveSensor, Tap
from strapdown.errors import InputError
from strapdown.vehicles.vehicle import Vehicle

if TYPE_CHECKING:
    from strapdown.environment.session.session import Session

# the block that drives a vehicle, by its kind; a user's own block may drive any
DRIVES = {"rotors": "motors", "coaxial": "swashplate", "wheels": "wheels", "joints": "joints"}
_CONTROLS = tuple(name for name in Console._fields if name != "sliders")
# feeds of TRUTH: columns of a row of the plant
_TRUTH = {
    "attitude": (3, 7),
    "rate": (13, 16),
    "position": (0, 3),
    "velocity": (7, 10),
    "acceleration": (10, 13),
    "specific_force": (19, 22),
}


class Wiring:
    """Places of feeds and outputs in a runner."""

    def __init__(self, runner: Runner, kinds: Kinds, sensors: Sequence[LiveSensor], vehicle: Vehicle) -> None:
        self.flies = vehicle.kind in ("rotors", "coaxial")
        self._console: list[tuple[int, str]] = []
        self._sliders: list[tuple[int, str]] = []
        self._truth: list[tuple[int, int, int]] = []
        self._clocks: list[int] = []
        self.estimate: dict[str, str] = {}  # input of the estimate block: signal
        self.refusing: list[str] = []  # signals that are on after a calibration was refused
        for sensor in sensors:
            sensor.taps = {}
        driven = []
        for step in runner.plan.steps:
            path = step.path
            if kinds[step.kind].category == "sensor":
                self._tap(runner, step, sensors)
            elif step.kind == "console":
                self._console += [(runner.feed_slot(f"{path}.{name}"), name) for name in _CONTROLS]
            elif step.kind == "slider":
                self._sliders.append((runner.feed_slot(f"{path}.value"), path))
            elif step.kind == "truth":
                self._truth += [(runner.feed_slot(f"{path}.{name}"), *cut) for name, cut in _TRUTH.items()]
            elif step.kind == "time":
                self._clocks.append(runner.feed_slot(f"{path}.t"))
            if {"busy", "moving"} <= set(step.output_ports):
                self.refusing.append(f"{path}.moving")
            if getattr(step.block, "actuates", False):
                driven.append(step)
            if getattr(step.block, "estimates", False):
                connected = zip(step.input_ports, step.inputs, strict=True)
                self.estimate = {name: f"{path}.{name}" for name, source in connected if isinstance(source, int)}
        self.reads_truth = bool(self._truth or self._clocks)  # whether feed_truth has something to do
        if len(driven) != 1:
            had = ", ".join(f'"{step.path}"' for step in driven) or "none"
            raise InputError(
                f"a diagram needs exactly one block that drives the vehicle (motors, swashplate, wheels or joints); "
                f"it has {had}"
            )
        wanted = DRIVES[vehicle.kind]
        if driven[0].kind != wanted and driven[0].kind in DRIVES.values():
            raise InputError(
                f'block "{driven[0].path}" is of kind {driven[0].kind}, which vehicle "{vehicle.name}" does not have; '
                f"use a diagram with a block of kind {wanted}"
            )
        self.command = f"{driven[0].path}.command"
        shape = driven[0].output_ports["command"].shape or (1,)
        if shape != (len(vehicle.actuators),):
            raise InputError(
                f'block "{driven[0].path}" commands {shape[0]} actuators, vehicle "{vehicle.name}" has '
                f"{len(vehicle.actuators)}: {', '.join(actuator.name for actuator in vehicle.actuators)}"
            )

    @property
    def sliders(self) -> list[str]:
        """Paths of the slider blocks."""
        return [path for _, path in self._sliders]

    def _tap(self, runner: Runner, step: Any, sensors: Sequence[LiveSensor]) -> None:
        sensor = sensor_for(sensors, step.kind, step.block.p.sensor)
        names = list(step.block.feeds)
        slots = {name: runner.feed_slot(f"{step.path}.{name}") for name in names}
        tap = Tap(slots["value"], slots["new"], step.every, slots.get("sigma"), slots.get("at"))
        sensor.taps.setdefault(step.kind, []).append(tap)

    def feed_console(self, feeds: list[Any], console: Console) -> None:
        for slot, name in self._console:
            feeds[slot] = getattr(console, name)
        for slot, path in self._sliders:
            if path in console.sliders:
                feeds[slot] = console.sliders[path]

    def feed_truth(self, feeds: list[Any], body: Array, t: float) -> None:
        if self._truth:
            row = body.copy()
            for slot, first, last in self._truth:
                feeds[slot] = row[first:last]
        for slot in self._clocks:
            feeds[slot] = t


def sensor_for(sensors: Sequence[LiveSensor], kind: str, name: str) -> LiveSensor:
    """The sensor for a sensor block of this kind: by its name, or the first that has the instrument."""
    if name:
        named = {sensor.name: sensor for sensor in sensors}
        if name not in named:
            raise InputError(f'sensor "{name}" is not in the scenario; {did_you_mean(name, named)}')
        if kind not in named[name].instruments:
            had = ", ".join(named[name].instruments)
            raise InputError(f'sensor "{name}" has no {kind}; it has {had}')
        return named[name]
    for sensor in sensors:
        if kind in sensor.instruments:
            return sensor
    raise InputError(f'the scenario has no sensor for "{kind}"; add one')


def make_sensors(session: "Session") -> list[LiveSensor]:
    """The live sensors of the scenario."""
    scenario, vehicle, base_hz, seed = session.scenario, session.vehicle, session.base_hz, session.seed
    celsius, body, plant = session.scene.celsius(), vehicle.body, session.plant
    made: list[LiveSensor] = [t.live(scenario.folder, seed, body, base_hz, celsius) for t in scenario.sensor]
    made += [t.live(seed, body, base_hz, celsius) for t in scenario.inclinometer]
    made += [t.live(seed, body, base_hz, plant.range_along) for t in scenario.altimeter]
    made += [t.live(seed, body, base_hz, session.scene) for t in scenario.barometer]
    made += [t.live(seed, body, base_hz) for t in scenario.receiver]
    for table in scenario.odometer:
        made.append(table.live(body, base_hz, travel_of(session, table.wheels)))
    for each, sensor in zip(scenario.mounted(), made, strict=True):
        sensor.nominal_hz = each.rate_hz
    return made


def travel_of(session: "Session", wheels: Sequence[str]) -> Any:
    """Travel (m) by the encoders of these wheels, all if none is named."""
    known = {wheel.name: (i, wheel) for i, wheel in enumerate(session.vehicle.wheels)}
    if not known:
        raise InputError(f'vehicle "{session.vehicle.name}" has no wheels; remove the odometer')
    for name in wheels:
        if name not in known:
            raise InputError(f'wheel "{name}" does not exist; {did_you_mean(name, known)}')
    chosen = [known[name] for name in wheels or known]
    plant = session.plant

    def travel(_: Sequence[str]) -> float:
        phases = plant.phases
        total = 0.0
        for i, wheel in chosen:
            turns = phases[i] / 6.283185307179586
            total += 6.283185307179586 * wheel.radius_m * int(turns * wheel.ticks_per_turn // 1) / wheel.ticks_per_turn
        return total / len(chosen)

    return travel
