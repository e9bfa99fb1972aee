"""Recorded walks of others with a sensor on the foot, as recordings, and their scores.

foot_vicon: 18 walks and runs under cameras (Wagstaff, Peretroukhin and Kelly 2017).
openshoe_square: two laps of a square with stops, carried by hand.
xio_gait: a walk of about 25 m that ends where it began.

Readings stay in the sensor's frame s; q_bs takes it to a body of x forward, y left, z up.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.evaluation.matching import Positions, aligned_first_steps, matched
from strapdown.evaluation.trajectory import mean_axis_error
from strapdown.io import ColumnMapping, read
from strapdown.papers.recorded_data import read_mat
from strapdown.rotation import IDENTITY
from strapdown.types import Recording, Solution

FRONT_RIGHT_DOWN = (0.0, 1.0, 0.0, 0.0)  # half a turn about x
TORONTO_M_S2 = 9.8045  # gravity where foot_vicon was recorded
# its clock counts some ms, so that stamps repeat
XIO_COLUMNS: ColumnMapping = {
    "t": {"column": "Time (s)", "unit": "s", "repeated": "spread"},
    **{f"gyr_{axis}": {"column": f"Gyroscope {axis.upper()} (deg/s)", "unit": "deg/s"} for axis in "xyz"},
    **{f"acc_{axis}": {"column": f"Accelerometer {axis.upper()} (g)", "unit": "g"} for axis in "xyz"},
}
AS_IT_IS = tuple(float(v) for v in IDENTITY)


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk: readings of the foot's sensor, its mounting, and the true path.

    labels: stance labels of the authors.
    """

    name: str
    recording: Recording
    q_bs: tuple[float, ...]
    truth: Positions | None
    labels: NDArray[np.bool_] | None
    published_m: float | None

    @property
    def day(self) -> str:
        return self.name[:10]


def read_foot_vicon(path: str | Path) -> Walk:
    """A trial from its .mat file. The reference of foot_vicon is mirrored in y against a frame with z up; this is
    corrected here.
    """
    fields = read_mat(Path(path), ("imu", "ts", "gt", "zv_shoe_opt", "trial_error"), "a recorded walk")
    t = np.ravel(fields["ts"]).astype(np.float64)
    imu, gt = np.asarray(fields["imu"], dtype=np.float64), np.asarray(fields["gt"], dtype=np.float64)
    if imu.shape != (len(t), 6) or gt.shape != (len(t), 3):
        raise InputError(f"{path} has imu {imu.shape} and gt {gt.shape} for {len(t)} times; give an unchanged file")
    t = t - t[0]
    recording = Recording(t, gyr_s=imu[:, 3:], acc_s=imu[:, :3], meta={"source": "foot_vicon"})
    return Walk(
        Path(path).stem,
        recording,
        FRONT_RIGHT_DOWN,
        Positions(t, gt * (1.0, -1.0, 1.0)),
        np.ravel(fields["zv_shoe_opt"]).astype(bool),
        float(np.ravel(fields["trial_error"])[0]),
    )


def read_openshoe_square(path: str | Path) -> Walk:
    """Read the recording openshoe_square.

    square2.mat: 100 Hz.
    """
    u = np.asarray(read_mat(Path(path), ("u",), "a recorded walk")["u"], dtype=np.float64)
    if u.ndim != 2 or u.shape[0] != 6:
        raise InputError(f"{path} has u of shape {u.shape}; give the unchanged file, six rows")
    recording = Recording(
        np.arange(u.shape[1]) / 100.0, gyr_s=u[3:].T.copy(), acc_s=u[:3].T.copy(), meta={"source": "openshoe_square"}
    )
    return Walk(Path(path).stem, recording, _upright(recording), None, None, None)


def read_xio_gait(path: str | Path) -> Walk:
    """Read the recording xio_gait.

    short_walk.csv: time in s, rate in deg/s, force in g.
    """
    path = Path(path)
    (recording,) = read(path, XIO_COLUMNS).values()
    recording = recording.with_meta(source="xio_gait")
    return Walk(path.stem, recording, AS_IT_IS, None, None, None)


def score_m(walk: Walk, solution: Solution) -> float:
    """Mean error per axis in the plane (m; the authors of the data call it ARMSE), start and first steps aligned."""
    if walk.truth is None:
        raise InputError(f"{walk.name} has no reference to score against; take its closing error")
    return mean_axis_error(aligned_first_steps(matched(solution, walk.truth)))


def _upright(recording: Recording) -> tuple[float, ...]:
    """The one of the two mountings that has the force of the first second upward."""
    assert recording.acc_s is not None
    up = recording.acc_s[recording.t < recording.t[0] + 1.0].mean(axis=0)
    return AS_IT_IS if up[2] > 0.0 else FRONT_RIGHT_DOWN
