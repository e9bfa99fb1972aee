"""A live module on the stage: its readings as they arrive, with an attitude estimated from them. There is no truth."""

import math
import shutil
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.calibration_file import read_calibration, write_calibration
from strapdown.calibration.live import LiveCalibration
from strapdown.devices.home import calibration_file
from strapdown.devices.link import BAUD, is_address
from strapdown.devices.protocol.messages import MAG_WRONG
from strapdown.devices.protocol.stream import Stamped
from strapdown.devices.protocol.units import meta_of
from strapdown.environment.session.events import SessionEvent
from strapdown.errors import InputError
from strapdown.live import Belief, Start
from strapdown.orientation.catalogue import filter_by_name
from strapdown.studio import messages as m
from strapdown.studio.buffers import CHART_HZ
from strapdown.studio.calibration.by_hand import HandBench
from strapdown.studio.calibration.by_hand_fit import MeasuredModule
from strapdown.studio.messages import commands as c
from strapdown.studio.messages import frame
from strapdown.studio.stage import device_state
from strapdown.studio.stage.device_line import DeviceLine
from strapdown.studio.stage.device_signals import device_signals

FILTER = "lodestar"
NAME = "module"
_ANEW_S = 1.0  # after such a gap the attitude is not known any more, and the lines of charts are broken
_MOST_EVENTS = 2000
_FACTS_S = 1.0
_LOST_S = 2.0  # between two events of lost samples; all of them are counted
_HEIGHT_M = 0.12  # of the picture above the ground
_NO_POSE = (math.nan,) * 7
REFUSAL = "a live module goes on by itself; it cannot be paused, stepped, sped up or taken back in time"


class DeviceStage:
    """The stage of a real module.

    name: name of the port.
    folder: a private folder, for recordings.

    Raises InputError if no module answers there.
    """

    mode = "device"
    end_s = math.inf
    control_s = 1.0 / CHART_HZ

    def __init__(self, name: str, folder: Path, worker: Executor, baud: int | None = None) -> None:
        if not is_address(name):  # whoever is at the page must not open files of this computer
            raise InputError(
                f"{name[:80]} is no address of a module; give a port like /dev/ttyUSB0, or tcp://host:port"
            )
        self.port, self._folder = name, folder
        self.line = DeviceLine(name, baud or BAUD)
        hello = self.line.source.stream.hello
        assert hello is not None
        self.hello, self.meta = hello, meta_of(hello)
        self.t_s = 0.0
        self.first_s: float | None = None
        self._last: Stamped | None = None
        self.belief: Belief | None = None
        self._filter = filter_by_name(FILTER)
        self._state: Any = None
        self._events: list[SessionEvent] = []
        self.recorded: Path | None = None
        self.lights = device_state.DeviceLights(self)
        self._blank = self._away = False
        self._lost_s = -math.inf
        self._failed = ""
        self._facts: m.Device | None = None
        self._facts_s = self.recording_s = 0.0
        self.note = ""
        self._use(self._kept())
        module = MeasuredModule(
            NAME, hello.serial, float(hello.rate_hz), bool(hello.mag_per_gauss), self.meta, self.calibration
        )
        self.bench = HandBench(worker, module, self._save)
        self.look_again()

    def _kept(self) -> Calibration | None:
        path = calibration_file(self.hello.serial)
        if not path.is_file():
            return None
        try:
            return read_calibration(path)
        except InputError as error:
            self.note = f"The calibration of this module cannot be used: {error}"
            return None

    def _use(self, calibration: Calibration | None) -> None:
        self.calibration = calibration
        self._corrected = None if calibration is None else LiveCalibration(calibration)

    def _save(self, calibration: Calibration) -> None:
        """Save the calibration under the serial number, and use it from now on."""
        path = calibration_file(self.hello.serial)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_calibration(path, calibration)
        self._use(calibration)
        self._state = None
        self._events.append(SessionEvent(self.t_s, "mark", {"text": "calibration saved"}))

    # time

    @property
    def stopped(self) -> str:
        failed = self._failed or self.line.failed
        return failed and f"internal error ({failed}); open the module again and report it"

    def advance(self, to_s: float, row: Callable[[float], None], until: Callable[[], bool]) -> None:
        """Take the samples that have arrived, whatever the clock of the studio is."""
        self._news()
        arrived = self.line.arrived
        while arrived:
            stamped = arrived.popleft()
            before = math.floor(self.t_s * CHART_HZ + 1e-6) if self._last is not None else -1
            gap_s = 0.0 if self._last is None else stamped.module_s - self._last.module_s
            if gap_s > _ANEW_S:
                self._blank = True
                row(self.t_s + 1.0 / CHART_HZ)
                self._blank = False
            try:
                self._take(stamped, gap_s)
            except Exception as error:  # an internal error must not end the studio
                self._failed = " ".join(f"{type(error).__name__}: {error}".split())[:300]
                return
            if math.floor(self.t_s * CHART_HZ + 1e-6) != before:
                row(self.t_s)
                if until():
                    return

    def _take(self, stamped: Stamped, gap_s: float) -> None:
        if self.first_s is None:
            self.first_s = stamped.module_s
        self._last, self.t_s = stamped, stamped.module_s - self.first_s
        if self._away:
            self._away = False
            self._events.append(SessionEvent(self.t_s, "fault_ends", {"name": "port"}))
        sample = stamped.sample
        used = sample if self._corrected is None else self._corrected.corrected(sample)
        if self._state is None or gap_s > _ANEW_S:
            self._state = self._filter.start(Start(step_s=1.0 / max(self.hello.rate_hz, 1)))
        self._state = self._filter.step(self._state, used)
        self.belief = self._filter.belief(self._state)
        self.used = used
        self.lights.look(stamped, self.belief.flags)
        self.bench.put(sample, self.belief.q_nb)

    def _news(self) -> None:
        """Events of the line, for the timeline."""
        happened = self.line.happened
        while happened:
            event = happened.popleft()
            if event.kind == "vanished":
                self._away = True
                data = {"name": "port", "fault": {"kind": "port vanished", "sensor": NAME}}
                self._events.append(SessionEvent(self.t_s, "fault", data))
            elif event.kind != "lost" or self.t_s - self._lost_s > _LOST_S:
                self._lost_s = self.t_s if event.kind == "lost" else self._lost_s
                self._events.append(SessionEvent(self.t_s, "mark", {"text": event.text}))
        if len(self._events) > 2 * _MOST_EVENTS:
            del self._events[:_MOST_EVENTS]

    def rewind(self, to_s: float) -> None:
        raise InputError(REFUSAL)

    def reset(self) -> None:
        raise InputError(REFUSAL)

    def look_again(self) -> None:
        self.charts = device_signals(self)

    def forget_before(self, t_s: float) -> None:
        """No records are kept here."""

    def close(self) -> None:
        if self.line.recorder is not None:
            self.record(False)
        self.line.close()

    # what a frame shows

    @property
    def last(self) -> Stamped | None:
        """The newest sample; None: there is none yet, or the charts get a gap."""
        return None if self._blank else self._last

    def poses(self) -> Array:
        q = (1.0, 0.0, 0.0, 0.0) if self.belief is None else self.belief.q_nb.tolist()
        return np.array([(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (0.0, 0.0, _HEIGHT_M, *q)])

    def estimate(self) -> tuple[tuple[float, ...], bool]:
        if self.belief is None:
            return _NO_POSE, False
        return (0.0, 0.0, _HEIGHT_M, *self.belief.q_nb.tolist()), False

    def state_bits(self) -> dict[str, bool]:
        return {"powered": True, "stopped": bool(self.stopped), "recording": self.line.recorder is not None}

    def console(self) -> tuple[float, ...]:
        return (1.0,) + (0.0,) * (len(frame.CONSOLE) - 1)

    @property
    def mag_wrong(self) -> bool:
        return self._last is not None and bool(self._last.readings.flags & MAG_WRONG)

    # messages

    def about(self, started: int) -> m.Session:
        return device_state.about(self, started)

    def device(self) -> m.Device:
        """The figures of a module change all the time: once a second is enough, and at once when the port vanishes or
        returns.
        """
        now, connected = time.monotonic(), self.line.source.link.connected
        if self._facts is None or now - self._facts_s >= _FACTS_S or connected != self._facts.connected:
            self._facts, self._facts_s = device_state.device(self), now
        return self._facts

    def sensors(self) -> m.Sensors:
        return device_state.sensors(self)

    def diagram(self) -> None:
        return None

    def faults(self) -> m.Faults:
        return m.Faults(faults={})

    def scene(self) -> m.SceneState:
        return m.SceneState(values={}, gravity_m_s2=9.80665, field_n=[0.0, 0.0, 0.0])

    def events(self) -> list[SessionEvent]:
        return self._events

    # recording

    def record(self, on: bool) -> None:
        if on:
            self.line.record(self._folder)
            self.recording_s = self.t_s
            return
        self.recorded = self.line.end_recording()
        if self.recorded is None:
            raise InputError("no sample has arrived since the recording began; nothing was recorded")

    def keep(self, folder: Path) -> str:
        """At the end: put the recording into the user's folder. Returns a sentence on it; "" if nothing was
        recorded.
        """
        if self.recorded is None:
            return ""
        target = folder / f"strapdown-studio-{time.strftime('%Y%m%d-%H%M%S')}"
        try:
            target.mkdir()
            shutil.copy2(self.recorded, target / self.recorded.name)
        except OSError as error:
            return f"the recording could not be kept: {error}"
        return f"the recording is {target / self.recorded.name}"

    # commands

    def do(self, command: Any, client: int) -> tuple[dict[str, Any], set[str]]:
        if isinstance(command, c.Mark):
            self._events.append(SessionEvent(self.t_s, "mark", {"text": command.text}))
            return {}, set()
        raise InputError("a live module has no virtual sensors, vehicle or diagram; open a scenario to change them")
