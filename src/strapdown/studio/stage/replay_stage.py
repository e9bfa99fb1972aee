"""A recording on the stage: played back, with an attitude estimated from it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from strapdown import io
from strapdown.arrays import Array
from strapdown.environment.session.events import SessionEvent
from strapdown.errors import InputError
from strapdown.rotation import wrap
from strapdown.studio import messages as m
from strapdown.studio.buffers import CHART_HZ
from strapdown.studio.messages import commands as c
from strapdown.studio.messages import frame
from strapdown.studio.stage.chart_signals import ANGLES, DEG, ChartSignals, attitude_angles
from strapdown.types import Recording

FILTER = "lodestar"
_FIELDS = {"accelerometer": ("acc_s", "m/s2"), "gyroscope": ("gyr_s", "rad/s"), "magnetometer": ("mag_s", "uT")}
_BOX = [0.12, 0.08, 0.02]  # m, half lengths of the box that stands for the sensor


class ReplayStage:
    """A file with a recording. If there are several sensors, the first with accelerometer and gyroscope is played."""

    mode = "replay"
    lights = None
    stopped = ""
    control_s = 1.0 / CHART_HZ

    def __init__(self, path: Path, choice: str) -> None:
        found = io.read(path)
        good = [name for name, log in found.items() if log.acc_s is not None and log.gyr_s is not None]
        if not good:
            raise InputError(f"{path.name}: no sensor has an accelerometer and a gyroscope; nothing can be replayed")
        self.name, self.choice = good[0], choice
        self.log: Recording = found[self.name]
        self._t = self.log.t - self.log.t[0]
        self.end_s = float(self._t[-1])
        self.t_s = 0.0
        self._marks: list[SessionEvent] = []
        self.note = ""
        try:
            self._estimate: Array | None = _filtered(self.log)
        except InputError as error:
            self._estimate, self.note = None, f"No attitude was estimated: {error}"
        self.charts = self._signals()
        self._poses = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]] * 2)

    def _row(self) -> int:
        return int(np.clip(np.searchsorted(self._t, self.t_s + 1e-9, side="right") - 1, 0, len(self._t) - 1))

    def _signals(self) -> ChartSignals:
        found, log = ChartSignals(), self.log
        readings = []
        for instrument, (field, unit) in _FIELDS.items():
            values = getattr(log, field)
            if values is not None:
                name = f"sensor/{self.name}/{instrument}"
                place = found.add(name, instrument.capitalize(), "Sensors", "reading", unit, (3,), frame="s")
                readings.append((place, values))
                found.charts.append(m.Chart(title=instrument.capitalize(), signals=[name]))
        if log.temperature is not None:
            place = found.add(f"sensor/{self.name}/temperature", "Temperature", "Sensors", "reading", "°C")
            readings.append((place, log.temperature))
        angles = []
        if log.truth is not None:
            place = found.add("truth/attitude", "True attitude", "Attitude", "truth", "deg", (3,), labels=ANGLES)
            angles.append((place, log.truth.q_nb))
        error = None
        if self._estimate is not None:
            place = found.add(
                "estimate/attitude", f"Attitude by {FILTER}", "Attitude", "estimate", "deg", (3,), labels=ANGLES
            )
            angles.append((place, self._estimate))
            if log.truth is not None:
                error = found.add("error/attitude", "Attitude error", "Attitude", "error", "deg", (3,), labels=ANGLES)
        names: list[str] = [name for name in ("estimate/attitude", "truth/attitude") if name in found.places]
        if names:
            found.charts.append(m.Chart(title="Attitude", signals=names))
        if error is not None:
            found.charts.append(m.Chart(title="Attitude error", signals=["error/attitude"]))

        def fill(row: Array) -> None:
            i = self._row()
            for place, values in readings:
                row[place] = values[i]
            for place, q in angles:
                row[place] = attitude_angles(q[i])
            if error is not None:
                row[error] = wrap((row[angles[1][0]] - row[angles[0][0]]) / DEG) * DEG

        found.filled_by(fill)
        return found

    # time

    def advance(self, to_s: float, row: Callable[[float], None], until: Callable[[], bool]) -> None:
        end = min(to_s, self.end_s)
        n = math.floor(self.t_s * CHART_HZ + 1e-6)
        while (n + 1) / CHART_HZ <= end:
            n += 1
            self.t_s = n / CHART_HZ
            row(self.t_s)
            if until():
                return
        if end >= self.end_s and to_s >= self.end_s:
            self.t_s = self.end_s

    def rewind(self, to_s: float) -> None:
        if to_s > self.end_s:
            raise InputError(f"the recording ends at {self.end_s:.2f} s; give an earlier time")
        self.t_s = math.floor(to_s * CHART_HZ) / CHART_HZ

    def reset(self) -> None:
        self.t_s = 0.0

    def look_again(self) -> None:
        pass

    def forget_before(self, t_s: float) -> None:
        """The recording stays."""

    def close(self) -> None:
        """Nothing is open."""

    # what a frame shows

    def poses(self) -> Array:
        i, truth = self._row(), self.log.truth
        if truth is not None:
            self._poses[1] = (*truth.p_n[i], *truth.q_nb[i])
        elif self._estimate is not None:
            self._poses[1, 3:] = self._estimate[i]
        return self._poses

    def estimate(self) -> tuple[tuple[float, ...], bool]:
        if self._estimate is None:
            return (math.nan,) * 7, False
        return (*self._poses[1, :3].tolist(), *self._estimate[self._row()].tolist()), False

    def state_bits(self) -> dict[str, bool]:
        return {"powered": True}

    def console(self) -> tuple[float, ...]:
        return (1.0,) + (0.0,) * (len(frame.CONSOLE) - 1)

    # messages

    def about(self, started: int) -> m.Session:
        plain: dict[str, Any] = {"rgba": [0.55, 0.6, 0.65, 1.0], "pos": [0.0] * 3, "quat": [1.0, 0.0, 0.0, 0.0]}
        ground = m.Geom(name="ground", type="plane", size=[0.0, 0.0, 0.05], **plain)
        box = m.Geom(name="sensor", type="box", size=_BOX, **plain)
        return m.Session(
            mode="replay",
            choice=self.choice,
            title=f"{self.choice}, {self.name}",
            comment=self.note,
            vehicle=self.name,
            vehicle_title=f"Recording of {self.name}",
            vehicle_kind="recording",
            seed=0,
            duration_s=self.end_s,
            script=True,
            start_s=0.0,
            bodies=[
                m.Body(name="world", parent=None, geoms=[ground]),
                m.Body(name=self.name, parent=0, geoms=[box]),
            ],
            body=1,
            links=[self.name],
            actuators=[],
            controls=[],
            sliders=[],
            started=started,
        )

    def diagram(self) -> None:
        return None

    def sensors(self) -> m.Sensors:
        return m.Sensors(sensors=[])

    def faults(self) -> m.Faults:
        return m.Faults(faults={})

    def scene(self) -> m.SceneState:
        field = self.log.meta.get("magnetic_field_n_ut")
        known = isinstance(field, list) and len(field) == 3
        gravity = self.log.meta.get("gravity_m_s2")
        return m.SceneState(
            values={},
            gravity_m_s2=float(gravity) if isinstance(gravity, int | float) else 9.80665,
            field_n=[float(x) for x in field] if known and isinstance(field, list) else [0.0, 0.0, 0.0],
        )

    def events(self) -> list[SessionEvent]:
        return self._marks

    def do(self, command: Any, client: int) -> tuple[dict[str, Any], set[str]]:
        if isinstance(command, c.Mark):
            self._marks.append(SessionEvent(self.t_s, "mark", {"text": command.text}))
            return {}, set()
        raise InputError("a recording is replayed; nothing of it can be changed. Open a scenario to fly")


def _filtered(log: Recording) -> Array:
    from strapdown.orientation.catalogue import filter_by_name

    solution = filter_by_name(FILTER).run(log)
    q: Array = solution.q_nb
    if len(q) == len(log.t):
        return q
    rows = np.clip(np.searchsorted(solution.t, log.t, side="right") - 1, 0, len(q) - 1)
    return q[rows]
