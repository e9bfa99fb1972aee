"""A guided calibration: what has been seen so far of faces and directions, and what to do next.

Two steps. First the case is put on each of its six faces and left still. Then it is turned by hand in all directions.
Both are recognised from the samples, so that nobody has to press a key.
"""

from dataclasses import dataclass

import numpy as np

from strapdown.calibration.apply import joined
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.coverage import CELLS, cells_of
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.recordings.facts import noise_of_part
from strapdown.recordings.tape import Tape
from strapdown.types import Array, Recording, Sample

FACES = ("+x", "-x", "+y", "-y", "+z", "-z")  # the axis that points up
_HOLD_S = 3.0  # how long a face must be still
_WINDOW_S = 0.5
_QUIET = 6.0  # times the noise of the quietest window
_ALONG = 0.9  # cosine between the force and the axis of a face: 25 deg
_LONGEST_S = 1800.0  # of both steps: bounds the memory
_ENOUGH = 0.7  # part of the directions that the field must have had
_CELL_READINGS = 3  # readings that make a direction seen


@dataclass(frozen=True)
class Progress:
    """faces: seconds still, by face. share: part of the directions seen. hint: what to do now. done: both steps."""

    faces: dict[str, float]
    share: float
    hint: str
    done: bool


class Guide:
    """Takes samples as they come. has_field: the module has a magnetometer."""

    def __init__(self, rate_hz: float, meta: dict[str, object], has_field: bool) -> None:
        self.has_field, self._rate = has_field, rate_hz
        self._tape = Tape(int(_LONGEST_S * rate_hz), meta=meta)
        self._held = dict.fromkeys(FACES, 0.0)
        self._window: list[Sample] = []
        self._floor = np.inf
        self._faces_end_s: float | None = None
        self._field: list[Array] = []
        self._share = 0.0

    def put(self, sample: Sample) -> None:
        self._tape.put(sample)
        if self._faces_end_s is None:
            self._window.append(sample)
            if sample.t - self._window[0].t >= _WINDOW_S:
                self._look()
        elif sample.mag_s is not None:
            self._field.append(sample.mag_s)
            if len(self._field) % max(round(self._rate / 4.0), 1) == 0:
                self._cover()

    def _look(self) -> None:
        """One window: still, and on which face?"""
        acc = np.array([s.acc_s for s in self._window])
        gyr = np.array([s.gyr_s for s in self._window])
        length_s = self._window[-1].t - self._window[0].t
        self._window = []
        spread = float(np.hypot(acc.std(axis=0).max(), 9.81 * gyr.std(axis=0).max()))
        self._floor = min(self._floor, max(spread, 1e-6))
        mean = acc.mean(axis=0)
        along = mean / max(float(np.linalg.norm(mean)), 1e-9)
        axis = int(np.argmax(np.abs(along)))
        if spread <= _QUIET * self._floor and abs(along[axis]) >= _ALONG:
            self._held[FACES[2 * axis + (along[axis] < 0.0)]] += length_s
        if all(held >= _HOLD_S for held in self._held.values()):
            self._faces_end_s = self._tape.recording().t[-1]

    def _cover(self) -> None:
        """Directions about the middle of what was seen: hard iron moves it."""
        field = np.array(self._field[:: max(1, len(self._field) // 4000)])
        centred = field - 0.5 * (field.min(axis=0) + field.max(axis=0))
        length = np.linalg.norm(centred, axis=1)
        counts = np.bincount(cells_of(centred[length > 0.0] / length[length > 0.0, None]), minlength=CELLS)
        self._share = float((counts >= _CELL_READINGS).mean())

    def progress(self) -> Progress:
        left = [face for face in FACES if self._held[face] < _HOLD_S]
        if left:
            hint = f"put the module down squarely with {left[0]} up and take your hand off; left: {', '.join(left)}"
        elif self.has_field and self._share < _ENOUGH:
            hint = "turn the module slowly by hand, away from iron, so that each axis points in every direction"
        else:
            hint = "done"
        return Progress(dict(self._held), self._share, hint, hint == "done")

    def recording(self) -> Recording:
        """All samples so far."""
        return self._tape.recording()

    def calibration(self, gravity: float, field_ut: float | None = None, dip_rad: float | None = None) -> Calibration:
        """The fits of both steps."""
        whole = self.recording()
        _, noise = noise_of_part(whole)
        end_s = whole.t[-1] if self._faces_end_s is None else self._faces_end_s
        found = calibrate_positions(whole.between(whole.t[0], end_s), gravity, model="squared", noise=noise).calibration
        if not self.has_field:
            return found
        compass = calibrate_magnetometer(
            whole.between(end_s, whole.t[-1]),
            field_ut=field_ut,
            dip_rad=dip_rad,
            noise=noise,
            accelerometer=found.corrections["accelerometer"],
        )
        return joined(found, Calibration({"magnetometer": compass.calibration.corrections["magnetometer"]}))
