"""A session: one clock for the diagram, the dynamics of the vehicle, and its sensors.

Each cycle runs the diagram, then the dynamics, then the sensors. The state of everything is a value, so that a session
can be kept, rewound and repeated to the bit. docs/environment.md explains the loop.
"""

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.engines.mujoco.robot_file import quiet
from strapdown.engines.parts import Mount
from strapdown.environment.diagram.checking.check import planner
from strapdown.environment.diagram.file import Diagram
from strapdown.environment.diagram.kinds import Kinds, builtin
from strapdown.environment.diagram.running.runner import BlockError, Runner
from strapdown.environment.session.acting import apply, check_plan
from strapdown.environment.session.commands import Command, SetConsole
from strapdown.environment.session.console import Console, operated
from strapdown.environment.session.events import SessionEvent
from strapdown.environment.session.history import Timeline
from strapdown.environment.session.live_sensors import Feed, LiveSensor, ModuleSensor
from strapdown.environment.session.rates import rates_of
from strapdown.environment.session.recording.growing import GrowingRows
from strapdown.environment.session.recording.signals import SignalLog, recorded_signals
from strapdown.environment.session.scenario.file import Scenario, read_scenario
from strapdown.environment.session.scenario.timetable import Timetable, recorded_pilot
from strapdown.environment.session.wiring import Wiring, make_sensors, sensor_for
from strapdown.environment.session.world.step_means import StepMeans
from strapdown.environment.session.world.surroundings import Surroundings
from strapdown.environment.session.world.watch import Watch
from strapdown.errors import InputError
from strapdown.keywords import keywords_of
from strapdown.live import PLANT_ROW

_TRUTH_ENDS = 1 + PLANT_ROW  # in a row of the body: time, truth, actuators


class SessionStopped(InputError):
    """The session cannot continue; its recording is kept."""


class View:
    """State that a page or a script may read, between two cycles."""

    def __init__(self, session: "Session") -> None:
        self._session = session

    @property
    def t_s(self) -> float:
        return self._session.t_s

    @property
    def console(self) -> Console:
        return self._session.console

    @property
    def truth(self) -> Array:
        """The row of the body, columns as in live.PLANT_COLUMNS."""
        return self._session.truth

    def value(self, signal: str) -> Any:
        """A signal of the diagram, "block.output"."""
        return self._session.runner.value(signal)

    @property
    def events(self) -> tuple[SessionEvent, ...]:
        return tuple(self._session.events)


class Session(Timeline):
    """A running scenario, given as an object, a name or a path.

    seed: seed instead of the scenario's.
    kinds: blocks of the user's own besides the package's.
    diagram: diagram instead of the scenario's.
    """

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        *,
        seed: int | None = None,
        kinds: Kinds | None = None,
        diagram: Diagram | None = None,
    ) -> None:
        scenario = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
        self.scenario, self.seed = scenario, scenario.seed if seed is None else seed
        self.kinds = builtin() if kinds is None else kinds
        self.vehicle = scenario.read_vehicle()
        self.scene = scenario.full_scene()
        self.base_hz = scenario.physics_hz
        self._step_s = 1.0 / self.base_hz
        self.plant = self.vehicle.plant(
            gravity=self.scene.g(),
            step_s=1.0 / self.base_hz,
            density_kg_m3=self.scene.density(),
            friction=self.scene.friction,
            engine=scenario.engine,
        )
        servos = self.vehicle.kind not in ("rotors", "coaxial")
        self._means = StepMeans(1.0 / self.base_hz, self.scene.g()) if servos else None
        self.sensors: list[LiveSensor] = make_sensors(self)
        self.mounts = (Mount("body", self.vehicle.body), *(sensor.mount for sensor in self.sensors))
        self.check_links()
        self.places = list(enumerate(self.sensors, start=1))
        diagram = scenario.read_diagram(self.vehicle) if diagram is None else diagram
        rates = rates_of(self.kinds, lambda kind, name: sensor_for(self.sensors, kind, name))
        plan = planner(self.kinds, self.base_hz, rates=rates)
        self.runner = Runner(diagram, self.kinds, plan)
        self._pilot = recorded_pilot(scenario)
        self._view = View(self)
        self._posted: list[Command] = []
        self._begin()
        check_plan(self)
        self.started = self.snapshot()

    # the loop

    def _begin(self) -> None:
        self.ticks = 0
        self.console = Console()
        self.stopped = ""
        self._calibration_ends = False  # the switch went off and the diagram has not answered yet
        self.events: list[SessionEvent] = []
        self.faults: dict[str, Any] = {}  # that are active, by name
        self.timetable = Timetable(self.scenario, self._pilot)
        self.surroundings = Surroundings(self.scene, self.scenario, self.vehicle, self.seed)
        for sensor in self.sensors:
            if isinstance(sensor, ModuleSensor) and self.surroundings.vibration is not None:
                sensor.shaken_by(self.surroundings.vibration)
        self.signals = SignalLog()
        self.body = GrowingRows(_TRUTH_ENDS + len(self.vehicle.actuators))
        self._begin_past(self.scenario.history_s)
        self.feed = Feed(self.runner.feeds)
        self.attach()
        self.look()
        x, y, z = self._body[0:3].tolist()
        self.watch = Watch((x, y, z), self.scene.radius_m)
        rows = np.empty((1, len(self.mounts), PLANT_ROW))
        self.plant.read(self.mounts, rows[0])
        jets = self.surroundings.room(1)
        if jets.shape[1]:
            self.plant.turning(jets[0])
        if self.surroundings.drives:
            self.surroundings.drive(jets, self._step_s)
        for place, sensor in self.places:
            sensor.sense(0, rows, place, self.surroundings.felt_now, self.feed)
        self._jets = self.surroundings.room(self._stride)

    def look(self) -> None:
        """The true motion of the body, now."""
        rows = np.empty((len(self.mounts), PLANT_ROW))
        self.plant.read(self.mounts, rows)
        self._body = rows[0]
        if self._means is not None:
            self._means.begin(rows)

    def attach(self) -> None:
        """Connect the session to its diagram; again after the diagram was replaced."""
        self.feed.feeds = self.runner.feeds
        self.wiring = Wiring(self.runner, self.kinds, self.sensors, self.vehicle)
        self._command = self.runner.signals[self.wiring.command].slot
        self._sent: Any = None
        self._control_every = round(self.base_hz / self.runner.diagram.control_hz)
        self._second = round(self.base_hz)
        modules = [round(self.base_hz / s.rate_hz) for s in self.sensors if s.rate_hz is not None]
        blocks = [step.every for step in self.runner.plan.steps if not step.watches]
        self._stride = math.gcd(self._control_every, self._second, *modules, *blocks)
        self._rows = np.empty((self._stride, len(self.mounts), PLANT_ROW))
        self._jets = self.surroundings.room(self._stride)
        self.signals.use(self.runner, recorded_signals(self.runner, self.kinds))
        self.wiring.feed_console(self.runner.feeds, self.console)

    @property
    def truth(self) -> Array:
        """The true motion of the body: a row of live.PLANT_COLUMNS."""
        return self._body

    def tick(self) -> View:
        """Run one cycle: diagram, dynamics, sensors. A cycle has as many physics steps as there are between two
        instants at which a block or a sensor is due. Raises SessionStopped if it cannot continue.
        """
        if self.stopped:
            raise SessionStopped(self.stopped)
        tick, hz, runner, feed = self.ticks, self.base_hz, self.runner, self.feed
        t = tick / hz
        if tick % self._second == 0:
            self._remember()
        if t >= self.timetable.next_s:
            for command in self.timetable.due(t):
                self._carry_out(command, scheduled=True)
        if self._posted:
            posted, self._posted = self._posted, []
            for command in posted:
                self._carry_out(command)
        stride, surroundings = self._stride, self.surroundings
        count = stride - tick % stride
        try:
            if self.wiring.reads_truth:
                self.wiring.feed_truth(runner.feeds, self._body, t)
            runner.tick()
            feed.taken(tick)
            wanted = runner.value_at(self._command)
            if wanted is not self._sent:
                self.plant.actuate(wanted if isinstance(wanted, np.ndarray) else np.atleast_1d(wanted))
                self._sent = wanted
            if tick % self._control_every == 0:
                self._control_cycle(t)
            rows, jets = self._rows, self._jets
            if count != stride:  # the first cycle after the diagram got another rate
                rows, jets = rows[:count], surroundings.room(count)
            self.plant.advance_reading(self.mounts, rows, jets)
            if surroundings.drives:
                surroundings.drive(jets, self._step_s)
            if self._means is not None:
                self._means.put(rows)
        except (BlockError, InputError) as error:
            self._stop(str(error))
            raise SessionStopped(self.stopped) from None
        self._body = rows[-1, 0]
        self.ticks = tick = tick + count
        runner.skip(count - 1)
        around, end = surroundings.felt_now, tick / hz
        for place, sensor in self.places:
            if end >= sensor.next_s:
                sensor.sense(tick, rows, place, around, feed)
        if count != stride:
            self._jets = surroundings.room(stride)
        return self._view

    def _control_cycle(self, t: float) -> None:
        row = self._body.tolist()
        self.surroundings.blow(t, row, self.plant, self._control_every / self.base_hz)
        self.watch, seen = self.watch.look(t, row, self.wiring.flies)
        if seen:
            self.events += seen
        if self._calibration_ends and self.wiring.refusing:
            refused = any(self.runner.value(name) > 0.5 for name in self.wiring.refusing)
            self.events.append(SessionEvent(t, "calibration_refused" if refused else "calibrated"))
            self._calibration_ends = False
        self.signals.add(t)
        line = self.body.added()
        line[0], line[1:_TRUTH_ENDS], line[_TRUTH_ENDS:] = t, self._body, self.plant.achieved

    def advance(self, duration_s: float, progress: Callable[[float], None] | None = None) -> View:
        """Run all cycles of a time (s)."""
        if not 0.0 <= duration_s < math.inf:
            raise InputError(f"cannot advance by {duration_s} s; give a time that is not negative")
        end = self.ticks + round(duration_s * self.base_hz)
        tick = self.tick
        with quiet():  # once, instead of around every step of the engine
            while self.ticks < end:
                tick()
                if progress is not None and self.ticks % self._second == 0:
                    progress(self.t_s)
        return self._view

    def run(self, progress: Callable[[float], None] | None = None) -> View:
        """Run from here to the end of the scenario."""
        return self.advance(max(self.scenario.duration_s - self.t_s, 0.0), progress)

    # commands

    def post(self, command: Command) -> None:
        """Carry out a command before the next cycle. A refused command becomes an event."""
        self._posted.append(command)

    def act(self, command: Command) -> tuple[SessionEvent, ...]:
        """Carry out a command now, between two cycles; returns its events. Raises InputError if the command was
        refused.
        """
        if self.ticks % self._second == 0:
            self._remember()  # the state before the command: a rewind repeats the command
        events = apply(self, command)
        self.events += events
        self._done.append((self.ticks, command))
        return events

    @keywords_of(Console)
    def operate(self, **changes: Any) -> None:
        """Change controls of the console before the next cycle; controls that are not given stay the same."""
        self.post(SetConsole(changes))

    def _carry_out(self, command: Command, scheduled: bool = False) -> None:
        t = self.t_s
        try:
            events = apply(self, command)
        except InputError as error:
            events = (SessionEvent(t, "refused", {"reason": str(error)}),)
        self.events += events
        if not scheduled:
            self._done.append((self.ticks, command))

    def figure(self, kind: str | None = None) -> Any:
        """A figure of the recording so far: "attitude", "path" or "actuators"."""
        from strapdown.environment.session.recording.record import (
            recording_of,  # it records sessions, and so imports them
        )

        return recording_of(self).figure(kind)

    def set_console(self, changes: Mapping[str, Any]) -> str:
        """Change controls now; returns a sentence on refused changes."""
        calibrating = self.console.calibrate
        self.console, refused = operated(self.console, changes, has_rotors=self.wiring.flies)
        self.wiring.feed_console(self.runner.feeds, self.console)
        if calibrating and not self.console.calibrate:
            self._calibration_ends = True
        self.surroundings.running = bool(self.console.arm if self.wiring.flies else self.console.power)
        return refused

    def _stop(self, reason: str) -> None:
        self.stopped = reason
        self.console = self.console._replace(arm=0.0)
        self.surroundings.running = False
        self.events.append(SessionEvent(self.t_s, "stopped", {"reason": reason}))

    def check_links(self) -> None:
        links = self.plant.links()
        for mount in self.mounts:
            if mount.link not in links:
                raise InputError(
                    f'sensor "{mount.name}" is on link "{mount.link}", which vehicle "{self.vehicle.name}" does not '
                    f"have; valid names: {', '.join(links)}"
                )
