"""Guided calibration of a virtual sensor: static, six positions, magnetometer. There is one calibration at a time,
shared by all clients.
"""

import time
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.calibration_file import calibration_text
from strapdown.calibration.coverage import cell_centres, coverage, field_directions, missing_words
from strapdown.environment.session.live_sensors import ModuleSensor
from strapdown.environment.session.session import Session
from strapdown.errors import InputError, StrapdownError
from strapdown.rotation import q_from_euler
from strapdown.studio import messages as m
from strapdown.studio.calibration.result import fitted, loaded, shown_with
from strapdown.studio.calibration.turntable import Turntable
from strapdown.studio.messages import commands as c

FASTER = 4.0  # the turntable runs so many times faster than the clock
STATIC_S, POSE_S = 20.0, 6.0
ENOUGH = 0.6  # coverage with which a magnetometer can be calibrated
_LONGEST_S = 240.0  # of turning by hand
_POINTS = 400
_HALF = 0.5 * np.pi
# which axis points up: roll, pitch
_FACES = {
    "z up": (0.0, 0.0),
    "z down": (np.pi, 0.0),
    "x up": (0.0, -_HALF),
    "x down": (0.0, _HALF),
    "y up": (_HALF, 0.0),
    "y down": (-_HALF, 0.0),
}
_WORDS = {
    "static": "Leave the sensor level and still, then press Take readings.",
    "six_positions": "Put the sensor on each of its six faces in turn. Take readings in each position.",
    "magnetometer": "Turn the sensor until its field has pointed in all directions, then press Compute.",
}


class Bench:
    def __init__(self, worker: Executor) -> None:
        self._worker = worker
        self._changed = False
        self.close()

    def close(self) -> None:
        """End the calibration."""
        self._workflow: Any = None
        self._table: Turntable | None = None
        self._step, self._began = 0, 0.0
        self._state: Any = "none"
        self._error = ""
        self._found: Calibration | None = None
        self._tables: tuple[list[m.Measured], list[m.Measured], list[m.Measured]] = ([], [], [])
        self._job: Future[Any] | None = None
        self._means: list[float] = []  # of the positions that were taken
        self._changed = True

    def do(self, command: c.Calibrate, session: Session) -> dict[str, Any]:
        """Carry out a step; returns fields of the reply."""
        if command.action == "start":
            self._start(command, session)
            return {}
        if command.action == "cancel":
            self.close()
            return {}
        if command.action == "load":
            self._load(command, session)
            return {}
        table = self._table
        if table is None:
            raise InputError("no calibration has been started; choose a sensor and start one")
        if command.action == "save":
            if self._found is None:
                raise InputError("the calibration has no result yet; finish it first")
            return {"text": calibration_text(self._found), "file": f"{_plain(table.sensor)}-calibration.toml"}
        if self._state == "taking":
            raise InputError("readings are being taken; wait until they are complete")
        if self._workflow is None:
            raise InputError("a calibration from a file is shown; start one to take readings")
        if command.action == "next":
            self._next()
        elif command.action == "turn":
            self._turn(command.attitude)
        else:
            self._finish()
        self._changed = True
        return {}

    def _start(self, command: c.Calibrate, session: Session) -> None:
        if command.workflow is None:
            raise InputError("name a workflow: static, six_positions or magnetometer")
        sensor = _sensor(command, session)
        if command.workflow == "magnetometer" and "magnetometer" not in sensor.instruments:
            raise InputError(f'sensor "{sensor.name}" has no magnetometer; choose another sensor')
        self.close()
        self._workflow, self._state = command.workflow, "waiting"
        self._table = _turntable(sensor, session)
        if command.workflow == "six_positions":
            self._table.q = _face(0)

    def _load(self, command: c.Calibrate, session: Session) -> None:
        """Show a calibration from a file. The one that is shown now stays if the file cannot be used."""
        found, sensor = loaded(command), _sensor(command, session)
        foreign = [name for name in found.corrections if name not in sensor.instruments]
        if foreign:
            raise InputError(f'sensor "{sensor.name}" has no {foreign[0]}; the calibration is of another sensor')
        self.close()
        self._table, self._state, self._found = _turntable(sensor, session), "taking", found
        self._job = self._worker.submit(self._look_at, found, self._table)

    @staticmethod
    def _look_at(found: Calibration, table: Turntable) -> tuple[Calibration, tuple[list[m.Measured], ...]]:
        return found, shown_with(found, table, [_face(i) for i in range(len(_FACES))])

    def _next(self) -> None:
        if self._workflow == "magnetometer":
            raise InputError("turn the sensor, then finish; this calibration has no positions")
        if self._state == "done":
            raise InputError("all readings are taken; start again for another calibration")
        self._state, self._began = "taking", time.perf_counter()

    def _turn(self, attitude: tuple[float, ...] | None) -> None:
        assert self._table is not None
        if self._workflow != "magnetometer":
            raise InputError("only the magnetometer is turned by hand; take the readings of the next position")
        q = np.array(attitude if attitude is not None else (0.0, 0.0, 0.0, 0.0), dtype=np.float64)
        size = float(np.linalg.norm(q))
        if not size > 1e-6:
            raise InputError("attitude is missing; give a quaternion w, x, y, z")
        if self._table.duration_s > _LONGEST_S:
            raise InputError(f"{_LONGEST_S:g} s of turning are the most; finish, or start again")
        self._table.turn_to(q / size)

    def _finish(self) -> None:
        assert self._table is not None
        done = self._workflow == "magnetometer" or self._step == len(self._steps())
        if not done:
            raise InputError("readings of some positions are missing; take them first")
        self._state, self._began = "taking", 0.0
        self._job = self._worker.submit(fitted, self._workflow, self._table)

    def _steps(self) -> list[str]:
        return {"static": ["level"], "six_positions": list(_FACES)}.get(self._workflow, [])

    def _wanted_s(self) -> float:
        return STATIC_S if self._workflow == "static" else POSE_S

    def news(self) -> m.Calibration | None:
        """The present state if it has changed; also advances time."""
        self._let_pass()
        if not self._changed:
            return None
        self._changed = self._state == "taking"
        return self._message()

    def _let_pass(self) -> None:
        table = self._table
        if self._state != "taking" or table is None:
            return
        self._changed = True
        if self._job is not None:
            if not self._job.done():
                return
            job, self._job = self._job, None
            try:
                self._found, self._tables = job.result()
                self._state = "done"
            except StrapdownError as error:
                self._state, self._error = "failed", str(error)
            except Exception as error:
                self._state, self._error = "failed", f"internal error ({type(error).__name__}: {error})"[:300]
            return
        if FASTER * (time.perf_counter() - self._began) >= self._wanted_s():
            if self._workflow == "six_positions":
                table.turn_to(_face(self._step))
            table.rest(self._wanted_s())
            log = table.log()
            if log.acc_s is not None:
                mean = log.acc_s[log.t > log.t[-1] - 0.9 * self._wanted_s()].mean(axis=0)
                self._means.append(float(mean[np.argmax(np.abs(mean))]))
            self._step += 1
            self._state = "waiting"
            if self._step == len(self._steps()):
                self._finish()

    def _message(self) -> m.Calibration:
        table = self._table
        if table is None:
            return m.Calibration(
                workflow=None, sensor=None, state="none", instruction="Choose a sensor and a workflow."
            )
        steps = [
            m.Pose(
                title=title,
                attitude=(_face(i) if self._workflow == "six_positions" else table.q).tolist(),
                done=i < self._step,
                reading=self._means[i] if i < len(self._means) else None,
            )
            for i, title in enumerate(self._steps())
        ]
        taken = 0.0
        if self._state == "taking" and self._job is None:
            taken = min(FASTER * (time.perf_counter() - self._began), self._wanted_s())
        if self._workflow is None:
            result, before, after = self._tables
            return m.Calibration(
                workflow=None,
                sensor=table.sensor,
                state=self._state,
                instruction="A calibration from a file.",
                result=result,
                before=before,
                after=after,
                error=self._error,
            )
        share, covered, missing, points, more = self._coverage()
        words = _WORDS[self._workflow] if not more else f"{_WORDS[self._workflow]} {more}"
        state = self._state
        if self._workflow == "magnetometer" and state == "waiting" and share >= ENOUGH:
            state = "ready"
        result, before, after = self._tables
        return m.Calibration(
            workflow=self._workflow,
            sensor=table.sensor,
            state=state,
            instruction=words,
            steps=steps,
            step=self._step,
            taken_s=taken,
            wanted_s=self._wanted_s() if steps else 0.0,
            coverage=share,
            enough=ENOUGH if self._workflow == "magnetometer" else 1.0,
            covered=covered,
            missing=missing,
            points=points,
            result=result,
            before=before,
            after=after,
            error=self._error,
        )

    def _coverage(self) -> tuple[float, list[Any], list[Any], list[Any], str]:
        """Coverage of the directions of the field in the frame of the sensor, and what to do about the rest."""
        if self._workflow != "magnetometer" or self._table is None:
            share = 0.0 if not self._steps() else self._step / len(self._steps())
            return share, [], [], [], ""
        log = self._table.log()
        assert log.mag_s is not None
        directions = field_directions(log.mag_s)
        seen = coverage(directions) if len(directions) > 3 else None
        centres, thin = cell_centres(), max(1, len(log) // _POINTS)
        points = rounded(log.mag_s[::thin])
        if seen is None:
            return 0.0, [], rounded(centres), points, ""
        full = seen.counts > 0
        words = missing_words(seen, None)
        more = f"Missing: {words[0]}." if words else ""
        return seen.share, rounded(centres[full]), rounded(centres[~full]), points, more


def _sensor(command: c.Calibrate, session: Session) -> ModuleSensor:
    modules = {s.name: s for s in session.sensors if isinstance(s, ModuleSensor)}
    name = command.sensor or next(iter(modules), "")
    if name not in modules:
        raise InputError(f"name one of the sensors {', '.join(modules) or '(there is none)'}")
    return modules[name]


def _turntable(sensor: ModuleSensor, session: Session) -> Turntable:
    scene = session.surroundings.scene
    table: Any = next(t for t in session.scenario.sensor if t.name == sensor.name)
    iron = np.array(table.hard_iron_ut), np.array(table.soft_iron)
    return Turntable(sensor, scene.g(), scene.field_n(), iron)


def _face(i: int) -> Array:
    return face_attitude(list(_FACES)[min(i, len(_FACES) - 1)])


def face_attitude(title: str) -> Array:
    """Attitude q_nb with this axis up or down ("z up")."""
    roll, pitch = _FACES[title]
    return np.array(q_from_euler(roll, pitch, 0.0))


def rounded(rows: Array) -> list[list[float]]:
    return [[round(float(x), 4) for x in row] for row in rows]


def _plain(name: str) -> str:
    return "".join(x if x.isalnum() else "_" for x in name)
