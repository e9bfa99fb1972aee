"""The past of a session: snapshots of everything, returning to one and repeating what followed, and dropping old
ones.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

from strapdown.environment.diagram.running.runner import Runner
from strapdown.environment.diagram.running.runner import Snapshot as DiagramSnapshot
from strapdown.environment.session.commands import Command
from strapdown.environment.session.console import Console
from strapdown.environment.session.events import SessionEvent
from strapdown.environment.session.live_sensors import Feed, LiveSensor
from strapdown.environment.session.recording.growing import GrowingRows
from strapdown.environment.session.recording.signals import SignalLog
from strapdown.environment.session.scenario.file import Scenario
from strapdown.environment.session.scenario.timetable import Timetable
from strapdown.environment.session.world.surroundings import Surroundings
from strapdown.environment.session.world.watch import Watch
from strapdown.errors import InputError
from strapdown.live import Rewindable
from strapdown.vehicles.plant import VehiclePlant


@dataclass(frozen=True)
class Kept:
    """Everything that a session needs to continue from here to the bit."""

    ticks: int
    plant: bytes | None  # None: the engine keeps no snapshots, and this is the start
    diagram: DiagramSnapshot
    sensors: tuple[Any, ...]
    fresh: tuple[Any, ...]
    console: Console
    timetable: Any
    surroundings: Any
    watch: Watch
    faults: tuple[Any, ...]
    counts: tuple[int, int, int]  # of events, of signal rows, of body rows


class Timeline:
    """The parts of a session that change with time, and its past. A base of Session, which has the loop."""

    base_hz: float
    ticks: int
    scenario: Scenario
    plant: VehiclePlant
    runner: Runner
    sensors: list[LiveSensor]
    feed: Feed
    console: Console
    timetable: Timetable
    surroundings: Surroundings
    watch: Watch
    faults: dict[str, Any]  # that are active, by name
    events: list[SessionEvent]
    signals: SignalLog
    body: GrowingRows
    stopped: str  # why the session cannot go on; empty: it can
    started: Kept
    _calibration_ends: bool
    _control_every: int  # ticks
    _sent: Any  # the last command to the actuators
    _posted: list[Command]

    def _begin_past(self, history_s: float) -> None:
        self._done: list[tuple[int, Command]] = []  # commands that were carried out, and when
        self._history: deque[Kept] = deque(maxlen=max(1, round(history_s) + 1))

    @property
    def t_s(self) -> float:
        return self.ticks / self.base_hz

    def tick(self) -> Any:
        """One cycle."""
        raise NotImplementedError

    def attach(self) -> None:
        """Connect the session to its diagram."""
        raise NotImplementedError

    def look(self) -> None:
        """The true motion of the body, now."""
        raise NotImplementedError

    @property
    def rewinds(self) -> bool:
        """Whether the engine keeps snapshots, so that the session can go back."""
        return isinstance(self.plant, Rewindable)

    def snapshot(self) -> Kept:
        """The whole state. Only the plant is copied. An engine without snapshots has one of the start alone."""
        if not self.rewinds and self.ticks:
            raise InputError(self._no_rewind())
        return Kept(
            self.ticks,
            self.plant.snapshot() if self.rewinds else None,
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
        """Continue from a snapshot of this session. Records after the snapshot are dropped."""
        self.ticks, self.console, self.watch, self.stopped = kept.ticks, kept.console, kept.watch, ""
        self._calibration_ends = False
        if kept.plant is None:
            self.plant.reset()
        else:
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
        """Go back to a time (s). From there everything repeats to the bit, unless something is changed."""
        if not self.rewinds:
            raise InputError(self._no_rewind())
        if not math.isfinite(to_s):
            raise InputError(f"cannot rewind to {to_s} s; give a time from 0 to {self.t_s:g} s")
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
        """Return to the start."""
        self._posted = []
        self.restore(self.started)
        self._done = []

    def begin_history(self) -> None:
        """Rewinds go back to this time at most: earlier states cannot be restored any more."""
        self._history.clear()
        self._done = []
        self._remember()

    def _no_rewind(self) -> str:
        return (
            f'the engine "{self.scenario.engine}" keeps no snapshots, so that this session has no rewind; reset goes '
            "back to the start"
        )

    def _remember(self) -> None:
        if not self.rewinds:
            return
        if not self._history or self._history[-1].ticks < self.ticks:
            self._history.append(self.snapshot())
            first = self._history[0].ticks
            if self._done and self._done[0][0] < first:
                self._done = [item for item in self._done if item[0] >= first]

    def forget_before(self, t_s: float) -> None:
        """Drop records before a time; those that a rewind needs are kept."""
        if self._history:
            t_s = min(t_s, self._history[0].ticks / self.base_hz)
        control_hz = self.base_hz / self._control_every
        since = max(0.0, self.t_s - t_s)
        for rows, hz in ((self.signals, control_hz), (self.body, control_hz)):
            rows.forget(len(rows) - math.ceil(since * hz))
        for sensor in self.sensors:
            sensor.forget(since)
