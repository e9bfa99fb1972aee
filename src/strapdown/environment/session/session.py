"""A session: one clock for the diagram, the dynamics of the vehicle, and its sensors.

Each cycle runs the diagram, then the dynamics, then the sensors. The state of everything is a value, so that a session
can be kept, rewound and repeated to the bit. docs/environment.md explains the loop.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.engines.mujoco.robot_file import quiet
from strapdown.engines.parts import Mount
from strapdown.environment.diagram.check import planner
from strapdown.environment.diagram.file import Diagram
from strapdown.environment.diagram.kinds import Kinds, builtin
from strapdown.environment.diagram.runner import BlockError, Runner
from strapdown.environment.diagram.runner import Snapshot as DiagramSnapshot
from strapdown.environment.session.acting import apply, check_plan
from strapdown.environment.session.commands import Command, SetConsole
from strapdown.environment.session.console import Console, operated
from strapdown.environment.session.events import SessionEvent
from strapdown.environment.session.growing import GrowingRows
from strapdown.environment.session.live_sensors import Feed, LiveSensor, ModuleSensor
from strapdown.environment.session.rates import rates_of
from strapdown.environment.session.scenario import Scenario
from strapdown.environment.session.signals import SignalLog, recorded_signals
from strapdown.environment.session.step_means import StepMeans
from strapdown.environment.session.surroundings import Surroundings
from strapdown.environment.session.timetable import Timetable, recorded_pilot
from strapdown.environment.session.watch import Watch
from strapdown.environment.session.wiring import Wiring, make_sensors, sensor_for
from strapdown.errors import InputError
from strapdown.live import PLANT_ROW


class SessionStopped(InputError):
    """The session cannot go on; its recording is kept."""


@dataclass(frozen=True)
class Kept:
    """Everything a session needs to go on from here to the bit."""

    ticks: int
    plant: bytes
    diagram: DiagramSnapshot
    sensors: tuple[Any, ...]
    fresh: tuple[Any, ...]
    console: Console
    timetable: Any
    surroundings: Any
    watch: Watch
    faults: tuple[Any, ...]
    counts: tuple[int, int, int]  # of events, of signal rows, of body rows


class View:
    """What a page or a script may look at, between two cycles."""

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


class Session:
    """A scenario that runs. seed: instead of the scenario's. kinds: blocks of the user's own besides the package's.
    diagram: instead of the scenario's."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int | None = None,
        kinds: Kinds | None = None,
        diagram: Diagram | None = None,
    ) -> None:
        self.scenario, self.seed = scenario, scenario.seed if seed is None else seed
        self.kinds = builtin() if kinds is None else kinds
        self.vehicle = scenario.read_vehicle()
        self.scene = scenario.full_scene()
        self.base_hz = scenario.physics_hz
        self.plant = self.vehicle.plant(
            gravity=self.scene.g(),
            step_s=1.0 / self.base_hz,
            density_kg_m3=self.scene.density(),
            friction=self.scene.friction,
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
        self.started: Kept = self.snapshot()

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
                sensor.vibration = self.surroundings.vibration.mounted(sensor.mount.r_bs_b, sensor.mount.q_bs)
        self.signals = SignalLog()
        self.body = GrowingRows(1 + PLANT_ROW + len(self.vehicle.actuators))  # time, truth of the body, actuators
        self._done: list[tuple[int, Command]] = []  # commands that were carried out, and when
        self._history: deque[Kept] = deque(maxlen=max(1, round(self.scenario.history_s) + 1))
        self.feed = Feed(self.runner.feeds)
        self.attach()
        self.look()
        x, y, z = self._body[0:3].tolist()
        self.watch = Watch((x, y, z))
        rows = np.empty((1, len(self.mounts), PLANT_ROW))
        self.plant.read(self.mounts, rows[0])
        watch = self._watcher(1)
        if watch is not None:
            watch(0)
        for place, sensor in self.places:
            sensor.sense(0, np.zeros(1), rows, place, self.surroundings.felt_now, self.feed)
        self._watch_phases = self._watcher(self._stride)

    def _watcher(self, steps: int) -> Callable[[int], None] | None:
        return self.surroundings.watcher(self.plant, steps, 1.0 / self.base_hz)

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
        self._command_of = self.runner.reader([self.wiring.command])
        self._sent: Any = None
        self._control_every = round(self.base_hz / self.runner.diagram.control_hz)
        self._second = round(self.base_hz)
        modules = [round(self.base_hz / s.rate_hz) for s in self.sensors if s.rate_hz is not None]
        blocks = [step.every for step in self.runner.plan.steps if not step.watches]
        self._stride = math.gcd(self._control_every, self._second, *modules, *blocks)
        self._rows = np.empty((self._stride, len(self.mounts), PLANT_ROW))
        self._steps = np.arange(1.0, self._stride + 1.0)
        self._watch_phases = self._watcher(self._stride)
        self.signals.use(self.runner, recorded_signals(self.runner, self.kinds))
        self.wiring.feed_console(self.runner.feeds, self.console)

    @property
    def t_s(self) -> float:
        return self.ticks / self.base_hz

    @property
    def truth(self) -> Array:
        """The true motion of the body: a row of live.PLANT_COLUMNS."""
        return self._body

    def tick(self) -> View:
        """One cycle: diagram, dynamics, sensors. It has as many physics steps as lie between two instants at which a
        block or a sensor is due. SessionStopped if it cannot go on."""
        if self.stopped:
            raise SessionStopped(self.stopped)
        tick = self.ticks
        t = tick / self.base_hz
        if tick % self._second == 0:
            self._remember()
        if t >= self.timetable.next_s:
            for command in self.timetable.due(t):
                self._carry_out(command, scheduled=True)
        if self._posted:
            posted, self._posted = self._posted, []
            for command in posted:
                self._carry_out(command)
        count = self._stride - tick % self._stride
        try:
            self.wiring.feed_truth(self.runner.feeds, self._body, t)
            self.runner.tick()
            self.feed.taken(tick)
            wanted = self._command_of()[0]
            if wanted is not self._sent:
                self.plant.actuate(np.atleast_1d(wanted))
                self._sent = wanted
            if tick % self._control_every == 0:
                self._control_cycle(t)
            if count == self._stride:
                rows, times, watch = self._rows, (self._steps + tick) / self.base_hz, self._watch_phases
            else:  # the first cycle after the diagram got another rate
                rows, times = self._rows[:count], (self._steps[:count] + tick) / self.base_hz
                watch = self._watcher(count)
            self.plant.advance_reading(self.mounts, rows, watch)
            if self._means is not None:
                self._means.put(rows)
        except (BlockError, InputError) as error:
            self._stop(str(error))
            raise SessionStopped(self.stopped) from None
        self._body = rows[-1, 0]
        self.ticks = tick = tick + count
        self.runner.skip(count - 1)
        around, feed = self.surroundings.felt_now, self.feed
        end = tick / self.base_hz
        for place, sensor in self.places:
            if end >= sensor.next_s:
                sensor.sense(tick, times, rows, place, around, feed)
        if count != self._stride:
            self._watch_phases = self._watcher(self._stride)
        return self._view

    def _control_cycle(self, t: float) -> None:
        row = self._body.tolist()
        self.surroundings.blow(t, row, self.plant, self._control_every / self.base_hz)
        self.watch, seen = self.watch.look(t, row, self.wiring.flies)
        self.events += seen
        if self._calibration_ends and self.wiring.refusing:
            refused = any(self.runner.value(name) > 0.5 for name in self.wiring.refusing)
            self.events.append(SessionEvent(t, "calibration_refused" if refused else "calibrated"))
            self._calibration_ends = False
        self.signals.add(t)
        self.body.append([t, *row, *self.plant.achieved.tolist()])

    def advance(self, duration_s: float, progress: Callable[[float], None] | None = None) -> View:
        """All cycles of a time (s)."""
        end = self.ticks + round(duration_s * self.base_hz)
        tick = self.tick
        with quiet():  # once, instead of around every step of the engine
            while self.ticks < end:
                tick()
                if progress is not None and self.ticks % self._second == 0:
                    progress(self.t_s)
        return self._view

    def run(self, progress: Callable[[float], None] | None = None) -> View:
        """From here to the end of the scenario."""
        return self.advance(self.scenario.duration_s - self.t_s, progress)

    # commands

    def post(self, command: Command) -> None:
        """Carry out a command before the next cycle. What it refuses is an event."""
        self._posted.append(command)

    def act(self, command: Command) -> tuple[SessionEvent, ...]:
        """Carry out a command now, between two cycles; the events that it made. InputError: it was refused."""
        if self.ticks % self._second == 0:
            self._remember()  # the state before the command: a rewind repeats the command
        events = apply(self, command)
        self.events += events
        self._done.append((self.ticks, command))
        return events

    def forget_before(self, t_s: float) -> None:
        """Drop what was recorded before a time; what a rewind needs is kept."""
        if self._history:
            t_s = min(t_s, self._history[0].ticks / self.base_hz)
        control_hz = self.base_hz / self._control_every
        since = max(0.0, self.t_s - t_s)
        for rows, hz in ((self.signals, control_hz), (self.body, control_hz)):
            rows.forget(len(rows) - math.ceil(since * hz))
        for sensor in self.sensors:
            sensor.forget(since)

    def operate(self, **changes: Any) -> None:
        """Move controls of the console before the next cycle."""
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

    def set_console(self, changes: Mapping[str, Any]) -> str:
        """Move controls now; a sentence on what was refused."""
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

    # time

    def snapshot(self) -> Kept:
        """The whole state. Nothing is copied but the plant."""
        return Kept(
            self.ticks,
            self.plant.snapshot(),
            self.runner.snapshot(),
            tuple(sensor.keep() for sensor in self.sensors),
            self.feed.keep(),
            self.console,
            self.timetable.keep(),
            self.surroundings.keep(),
            self.watch,
            tuple(self.faults.items()),
            (len(self.events), len(self.signals), len(self.body)),
        )

    def restore(self, kept: Kept) -> None:
        """Go on from a snapshot of this session. What was recorded after it is dropped."""
        self.ticks, self.console, self.watch, self.stopped = kept.ticks, kept.console, kept.watch, ""
        self._calibration_ends = False
        self.plant.restore(kept.plant)
        self.faults = dict(kept.faults)
        events, rows, bodies = kept.counts
        del self.events[events:]
        self.signals.cut(rows)
        self.body.cut(bodies)
        if kept.diagram.diagram is not self.runner.diagram:
            self.runner.restore(kept.diagram)
            self.attach()
        self.runner.restore(kept.diagram)
        self.feed.feeds = self.runner.feeds
        self.feed.bring_back(kept.fresh)
        for sensor, state in zip(self.sensors, kept.sensors, strict=True):
            sensor.bring_back(state)
        self.timetable.bring_back(kept.timetable)
        self.surroundings.bring_back(kept.surroundings)
        self._sent = None
        self.look()
        while self._history and self._history[-1].ticks > kept.ticks:
            self._history.pop()
        self._done = [item for item in self._done if item[0] < kept.ticks]

    def rewind(self, to_s: float) -> None:
        """Go back to a time (s). From there everything happens again to the bit, unless something is changed."""
        target = round(to_s * self.base_hz)
        kept = [k for k in (self.started, *self._history) if k.ticks <= target]
        if target > self.ticks or not kept:
            first = self._history[0].ticks / self.base_hz if self._history else 0.0
            raise InputError(f"cannot rewind to {to_s:g} s; give a time from {first:g} to {self.t_s:g} s")
        if kept[-1].ticks < (self._history[0].ticks if self._history else 0):
            first = self._history[0].ticks / self.base_hz
            raise InputError(f"cannot rewind to {to_s:g} s: the history begins at {first:g} s; raise history_s")
        again = [item for item in self._done if kept[-1].ticks <= item[0] < target]
        self._posted = []
        self.restore(kept[-1])
        for at, command in again:
            while self.ticks < at:
                self.tick()
            self._posted.append(command)
        while self.ticks < target:
            self.tick()

    def reset(self) -> None:
        """Back to the start."""
        self._posted = []
        self.restore(self.started)
        self._done = []

    def begin_history(self) -> None:
        """Rewinds go back to this time at most: what came before cannot be restored any more."""
        self._history.clear()
        self._done = []
        self._remember()

    def _remember(self) -> None:
        if not self._history or self._history[-1].ticks < self.ticks:
            self._history.append(self.snapshot())
            first = self._history[0].ticks
            if self._done and self._done[0][0] < first:
                self._done = [item for item in self._done if item[0] >= first]

    def check_links(self) -> None:
        links = self.plant.links()
        for mount in self.mounts:
            if mount.link not in links:
                raise InputError(
                    f'sensor "{mount.name}" is on link "{mount.link}", which vehicle "{self.vehicle.name}" does not '
                    f"have; valid names: {', '.join(links)}"
                )
