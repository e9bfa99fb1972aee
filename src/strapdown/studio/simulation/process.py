"""The process of the simulation: it owns the clock, carries out commands between cycles, and sends numbers on.

To the server go plain tuples: ("say", client or None, message), ("stage", ...), ("rows", ...), ("cut", ...),
("file", ...). From the server come ("do", client, command), ("file", number, what, query) and ("stop",).
"""

import gc
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.devices.link import ports
from strapdown.environment.diagram.kinds import builtin, load_blocks
from strapdown.environment.diagram.problem import DiagramError
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.scenario.file import read_scenario
from strapdown.errors import InputError, StrapdownError
from strapdown.studio import messages as m
from strapdown.studio.buffers import FRAME_HZ, PAUSED_HZ, SLOW_HZ
from strapdown.studio.calibration.guided import Bench
from strapdown.studio.messages import commands as c
from strapdown.studio.messages import frame
from strapdown.studio.server.files_of_user import save_text
from strapdown.studio.server.simulation_process import Settings
from strapdown.studio.simulation.campaign import CampaignFolder
from strapdown.studio.simulation.choices import Choices, own_files
from strapdown.studio.simulation.downloads import Downloads
from strapdown.studio.simulation.hello import hello_of
from strapdown.studio.simulation.opening import DeviceOpener
from strapdown.studio.simulation.outbox import Outbox
from strapdown.studio.simulation.pace_clock import PaceClock
from strapdown.studio.simulation.recorder import Recorder
from strapdown.studio.simulation.report import report_of
from strapdown.studio.simulation.takes import Takes
from strapdown.studio.simulation.worker import Worker
from strapdown.studio.stage.device_stage import REFUSAL, DeviceStage
from strapdown.studio.stage.live_stage import LiveStage, problem_list
from strapdown.studio.stage.replay_stage import ReplayStage
from strapdown.studio.stage.stage_messages import StageMessages

_BIT = {name: 1 << i for i, name in enumerate(frame.STATES)}
_BUDGET_S = 0.04  # of one frame: then commands are looked at again
_FORGET_S = 2.0  # how often old readings are dropped
_NOT_OF_A_DEVICE = (c.Run, c.Step, c.Speed, c.Reset, c.ContinueFrom, c.GetReport)


class Simulation:
    def __init__(self, link: Connection, settings: Settings) -> None:
        self._link, self._settings = link, settings
        self._out, self._clock = Outbox(link), PaceClock()
        kinds = builtin()
        for file in settings.blocks:
            kinds = load_blocks(file, kinds)
        self._worker = Worker()
        uploads, work = settings.scratch / "uploads", settings.scratch / "work"
        for folder in (uploads, work):
            folder.mkdir(exist_ok=True)
        self.choices = Choices(own_files(settings.opened), uploads, kinds, settings.buffers.history_s)
        self._takes = Takes(work, settings.buffers.takes, self._worker)
        self._downloads = Downloads(work, self._worker, self._takes)
        self._recorder = Recorder(work, self._worker, settings.buffers.record_s)
        self._turntable = Bench(self._worker)
        self._bench: Any = self._turntable
        self._opener = DeviceOpener(work, self._worker)
        self._campaign = CampaignFolder(settings.campaign, work, settings.buffers.history_s)
        self.stage: Any = None
        self._running = False
        self._ended = False
        self._about = StageMessages(self._out, settings.buffers.events)
        self._said: dict[str, Any] = {}
        self._new_clock()
        self._kinds = kinds
        self._say(hello_of(self.choices.listed(), kinds, settings))

    def begin(self) -> None:
        """Open the choice of the command line. Without one, load the code that every session needs, so that opening one
        is quick.
        """
        opened = self._settings.opened
        if self._settings.device is not None:
            self._do(0, c.Open(type="open", device=self._settings.device, baud=self._settings.baud))
            return
        if self._settings.run is not None:
            self._do(0, c.OpenRun(type="open_run", key=self._settings.run))
            return
        if opened is not None and not opened.is_dir():
            self._do(0, c.Open(type="open", choice=opened.name))
            return
        stage = LiveStage(read_scenario("quadcopter"), None, self._kinds)
        stage.advance(0.1, lambda _: None, lambda: False)

    # the loop

    def loop(self) -> None:
        due = slow = forget = time.perf_counter()
        while not self._ended:
            now = time.perf_counter()
            if self._link.poll(max(0.0, due - now)):
                self._receive(self._link.recv())
                if time.perf_counter() < due:
                    continue
            self._device_opened()
            now = time.perf_counter()
            if self._running and self.stage is not None:
                self._advance(now)
            self._frame()
            if now >= slow:
                self._slow()
                slow = now + 1.0 / SLOW_HZ
            if now >= forget:
                self._forget()
                forget = now + _FORGET_S
            due += 1.0 / (FRAME_HZ if self._running else PAUSED_HZ)
            if due < time.perf_counter():
                due = time.perf_counter()
            if not self._running:
                due = min(due, time.perf_counter() + 1.0 / PAUSED_HZ)

    def _receive(self, message: Any) -> None:
        if message[0] == "do":
            self._do(message[1], message[2])
        elif message[0] == "file":
            self._file(*message[1:])
        elif message[0] == "stop":
            self._ended = True

    def _advance(self, now: float) -> None:
        stage = self.stage
        target = self._clock.due_s(now, stage.t_s)
        stop = now + _BUDGET_S
        stage.advance(min(target, stage.end_s), self._row, lambda: time.perf_counter() > stop)
        self._clock.reached(now, stage.t_s)
        if stage.stopped:
            self._set_running(False)
            self._say(m.Notice(level="error", text=f"The simulation stopped: {stage.stopped}"))
        elif stage.t_s >= stage.end_s - 1e-9:
            self._set_running(False)
            self._say(m.Notice(level="info", text=f"The end is reached at {stage.t_s:.2f} s."))

    def _row(self, t_s: float) -> None:
        self.stage.charts.fill(self._numbers)
        self._out.put_row(t_s, self._numbers, self.stage.poses())

    def _frame(self) -> None:
        stage = self.stage
        if stage is None:
            return
        estimate, own = stage.estimate()
        bits = sum(_BIT[name] for name, on in stage.state_bits().items() if on)
        bits |= _BIT["running"] * self._running | _BIT["estimates_position"] * own
        if self._recorder.from_s is not None:
            bits |= _BIT["recording"]
        factor = self._clock.factor() if self._running else 0.0
        numbers = (self._about.epoch, stage.t_s, factor, self._clock.speed, bits, self._takes.present, estimate)
        self._out.send_frame(numbers, stage.console(), stage.poses())
        self._new_events()

    def _new_clock(self) -> None:
        self._clock.restart(0.0 if self.stage is None else self.stage.t_s)
        self._out.forget_rows()

    def _set_running(self, on: bool) -> None:
        self._running = on
        self._frame()
        self._new_clock()

    def _slow(self) -> None:
        if self.stage is not None and self.stage.lights is not None:
            self._say_new(self.stage.lights.state())
        too_long, most = self.stage is not None and self._recorder.too_long(self.stage.t_s), self._recorder.most_s
        if isinstance(self.stage, DeviceStage):
            self._say_new(self.stage.device())
            too_long = self.stage.line.recorder is not None and self.stage.t_s - self.stage.recording_s > most
        if too_long:
            if isinstance(self.stage, DeviceStage):
                self.stage.record(False)
            else:
                self._recorder.end(self.stage.session)
            self._say(m.Notice(level="warning", text=f"Recording ended: {most:g} s are the longest possible."))
        self._about.rest(self.stage)
        news = self._bench.news()
        if news is not None:
            self._say(news)

    def _forget(self) -> None:
        if self.stage is not None:
            before = self.stage.t_s - self._settings.buffers.history_s
            if self._recorder.from_s is not None:
                before = min(before, self._recorder.from_s)
            if before > 0.0:
                self.stage.forget_before(before)

    # messages

    def _say(self, message: m.Part, client: int | None = None) -> None:
        self._out.say(message, client)

    def _say_new(self, message: Any) -> None:
        """Send a message if it differs from the last of its type."""
        if self._said.get(message.type) != message:
            self._said[message.type] = message
            self._say(message)

    def _new_events(self, whole: bool = False) -> None:
        self._about.events(self.stage, whole)

    def _send_signals(self, fresh: bool) -> None:
        """The list of signals.

        fresh: earlier samples do not belong to this list.
        """
        if not fresh:
            self._frame()
        self._numbers = np.empty(self.stage.charts.width)
        self._about.signals(self.stage, fresh)

    def _send_all(self) -> None:
        self._new_clock()
        self._said = {}
        self._about.begin(self.stage)
        self._send_signals(fresh=True)
        self._about.changed(self.stage, {"sensors", "diagram", "faults", "scene"}, at_once=True)
        self._say(self._takes.message())
        self._new_events(whole=True)

    def _send_changed(self, names: set[str], at_once: bool = False) -> None:
        if "signals" in names:
            self._send_signals(fresh=False)
        self._about.changed(self.stage, names, at_once)

    # commands

    def _do(self, client: int, command: Any) -> None:
        try:
            answer = self._carry_out(client, command)
        except DiagramError as error:
            answer = {"ok": False, "error": str(error), "problems": problem_list(error.problems)}
        except StrapdownError as error:
            answer = {"ok": False, "error": str(error)}
        except Exception as error:
            answer = {"ok": False, "error": _internal(error)}
        if client == 0 and answer and not answer.get("ok", True):
            self._say(m.Notice(level="error", text=answer["error"]))
        if command.id and answer is not None:
            self._say(m.Reply(**{"id": command.id, "ok": True, **answer}), client)

    def _carry_out(self, client: int, command: Any) -> dict[str, Any] | None:
        if isinstance(command, c.Open):
            return self._open(client, command)
        if isinstance(command, c.OpenRun):
            self._put_on(self._campaign.open(command.key))
            return {}
        if isinstance(command, c.GetCampaign):
            self._later(client, command, lambda: {"campaign": self._campaign.state(command.figure)})
            return None
        if isinstance(command, c.ListPorts):
            found = [m.SerialPort(port=p.device, description=p.description, converter=p.converter) for p in ports()]
            return {"ports": found}
        if self.stage is None:
            raise InputError("nothing is loaded; open a scenario first")
        if isinstance(self.stage, DeviceStage) and isinstance(command, _NOT_OF_A_DEVICE):
            raise InputError(REFUSAL)
        if isinstance(command, c.Run):
            if command.on and self.stage.stopped:
                raise InputError(f"the simulation stopped: {self.stage.stopped}; go back in time, or reset")
            if command.on and self.stage.t_s >= self.stage.end_s - 1e-9:
                raise InputError("the end is reached; go back in time, or reset")
            self._set_running(command.on)
        elif isinstance(command, c.Step):
            self._running = False
            to_s = self.stage.t_s + command.cycles * self.stage.control_s
            self.stage.advance(min(to_s, self.stage.end_s), self._row, lambda: False)
            self._frame()
            self._new_clock()
        elif isinstance(command, c.Speed):
            self._clock.speed = command.factor
            self._frame()
            self._new_clock()
        elif isinstance(command, c.Reset):
            self._back(0.0, reset=True)
        elif isinstance(command, c.ContinueFrom):
            self._back(command.t_s, reset=False)
        elif isinstance(command, c.Record):
            self._record(command.on)
        elif isinstance(command, c.Calibrate):
            return self._saved(command, self._calibrate(command))
        elif isinstance(command, c.GetReport):
            self._report(client, command)
            return None
        else:
            answer, changed = self.stage.do(command, client)
            self._send_changed(changed)
            self._new_events()
            return self._saved(command, answer)
        return {}

    def _saved(self, command: Any, answer: dict[str, Any]) -> dict[str, Any]:
        """A text that is requested with a name is also saved in the folder."""
        name = getattr(command, "name", None)
        if isinstance(command, c.WriteDiagram | c.Calibrate) and name is not None and "text" in answer:
            return {**answer, "file": save_text(self._settings.folder, name, answer["text"], (".toml",))}
        return answer

    def _open(self, client: int, command: c.Open) -> dict[str, Any] | None:
        """Load another stage. A module answers later: _device_opened shows its stage."""
        if command.device is None:
            self._put_on(self.choices.open(command.choice, command.upload, command.seed, command.script))
            return {}
        if isinstance(self.stage, DeviceStage) and self.stage.port == command.device.strip():
            self.stage.close()  # the port is opened anew
        self._opener.begin(client, command, _internal)
        return None

    def _device_opened(self) -> None:
        found = self._opener.done()
        if found is None:
            return
        client, command, stage, error = found
        if stage is not None:
            self._put_on(stage)
        elif client == 0:
            self._say(m.Notice(level="error", text=error))
        if command.id:
            self._say(m.Reply(id=command.id, ok=stage is not None, error=error), client)

    def _put_on(self, stage: Any) -> None:
        if self.stage is not None:
            self.stage.close()
        self.stage = stage
        self._takes.clear()
        self._turntable.close()
        self._bench = stage.bench if isinstance(stage, DeviceStage) else self._turntable
        self._recorder.clear()
        self._clock.speed = 1.0
        self._running = False
        gc.collect()
        gc.freeze()  # what is loaded stays: the collector need not look at it again
        self._send_all()
        self._set_running(True)

    def _back(self, to_s: float, reset: bool) -> None:
        stage = self.stage
        self._frame()
        end_s = stage.t_s
        kept = None
        if isinstance(stage, LiveStage) and end_s > 0.0 and to_s < end_s:
            kept = recording_of(stage.session)
        was = self._running
        if reset:
            stage.reset()
        else:
            stage.rewind(to_s)
        if kept is not None:
            self._say(self._takes.keep(kept, to_s, end_s))
            self._recorder.rewound(to_s)
        self._out.send(("cut", stage.t_s, self._takes.present - 1))
        stage.look_again()
        self._send_changed({"signals", "session", "sensors", "diagram", "faults", "scene"}, at_once=True)
        self._new_events(whole=True)
        self._set_running(was)

    def _record(self, on: bool) -> None:
        if isinstance(self.stage, DeviceStage):
            self.stage.record(on)
            return
        if not isinstance(self.stage, LiveStage):
            raise InputError("a recording is replayed; it is on disk already")
        if on:
            self._recorder.begin(self.stage.t_s)
        else:
            self._recorder.end(self.stage.session)

    def _calibrate(self, command: c.Calibrate) -> dict[str, Any]:
        if isinstance(self.stage, ReplayStage):
            raise InputError("a recording is replayed; open a scenario to calibrate its virtual sensors")
        answer = self._bench.do(command, getattr(self.stage, "session", None))
        news = self._bench.news()
        if news is not None:
            self._say(news)
        return answer

    def _report(self, client: int, command: c.GetReport) -> None:
        """Make the report in the worker: figures of a long run take a while."""
        if not isinstance(self.stage, LiveStage):
            raise InputError("a recording is replayed; use strapdown orient for a report of it")
        session = self.stage.session
        modules = {s.name: s.module for s in session.sensors if hasattr(s, "module")}
        run = recording_of(session) if command.take is None else None
        takes, scenario = self._takes, session.scenario

        def answer() -> dict[str, Any]:
            found = run if run is not None else takes.recording(int(command.take or 0))
            return {"report": report_of(found, scenario, modules, command.take)}

        self._later(client, command, answer)

    def _later(self, client: int, command: Any, answer: Callable[[], dict[str, Any]]) -> None:
        """Reply when the worker has the answer."""

        def work() -> None:
            try:
                reply = m.Reply(id=command.id, ok=True, **answer())
            except StrapdownError as error:
                reply = m.Reply(id=command.id, ok=False, error=str(error))
            except Exception as error:
                reply = m.Reply(id=command.id, ok=False, error=_internal(error))
            self._say(reply, client)

        self._worker.submit(work)

    def _file(self, number: int, what: str, query: dict[str, str]) -> None:
        def done(path: Path | None, name: str, error: str) -> None:
            self._out.send(("file", number, None if path is None else str(path), name, error))

        try:
            self._downloads.make(what, query, self.stage, self._recorder, done)
        except StrapdownError as error:
            done(None, "", str(error))
        except Exception as error:
            done(None, "", _internal(error))

    def close(self) -> str:
        """End: keep the recording. Returns a sentence on where it is, or ""."""
        said = ""
        if isinstance(self.stage, LiveStage):
            said = self._downloads.keep(self.stage.session, self._recorder, self._settings.folder or Path.cwd())
        if self.stage is not None:
            self.stage.close()
        if isinstance(self.stage, DeviceStage):
            said = self.stage.keep(self._settings.folder or Path.cwd())
        self._opener.close()
        self._worker.shutdown(wait=True)
        return said


def _internal(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return f"internal error ({text}); please report it"
