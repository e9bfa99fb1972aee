"""A guided calibration: faces and directions recorded so far, and what to do next.

Two steps. First the case is put on each of its six faces and left still. Then it is turned by hand in all directions.
Faces and turns are recognised from the samples, so that nobody has to press a key.
"""

from dataclasses import dataclass

import numpy as np

from strapdown.calibration.apply import joined
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.coverage import CELLS, cells_of, field_directions
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.recordings.facts import noise_of_part
from strapdown.recordings.tape import Tape
from strapdown.types import Array, Recording, Sample

FACES = ("+x", "-x", "+y", "-y", "+z", "-z")  # the axis that points up
HOLD_S = 3.0  # how long a face must be still
_WINDOW_S = 0.5
_QUIET = 6.0  # times the noise of the quietest window
_ALONG = 0.9  # cosine between the force and the axis of a face: 25 deg
_LONGEST_S = 1800.0  # of both steps: bounds the memory
ENOUGH = 0.7  # part of the directions that the field must have had
_CELL_READINGS = 3  # readings that make a direction seen


@dataclass(frozen=True)
class Progress:
    """Progress of a guided calibration.

    faces: seconds at rest, by face.
    share: part of the directions seen.
    hint: what to do now.
    done: both steps.
    """

    faces: dict[str, float]
    share: float
    hint: str
    done: bool


class FaceWatch:
    """Detects which face is up, from live samples.

    held: seconds at rest, by face.
    now: the face that is held at present. None: the case moves or is on no face.
    means: means of the accelerometer along the axis of the face, when last held.
    """

    def __init__(self) -> None:
        self.held = dict.fromkeys(FACES, 0.0)
        self.means: dict[str, float] = {}
        self.now: str | None = None
        self._window: list[Sample] = []
        self._floor = np.inf

    @property
    def left(self) -> list[str]:
        """Faces that were not held long enough yet."""
        return [face for face in FACES if self.held[face] < HOLD_S]

    def put(self, sample: Sample) -> None:
        self._window.append(sample)
        if sample.t - self._window[0].t >= _WINDOW_S:
            self._look()

    def _look(self) -> None:
        """Examine one window: is the sensor at rest, and on which face?"""
        acc = np.array([s.acc_s for s in self._window])
        gyr = np.array([s.gyr_s for s in self._window])
        length_s = self._window[-1].t - self._window[0].t
        self._window = []
        spread = float(np.hypot(acc.std(axis=0).max(), 9.81 * gyr.std(axis=0).max()))
        self._floor = min(self._floor, max(spread, 1e-6))
        mean = acc.mean(axis=0)
        along = mean / max(float(np.linalg.norm(mean)), 1e-9)
        axis = int(np.argmax(np.abs(along)))
        self.now = None
        if spread <= _QUIET * self._floor and abs(along[axis]) >= _ALONG:
            self.now = FACES[2 * axis + (along[axis] < 0.0)]
            self.held[self.now] += length_s
            self.means[self.now] = float(mean[axis])


class Guide:
    """Guides a calibration from live samples.

    has_field: the module has a magnetometer.
    """

    def __init__(self, rate_hz: float, meta: dict[str, object], has_field: bool) -> None:
        self.has_field, self._rate = has_field, rate_hz
        self._tape = Tape(int(_LONGEST_S * rate_hz), meta=meta)
        self._faces = FaceWatch()
        self._faces_end_s: float | None = None
        self._field: list[Array] = []
        self._share = 0.0

    def put(self, sample: Sample) -> None:
        self._tape.put(sample)
        if self._faces_end_s is None:
            self._faces.put(sample)
            if not self._faces.left:
                self._faces_end_s = sample.t
        elif sample.mag_s is not None:
            self._field.append(sample.mag_s)
            if len(self._field) % max(round(self._rate / 4.0), 1) == 0:
                self._cover()

    def _cover(self) -> None:
        field = np.array(self._field[:: max(1, len(self._field) // 4000)])
        counts = np.bincount(cells_of(field_directions(field)), minlength=CELLS)
        self._share = float((counts >= _CELL_READINGS).mean())

    def progress(self) -> Progress:
        left = self._faces.left
        if left:
            hint = f"put the module down squarely with {left[0]} up and take your hand off; left: {', '.join(left)}"
        elif self.has_field and self._share < ENOUGH:
            hint = "turn the module slowly by hand, away from iron, so that each axis points in every direction"
        else:
            hint = "done"
        return Progress(dict(self._faces.held), self._share, hint, hint == "done")

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
