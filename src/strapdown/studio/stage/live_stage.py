"""A session on the stage: it advances, gives rows of numbers and poses, and carries out commands of a page."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.diagram.checking.check import analysed
from strapdown.environment.diagram.file import Diagram, diagram_from, diagram_from_text, diagram_text
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.problem import Problem
from strapdown.environment.session import commands as to_session
from strapdown.environment.session.events import SessionEvent
from strapdown.environment.session.live_sensors import ModuleSensor
from strapdown.environment.session.rates import rates_of
from strapdown.environment.session.scenario.file import Scenario
from strapdown.environment.session.session import Session, SessionStopped
from strapdown.environment.session.wiring import sensor_for
from strapdown.studio import messages as m
from strapdown.studio.buffers import CHART_HZ
from strapdown.studio.messages import commands as c
from strapdown.studio.messages import frame
from strapdown.studio.stage import session_state
from strapdown.studio.stage.chart_signals import session_signals
from strapdown.studio.stage.diagram_state import diagram_state, plain_diagram
from strapdown.studio.stage.lights import Lights
from strapdown.studio.stage.sensor_commands import do_to_sensors

Answer = dict[str, Any]  # fields of a Reply
_NO_POSE = (math.nan,) * 7


class LiveStage:
    """A scenario that is operated by hand; with `script` its pilot script and its planned faults are carried out."""

    mode = "live"

    def __init__(
        self,
        scenario: Scenario,
        choice: str | None,
        kinds: Kinds,
        seed: int | None = None,
        script: bool = False,
        diagram: Diagram | None = None,
    ) -> None:
        self.choice, self.script, self.kinds = choice, script, kinds
        played = scenario if script else scenario.model_copy(update={"pilot": (), "pilot_recording": None, "fault": ()})
        self._make(played, seed, diagram)

    def _make(self, scenario: Scenario, seed: int | None, diagram: Diagram | None) -> None:
        self.session = Session(scenario, seed=seed, kinds=self.kinds, diagram=diagram)
        self.originals = {s.name: s.module for s in self.session.sensors if isinstance(s, ModuleSensor)}
        self._same_sensors = True
        self.revision, self._by = 1, 0
        self._chart_every = max(1, round(self.session.base_hz / CHART_HZ))
        self._bodies = np.empty((len(self.session.plant.scene()["bodies"]), 7))
        self.look_again()

    def look_again(self) -> None:
        """After the diagram or the sensors changed: make signals and lights again."""
        self.charts = session_signals(self.session)
        self.lights = Lights(self.session)
        self._operated = session_state.controls(self.session), session_state.sliders(self.session)

    # time

    @property
    def t_s(self) -> float:
        return self.session.t_s

    @property
    def end_s(self) -> float:
        """Time at which it stops automatically."""
        return self.session.scenario.duration_s if self.script else math.inf

    @property
    def stopped(self) -> str:
        return self.session.stopped

    @property
    def control_s(self) -> float:
        return 1.0 / self.session.runner.diagram.control_hz

    def advance(self, to_s: float, row: Callable[[float], None], until: Callable[[], bool]) -> None:
        """Run cycles up to a time; `row` is called at every chart sample.

        until: true if it is time to stop.
        """
        session, every = self.session, self._chart_every
        end = math.floor(to_s * session.base_hz + 1e-6)
        try:
            while session.ticks < end:
                before = session.ticks // every
                session.tick()
                if session.ticks // every != before:
                    self.lights.look()
                    row(session.t_s)
                    if until():
                        return
        except SessionStopped:
            return
        except Exception as error:  # an internal error must not end the studio
            session.stopped = " ".join(f"internal error ({type(error).__name__}: {error}); please report it".split())[
                :400
            ]
            session.events.append(SessionEvent(session.t_s, "stopped", {"reason": session.stopped}))

    def rewind(self, to_s: float) -> None:
        before = self.session.runner.diagram
        self.session.rewind(to_s)
        if self.session.runner.diagram is not before:
            self._changed_diagram(0)

    def reset(self) -> None:
        """Return to the start, with the present diagram, sensors and their errors."""
        session = self.session
        diagram = session.runner.diagram
        if not self._same_sensors:
            self._make(session.scenario, session.seed, diagram)
            return
        modules = {s.name: s.module for s in session.sensors if isinstance(s, ModuleSensor)}
        session.reset()
        session.events.clear()
        if session.runner.diagram is not diagram:
            session.act(to_session.SetDiagram(diagram))
            session.events.clear()
        for sensor in session.sensors:
            if isinstance(sensor, ModuleSensor) and sensor.module is not modules[sensor.name]:
                sensor.use(modules[sensor.name])

    # what a frame shows

    def poses(self) -> Array:
        self.session.plant.poses(self._bodies)
        return self._bodies

    def estimate(self) -> tuple[tuple[float, ...], bool]:
        """Pose by the vehicle's own estimate, and whether its position is estimated."""
        session = self.session
        names = session.wiring.estimate
        q = session.runner.value(names["attitude"]) if "attitude" in names else None
        if q is None or not abs(float(q @ q) - 1.0) < 1e-3:
            return _NO_POSE, False
        p = session.runner.value(names["position"]) if "position" in names else None
        own = p is not None and bool(np.isfinite(p).all())
        place = p.tolist() if own and p is not None else session.truth[0:3].tolist()
        return (*place, *q.tolist()), own

    def state_bits(self) -> dict[str, bool]:
        console = self.session.console
        return {
            "powered": console.power > 0.5,
            "calibrating": console.calibrate > 0.5,
            "armed": console.arm > 0.5,
            "airborne": self.session.watch.airborne,
            "stopped": bool(self.session.stopped),
        }

    def console(self) -> tuple[float, ...]:
        return tuple(float(getattr(self.session.console, name)) for name in frame.CONSOLE)

    def forget_before(self, t_s: float) -> None:
        self.session.forget_before(t_s)

    def close(self) -> None:
        """Nothing is open."""

    # messages

    def about(self, started: int) -> m.Session:
        return session_state.about(self.session, self.choice, self.script, started)

    def diagram(self) -> m.DiagramState | None:
        return diagram_state(self.session.runner, self.kinds, self.revision, self._by)

    def sensors(self) -> m.Sensors:
        return session_state.sensors(self.session, self.originals)

    def faults(self) -> m.Faults:
        return session_state.faults(self.session)

    def scene(self) -> m.SceneState:
        return session_state.scene_state(self.session)

    def events(self) -> list[SessionEvent]:
        return self.session.events

    # commands

    def do(self, command: Any, client: int) -> tuple[Answer, set[str]]:
        """Carry out a command: fields of the reply, and the messages that have changed. InputError: nothing did."""
        act = self.session.act
        if isinstance(command, c.SetConsole):
            events = act(to_session.SetConsole(dict(command.changes)))
            refused = [event.data["reason"] for event in events if event.kind == "refused"]
            return ({"ok": False, "error": refused[0]} if refused else {}), set()
        if isinstance(command, c.Sticks):
            changes = command.model_dump(exclude={"id", "type"}, exclude_none=True)
            if changes:
                act(to_session.SetConsole(changes))
            return {}, set()
        if isinstance(command, c.SetParameters):
            act(to_session.SetParameters(command.block, dict(command.changes)))
            return {}, self._changed_diagram(client)
        if isinstance(command, c.CheckDiagram):
            return {"problems": self._problems(self._read(command.diagram))}, set()
        if isinstance(command, c.ApplyDiagram):
            act(to_session.SetDiagram(self._read(command.diagram)))
            return {}, self._changed_diagram(client)
        if isinstance(command, c.ReadDiagram):
            diagram = diagram_from_text(command.text)
            return {"diagram": plain_diagram(diagram, self.kinds), "problems": self._problems(diagram)}, set()
        if isinstance(command, c.WriteDiagram):
            return {"text": diagram_text(self._read(command.diagram)), "file": "diagram.toml"}, set()
        if isinstance(command, c.Push):
            act(to_session.Push(command.link, command.force_n, command.torque_n, command.for_s))
            return {}, set()
        if isinstance(command, c.SetScene):
            act(to_session.SetScene(dict(command.changes)))
            return {}, {"scene"}
        if isinstance(command, c.Mark):
            self.session.events.append(SessionEvent(self.t_s, "mark", {"text": command.text}))
            return {}, set()
        return do_to_sensors(self, command)

    def _changed_diagram(self, client: int) -> set[str]:
        self.revision, self._by = self.revision + 1, client
        before = self.charts.signals, self._operated
        self.look_again()
        changed = {"diagram"}
        if self.charts.signals != before[0]:
            changed.add("signals")
        if self._operated != before[1]:
            changed.add("session")
        return changed

    def changed_sensors(self) -> set[str]:
        """The set of sensors has changed: returns the messages that change with it."""
        self._same_sensors = False
        for sensor in self.session.sensors:
            if isinstance(sensor, ModuleSensor) and sensor.name not in self.originals:
                self.originals[sensor.name] = sensor.module
        self.look_again()
        return {"sensors", "signals", "faults", "diagram"}

    def remember_originals(self, name: str) -> None:
        """Store the present errors of a sensor as the original ones."""
        for sensor in self.session.sensors:
            if isinstance(sensor, ModuleSensor) and sensor.name == name:
                self.originals[name] = sensor.module

    def _read(self, plain: dict[str, Any]) -> Diagram:
        return diagram_from(plain)

    def _problems(self, diagram: Diagram) -> list[m.ProblemInfo]:
        session = self.session
        rates = rates_of(self.kinds, lambda kind, name: sensor_for(session.sensors, kind, name))
        problems, plan = analysed(diagram, self.kinds, session.base_hz, rates=rates)
        if plan is not None and plan.base_hz != session.runner.plan.base_hz:
            problems = [
                Problem("rate", "", "", f"base_hz is {plan.base_hz:g}; the session runs at {session.base_hz:g}")
            ]
        return problem_list(problems)


def problem_list(problems: Any) -> list[m.ProblemInfo]:
    return [m.ProblemInfo(kind=p.kind, block=p.block, place=p.place, message=p.message) for p in problems]
