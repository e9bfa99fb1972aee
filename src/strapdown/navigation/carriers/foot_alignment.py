"""Alignment of a sensor on a foot: by the rest at the start, however short, or by a stance of the walk. The rows before
that stance are filtered backward in time. All rests of the log show the gyroscope's bias.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from strapdown import earth
from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.alignment import (
    LEAST_SAMPLES,
    Alignment,
    Rest,
    align_by_magnetometer,
    align_to_yaw,
    alignment_of,
    attitude_of,
    magnetic_yaw,
)
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.stops.foot_stops import FootStops, rest_samples, rests
from strapdown.recordings.runs import runs_of
from strapdown.rotation import IDENTITY
from strapdown.types import Array, Recording, Solution

MOST_REST_S = 0.5  # longer, and a foot has shifted meanwhile
UNKNOWN_BIAS_RAD_S = 0.001  # sigma of the bias of a sensor that nobody asked
LEAST_BIAS_S = 0.5  # of a later rest that shows the gyroscope's bias: shorter, and it is a stance
BLOCK_S = 0.25  # of a rest: longer than a tremble, shorter than a sway
PLAINLY = 3.0  # sigmas
STANCE_TILT_RAD = 0.03  # of a level by a stance of a walk: 0.3 m/s2 of what is not gravity
FIRST_STANCES_S = 5.0
SWAY_RAD = 0.002  # what a standing person's foot may turn during a rest: set by judgement, not fitted


def align_foot(
    recording: Recording,
    yaw_rad: float | None = 0.0,
    *,
    heading_sigma_rad: float = 0.0,
    declination_rad: float = 0.0,
    stops: FootStops | None = None,
    gyr_bias_sigma: float | None = None,
    q_bs: ArrayLike = IDENTITY,
) -> Alignment:
    """Alignment by the rest at the start, as long as it lasts, MOST_REST_S at most; without one, by the first stance.

    yaw_rad: known to heading_sigma_rad; None: from the magnetometer, with the declination.
    gyr_bias_sigma (rad/s): sigma of the gyroscope's bias; None: UNKNOWN_BIAS_RAD_S, and rests may show a larger one.
    """
    stops = stops or FootStops()
    rows = rest_samples(recording, stops, MOST_REST_S)
    if rows < LEAST_SAMPLES:
        aligned = _by_stance(recording, stops, rows, yaw_rad, heading_sigma_rad, declination_rad, q_bs)
    else:
        rest_s = float(recording.t[rows - 1] - recording.t[0])
        if yaw_rad is None:
            aligned = align_by_magnetometer(recording, declination_rad=declination_rad, rest_s=rest_s, q_bs=q_bs)
        else:
            aligned = align_to_yaw(recording, yaw_rad, heading_sigma_rad, rest_s=rest_s, q_bs=q_bs)
    bias, sigma = _bias_of_rests(recording, rests(recording, stops, LEAST_SAMPLES, LEAST_BIAS_S), gyr_bias_sigma)
    return replace(aligned, gyr_bias_s=bias, gyr_bias_sigma=sigma)


def _by_stance(
    recording: Recording,
    stops: FootStops,
    rows: int,
    yaw_rad: float | None,
    sigma_rad: float,
    declination_rad: float,
    q_bs: ArrayLike,
) -> Alignment:
    """By the quietest samples of the first stance of a walk that does not begin with one."""
    assert recording.gyr_s is not None and recording.acc_s is not None
    found = stops.find(recording)
    stances = [run for run in runs_of(found.believed) if run[1] - run[0] + 1 >= LEAST_SAMPLES]
    if not stances:
        raise InputError(
            f"the foot stands for {rows} samples at the start of the log and nowhere long enough after it; alignment "
            f"needs {LEAST_SAMPLES}: start the log before the first step, or give the alignment"
        )
    within = recording.t[stances[0][0]] + FIRST_STANCES_S
    turning = np.convolve(found.signal, np.ones(LEAST_SAMPLES), "valid")
    rows_in = [np.arange(a, b - LEAST_SAMPLES + 2) for a, b in stances if recording.t[a] <= within]
    candidates = np.concatenate(rows_in)
    first = int(candidates[np.argmin(turning[candidates])])
    some = slice(first, first + LEAST_SAMPLES)
    acc = recording.acc_s[some].mean(axis=0)
    force, g = float(np.linalg.norm(acc)), earth.gravity(stops.gravity)
    mag = None if recording.mag_s is None else recording.mag_s[some].mean(axis=0)
    tilt = max(STANCE_TILT_RAD, abs(force - g) / g)
    length_s = float(recording.t[some.stop - 1] - recording.t[first])
    rest = Rest(some.stop, length_s, acc, tilt, np.zeros(3), np.zeros(3), mag)
    by_field = yaw_rad is None
    yaw = magnetic_yaw(rest, declination_rad, q_bs) if yaw_rad is None else yaw_rad
    return alignment_of(rest, attitude_of(rest, yaw, q_bs), sigma_rad, by_field)


def _bias_of_rests(
    recording: Recording, rested: list[tuple[int, int]], known_sigma: float | None
) -> tuple[Array, Array]:
    """The gyroscope's bias by all rests, weighed against 0 +- known_sigma (None: not stated).

    rested: first row of each rest, and the row after its last.
    """
    mean, seen_var = np.zeros(3), np.full(3, np.inf)
    for first, end in rested:
        here, here_var = _mean_of_rest(recording, first, end)
        both = 1.0 / (1.0 / seen_var + 1.0 / here_var)
        mean, seen_var = both * (mean / seen_var + here / here_var), both
    if known_sigma is None:  # a bias that is clearly larger is believed where nothing is stated (empirical Bayes)
        known_var = np.maximum(UNKNOWN_BIAS_RAD_S**2, mean**2 - PLAINLY**2 * seen_var)
    else:
        known_var = np.full(3, known_sigma**2)
    share = 1.0 / (1.0 + seen_var / known_var)
    return share * mean, np.sqrt(known_var * (1.0 - share))


def _mean_of_rest(recording: Recording, first: int, end: int) -> tuple[Array, Array]:
    """Mean rate of a rest and its variance. Its blocks show its uncertainty: a foot that sways has means that
    scatter.
    """
    assert recording.gyr_s is not None
    gyr_s = recording.gyr_s[first:end]
    rest_s = float(recording.t[end - 1] - recording.t[first])
    blocks = max(int(rest_s / BLOCK_S), 1)
    means = np.array([part.mean(axis=0) for part in np.array_split(gyr_s, blocks)])
    noise_var = gyr_s.var(axis=0) / len(gyr_s)
    scatter_var = means.var(axis=0, ddof=1) / blocks if blocks > 1 else np.zeros(3)
    return gyr_s.mean(axis=0), np.maximum(noise_var, scatter_var) + (SWAY_RAD / rest_s) ** 2


def with_first_steps(solution: Solution, recording: Recording, estimator: Eskf, start: Start) -> Solution:
    """The solution, with the rows before the first stance filtered backward in time from there.

    recording: with the believed stops. Backward in time rates and velocities change their sign, forces do not.
    """
    aligned = start.alignment
    if aligned is None or solution.p_n is None or solution.v_n is None:
        return solution
    rows = slice(0, start.skip + 1)
    before_s = float(recording.t[start.skip] - recording.t[0]) - aligned.rest_s
    if before_s < 0.5 * recording.step_s:  # it begins with the rest
        return solution
    assert recording.gyr_s is not None and recording.acc_s is not None
    back = Recording(
        recording.t[start.skip] - recording.t[rows][::-1],
        gyr_s=-recording.gyr_s[rows][::-1],
        acc_s=recording.acc_s[rows][::-1],
        stop=None if recording.stop is None else recording.stop[rows][::-1],
    )
    there = replace(aligned, rows=1, gyr_bias_s=-aligned.gyr_bias_s)
    try:
        found = estimator.run(back, Start.of(back, alignment=there, p_n=start.p_n, skip=0))
    except InputError:  # a few samples of a shock do not look like a log
        return solution
    assert found.p_n is not None and found.v_n is not None
    return replace(
        solution,
        q_nb=_before(solution.q_nb, found.q_nb),
        p_n=_before(solution.p_n, found.p_n),
        v_n=_before(solution.v_n, -found.v_n),
        sigma={name: _before(old, found.sigma[name]) for name, old in solution.sigma.items()},
    )


def _before(column: Array, backward: Array) -> Array:
    """The column, with its first rows from a run backward in time."""
    return np.concatenate([backward[::-1], column[len(backward) :]])
