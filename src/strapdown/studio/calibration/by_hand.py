"""Guided calibration of a real module: at rest, on its six faces, in all directions. There is no turntable: the person
turns the module, and the readings show what was done."""

from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.calibration_file import calibration_text
from strapdown.calibration.coverage import cell_centres, coverage, field_directions, missing_words
from strapdown.calibration.guide import HOLD_S, FaceWatch
from strapdown.errors import InputError, StrapdownError
from strapdown.recordings.tape import Tape
from strapdown.studio import messages as m
from strapdown.studio.calibration.by_hand_fit import MeasuredModule, fitted_by_hand
from strapdown.studio.calibration.guided import ENOUGH, STATIC_S, face_attitude, rounded
from strapdown.studio.calibration.result import loaded, rows_of
from strapdown.studio.messages import commands as c
from strapdown.types import Sample

_LONGEST_S = 900.0  # of one calibration: bounds the memory
_POINTS = 400
_LOOK_S = 0.25  # between two looks at the coverage
_TITLES = {f"{sign}{axis}": f"{axis} {way}" for axis in "xyz" for sign, way in (("+", "up"), ("-", "down"))}
_ORDER = ("+z", "-z", "+x", "-x", "+y", "-y")
_WORDS = {
    "static": "Put the module down where nothing shakes it and take your hand off, then press Take readings.",
    "six_positions": "Put the module squarely on each of its six faces and take your hand off, in any order.",
    "magnetometer": "Turn the module slowly by hand, away from iron, so that each axis points in every direction.",
}


class HandBench:
    """Calibration of a real module that a person turns by hand.

    module: the module to calibrate, and known facts of it.
    saved: called with the calibration that is saved.
    """

    def __init__(self, worker: Executor, module: MeasuredModule, saved: Any) -> None:
        self._worker, self._module, self._saved = worker, module, saved
        self.close()

    def close(self) -> None:
        """End the calibration."""
        self._workflow: Any = None
        self._state: Any = "none"
        self._error = ""
        self._tape: Tape | None = None
        self._faces = FaceWatch()
        self._taking = False  # readings go to the tape
        self._first_s: float | None = None
        self._now_s = 0.0
        self._job: Future[Any] | None = None
        self._found: Calibration | None = None
        self._tables: tuple[list[m.Measured], ...] = ([], [], [])
        self._seen: tuple[float, list[Any], list[Any], list[Any], str] = (0.0, [], [], [], "")
        self._seen_s = -1.0
        self._attitude = np.array([1.0, 0.0, 0.0, 0.0])
        self._changed = True

    def put(self, sample: Sample, attitude: Array | None) -> None:
        """Take a reading of the module.

        attitude: estimated attitude, for the picture.
        """
        self._now_s = sample.t
        if attitude is not None:
            self._attitude = attitude
        if self._tape is None or not self._taking:
            return
        if self._first_s is None:
            self._first_s = sample.t
        if sample.t - self._first_s > _LONGEST_S:
            self._fail(f"{_LONGEST_S:g} s are the longest possible; start again")
            return
        self._tape.put(sample)
        self._changed = True
        if self._workflow == "six_positions":
            self._faces.put(sample)
            if not self._faces.left:
                self._compute()
        elif self._workflow == "static" and sample.t - self._first_s >= STATIC_S:
            self._compute()

    def _fail(self, why: str) -> None:
        self._state, self._error, self._taking, self._changed = "failed", why, False, True

    def do(self, command: c.Calibrate, _: Any = None) -> dict[str, Any]:
        """Carry out a step; returns fields of the reply."""
        self._changed = True
        if command.action == "start":
            self._start(command)
        elif command.action == "cancel":
            self.close()
        elif command.action == "load":
            self._load(command)
        elif command.action == "save" and self._found is not None:
            return self._save()
        elif self._workflow is None:
            raise InputError("no calibration has been started; start one first")
        elif command.action == "save":
            raise InputError("the calibration has no result yet; finish it first")
        elif command.action == "turn":
            raise InputError("turn the module itself; its readings show how it lies")
        elif command.action == "next":
            self._next()
        else:
            self._finish()
        return {}

    def _start(self, command: c.Calibrate) -> None:
        if command.workflow is None:
            raise InputError("name a workflow: static, six_positions or magnetometer")
        if command.workflow == "magnetometer" and not self._module.has_field:
            raise InputError("the module has no magnetometer that can be read; choose another calibration")
        self.close()
        self._workflow, self._state = command.workflow, "waiting"
        self._tape = Tape(int(_LONGEST_S * self._module.rate_hz), meta=self._module.meta)
        self._taking = command.workflow != "static"

    def _next(self) -> None:
        if self._workflow != "static":
            raise InputError("the readings are taken by themselves; follow the instruction")
        if self._state != "waiting":
            raise InputError("the readings are being taken or complete; start again for another calibration")
        self._state, self._taking = "taking", True

    def _finish(self) -> None:
        if self._workflow != "magnetometer" or self._state != "waiting":
            raise InputError("the result is computed when the readings are complete; follow the instruction")
        if self._seen[0] < ENOUGH:
            seen = f"{100 * self._seen[0]:.0f} % of the directions are covered"
            raise InputError(f"{seen}; {100 * ENOUGH:.0f} % are needed, turn the module further")
        self._compute()

    def _compute(self) -> None:
        assert self._tape is not None
        self._state, self._taking = "taking", False
        self._job = self._worker.submit(fitted_by_hand, self._workflow, self._tape.recording(), self._module)

    def _load(self, command: c.Calibrate) -> None:
        """Keep and use a calibration from a file. One of another module is refused."""
        found = loaded(command)
        if found.specimen is not None and found.specimen != self._module.serial:
            raise InputError(
                f"the calibration is of module {found.specimen}, this one is {self._module.serial}; choose its own file"
            )
        if "magnetometer" in found.corrections and not self._module.has_field:
            raise InputError("the module has no magnetometer that can be read; the calibration is of another one")
        self.close()
        self._found, self._state = found, "done"
        self._tables = (rows_of(found, {}), [], [])
        self._keep()

    def _keep(self) -> Calibration:
        assert self._found is not None
        whole = self._module.with_found(self._found)
        self._saved(whole)
        self._module = replace(self._module, kept=whole)
        return whole

    def _save(self) -> dict[str, Any]:
        whole = self._keep()
        return {"text": calibration_text(whole), "file": f"calibration-{self._module.serial}.toml"}

    def news(self) -> m.Calibration | None:
        """The present state if it has changed."""
        if self._job is not None and self._job.done():
            job, self._job = self._job, None
            try:
                self._found, self._tables = job.result()
                self._state, self._changed = "done", True
            except StrapdownError as error:
                self._fail(str(error))
            except Exception as error:
                self._fail(f"internal error ({type(error).__name__}: {error})"[:300])
        if not self._changed:
            return None
        self._changed = False
        return self._message()

    def _message(self) -> m.Calibration:
        if self._workflow is None and self._found is None:
            return m.Calibration(workflow=None, sensor=None, state="none", instruction="Choose a calibration.")
        if self._workflow is None:
            return m.Calibration(
                workflow=None,
                sensor=self._module.name,
                state="done",
                instruction="A calibration from a file.",
                by_hand=True,
                result=self._tables[0],
            )
        if self._workflow == "magnetometer" and self._taking and self._now_s - self._seen_s >= _LOOK_S:
            self._seen, self._seen_s = self._coverage(), self._now_s
        share, covered, missing, points, more = self._seen
        steps, step, taken, wanted = self._steps()
        state = self._state
        if state == "waiting" and self._workflow == "magnetometer" and share >= ENOUGH:
            state = "ready"
        if state == "waiting" and self._workflow == "six_positions" and taken > 0.0:
            state = "taking"
        result, before, after = self._tables
        return m.Calibration(
            workflow=self._workflow,
            sensor=self._module.name,
            state=state,
            instruction=f"{_WORDS[self._workflow]} {more}".strip(),
            steps=steps,
            step=step,
            taken_s=taken,
            wanted_s=wanted,
            coverage=share,
            enough=ENOUGH,
            covered=covered,
            missing=missing,
            points=points,
            attitude=[float(x) for x in self._attitude],
            by_hand=True,
            result=result,
            before=before,
            after=after,
            error=self._error,
        )

    def _steps(self) -> tuple[list[m.Pose], int, float, float]:
        """Steps, the present step, its seconds done and its seconds in all."""
        complete = self._job is not None or self._state in ("done", "failed")
        if self._workflow == "static":
            taken = 0.0 if self._first_s is None else min(self._now_s - self._first_s, STATIC_S)
            pose = m.Pose(title="still", attitude=[1.0, 0.0, 0.0, 0.0], done=complete)
            return [pose], int(complete), taken, STATIC_S
        if self._workflow == "magnetometer":
            return [], 0, 0.0, 0.0
        held, now = self._faces.held, self._faces.now
        poses = [
            m.Pose(
                title=_TITLES[face],
                attitude=face_attitude(_TITLES[face]).tolist(),
                done=held[face] >= HOLD_S,
                reading=self._faces.means.get(face) if held[face] >= HOLD_S else None,
            )
            for face in _ORDER
        ]
        left = [face for face in _ORDER if held[face] < HOLD_S]
        face = now if now in left else left[0] if left else None
        step = len(_ORDER) if face is None else _ORDER.index(face)
        taken = held[face] if face is not None and face == now else 0.0
        return poses, step, taken, HOLD_S

    def _coverage(self) -> tuple[float, list[Any], list[Any], list[Any], str]:
        centres = cell_centres()
        if self._tape is None or len(self._tape) < 4:
            return 0.0, [], rounded(centres), [], ""
        log = self._tape.recording()
        if log.mag_s is None:
            return 0.0, [], rounded(centres), [], ""
        field = log.mag_s[log.new["mag_s"]]
        field = field[:: max(1, len(field) // 4000)]
        directions = field_directions(field)
        if len(directions) < 4:
            return 0.0, [], rounded(centres), rounded(field), ""
        seen = coverage(directions)
        words = missing_words(seen, None)
        more = f"Missing: {words[0]}." if words else ""
        full = seen.counts > 0
        points = rounded(field[:: max(1, len(field) // _POINTS)])
        return seen.share, rounded(centres[full]), rounded(centres[~full]), points, more
