"""BROAD, the Berlin Robust Orientation Estimation Assessment Dataset (Laidig et al. 2021, Data 6:72), and its score.

A hand moves a 9-axis part in a rigid body under cameras, 39 trials: turning, translating, with breaks, with taps, a
vibrating phone, magnets. A trial begins and ends at rest; only the movement between counts. The optical frame is level
with its y axis to magnetic north, so its attitude is q_ns. A trial's score is the root mean square error over the
samples in movement that have a truth. The benchmark's number is the mean of the trials' scores.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.evaluation.attitude import attitude_errors, rmse_deg
from strapdown.papers.recorded_data import read_mat
from strapdown.types import Array, Recording, Solution

_FIELDS = ("imu_acc", "imu_gyr", "imu_mag", "opt_quat", "movement", "sampling_rate")


@dataclass(frozen=True, eq=False)
class Trial:
    """A trial: readings of the part, its true attitude (rows of NaN where the cameras lost it), and the times of
    motion.
    """

    name: str
    recording: Recording
    q_ns: Array
    movement: NDArray[np.bool_]


class Score(NamedTuple):
    """Root mean square errors over the movement, deg."""

    total_deg: float
    heading_deg: float
    inclination_deg: float


def read_trial(path: str | Path) -> Trial:
    """A trial from its .mat file."""
    path = Path(path)
    fields = read_mat(path, _FIELDS, "a trial of BROAD")
    rate_hz = float(np.ravel(fields["sampling_rate"])[0])
    acc, gyr, mag, q_ns = (
        np.array(fields[name], dtype=np.float64) for name in ("imu_acc", "imu_gyr", "imu_mag", "opt_quat")
    )
    movement = np.ravel(fields["movement"]).astype(bool)
    if not rate_hz > 0.0 or q_ns.shape != (len(gyr), 4) or movement.shape != (len(gyr),):
        raise InputError(
            f"{path}: opt_quat has shape {q_ns.shape} and movement {movement.shape} at {len(gyr)} readings and "
            f"{rate_hz:g} Hz; the file is damaged, fetch it again"
        )
    recording = Recording(
        np.arange(len(gyr)) / rate_hz, gyr, acc, mag, meta={"source": "BROAD", "trial": path.stem, "rate_hz": rate_hz}
    )
    q_ns.flags.writeable = False
    movement.flags.writeable = False
    return Trial(path.stem, recording, q_ns, movement)


def all_trials(folder: str | Path) -> list[Trial]:
    """The trials in a folder, by name."""
    paths = sorted(Path(folder).glob("*.mat"))
    if not paths:
        raise InputError(f"{folder} has no trial of BROAD (.mat); give the folder of data_mat files of dlaidig/broad")
    return [read_trial(path) for path in paths]


def score(solution: Solution, trial: Trial) -> Score:
    """Errors of a solution of the trial's recording (attitude of the sensor's own frame: no mounting given)."""
    if len(solution) != len(trial.q_ns):
        raise InputError(
            f"the solution has {len(solution)} samples and trial {trial.name} has {len(trial.q_ns)}; "
            "give the solution of this trial's recording"
        )
    return Score(*rmse_deg(attitude_errors(solution.q_nb, trial.q_ns), trial.movement))


def sigma_ratios(solution: Solution, trial: Trial) -> tuple[float, float]:
    """Error over stated sigma of heading and inclination: root mean squares over the movement. The inclination has two
    axes, whose variances add.
    """
    counts = trial.movement & np.isfinite(trial.q_ns).all(axis=1)
    errors = attitude_errors(solution.q_nb[counts], trial.q_ns[counts])
    variance = np.mean(solution.sigma["attitude_n"][counts] ** 2, axis=0)
    heading, inclination = np.mean(errors.heading**2), np.mean(errors.inclination**2)
    return float(np.sqrt(heading / variance[2])), float(np.sqrt(inclination / (variance[0] + variance[1])))
