"""Navigation on recorded walks: scores of the stop detectors with the error-state filter, cross-validated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.evaluation.trajectory import ClosingError, closing_error
from strapdown.navigation.adaptive_stops import FootStops, told_with
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.eskf import Eskf
from strapdown.navigation.foot import FOOT_FLOOR, align_foot, foot_filter
from strapdown.navigation.smoother import smooth
from strapdown.navigation.stops import NoiseStops, believed_stops
from strapdown.navigation.stops import told_with as told_with_verdicts
from strapdown.navigation.updates import FlatFloor, ZeroRate, ZeroVelocity
from strapdown.papers.foot_data import (
    TORONTO_M_S2,
    Walk,
    read_foot_vicon,
    read_openshoe_square,
    read_xio_gait,
    score_m,
)
from strapdown.types import Array, Solution

# what the cross-validation chooses from: ratio, forget_s, force_as_rate
GRID = tuple(product((0.09, 0.11, 0.125, 0.15, 0.18), (0.5, 0.67, 1.0), (0.2, 0.3, 0.4, 0.6)))
VN100_BIAS_RAD_S = 5e-5  # foot_vicon's sensor corrects its own bias; data sheet, in run: 10 deg/h
TREMBLE = 3.0  # a hand trembles three times as much as its sensor's noise


@dataclass(frozen=True)
class FootScore:
    """Of one walk, m: with the authors' stance labels, with our detector, both smoothed; the authors' own."""

    name: str
    published_m: float
    labels_m: float
    labels_smoothed_m: float
    own_m: float
    own_smoothed_m: float


def vicon_walks(folder: Path) -> list[Walk]:
    """All trials of foot_vicon in a folder of recorded data."""
    paths = sorted((folder / "foot_vicon").glob("*.mat"))
    if not paths:
        raise InputError(f"{folder} has no foot_vicon/*.mat; give the folder of the recorded data")
    return [read_foot_vicon(path) for path in paths]


def vicon_filter(walk: Walk) -> Eskf:
    return foot_filter(q_bs=walk.q_bs, gravity=TORONTO_M_S2, gyr_bias_sigma=VN100_BIAS_RAD_S)


def vicon_run(walk: Walk, stopped: ArrayLike, run: Callable[..., Solution] = Eskf.run) -> Solution:
    """run: Eskf.run, or smooth."""
    aligned = align_foot(
        walk.recording, stops=FootStops(gravity=TORONTO_M_S2), gyr_bias_sigma=VN100_BIAS_RAD_S, q_bs=walk.q_bs
    )
    return run(vicon_filter(walk), walk.recording, stopped=stopped, alignment=aligned)


def vicon_score(walk: Walk) -> FootScore:
    own = FootStops(gravity=TORONTO_M_S2).find(walk.recording).believed
    if walk.labels is None or walk.published_m is None:
        raise InputError(f"{walk.name} has no stance labels; take its closing error")
    return FootScore(
        walk.name,
        walk.published_m,
        *(score_m(walk, vicon_run(walk, stopped, run)) for stopped in (walk.labels, own) for run in (Eskf.run, smooth)),
    )


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """left_out_m: score of each walk with settings chosen without its group. chosen: those settings, by group."""

    left_out_m: Array
    chosen: dict[str, tuple[float, float, float]]


def scores_of_grid(walks: Sequence[Walk]) -> Array:
    """Scores (m) of all settings in GRID (rows) on all walks (columns)."""
    scores = np.empty((len(GRID), len(walks)))
    for i, (ratio, forget_s, force_as_rate) in enumerate(GRID):
        stops = FootStops(ratio=ratio, forget_s=forget_s, force_as_rate=force_as_rate, gravity=TORONTO_M_S2)
        scores[i] = [score_m(walk, vicon_run(walk, stops.find(walk.recording).believed)) for walk in walks]
    return scores


def cross_validated(scores: Array, groups: Sequence[str]) -> CrossValidated:
    """Each group is scored with the settings that have the least mean score on all others."""
    left_out, chosen = np.empty(scores.shape[1]), {}
    for group in dict.fromkeys(groups):
        mine = np.array([g == group for g in groups])
        best = int(np.argmin(scores[:, ~mine].mean(axis=1)))
        left_out[mine] = scores[best, mine]
        chosen[group] = GRID[best]
    return CrossValidated(left_out, chosen)


def xio_closing(path: Path, flat_floor: bool) -> ClosingError:
    """The walk with the settings that were chosen on foot_vicon."""
    walk = read_xio_gait(path)
    found = FootStops().find(walk.recording)
    filt = foot_filter(flat_floor=FOOT_FLOOR if flat_floor else None)
    solution = filt.run(walk.recording, stopped=found.believed, alignment=align_foot(walk.recording))
    return closing_error(told_with(solution, found))


def square_closing(path: Path, flat_floor: bool) -> ClosingError:
    """The hand-held square: a vehicle's stops, without a controller's word, and noise from its own rest.

    acc_white, gyr_white and TREMBLE were chosen on this one recording: its figure is a fitted one.
    """
    walk = read_openshoe_square(path)
    stops = believed_stops(walk.recording, NoiseStops.from_rest(walk.recording, noise_factor=TREMBLE))
    filt = Eskf(
        gyr_white=1e-3,
        acc_white=0.02,
        zero_velocity=ZeroVelocity(0.01, 0.0),
        zero_rate=ZeroRate(0.002),
        flat_floor=FlatFloor(0.005, None, np.pi) if flat_floor else None,
        gate_probability=1e-300,
        q_bs=walk.q_bs,
    )
    aligned = align_to_yaw(walk.recording, 0.0, q_bs=walk.q_bs)
    solution = filt.run(walk.recording, stopped=stops.believed, alignment=aligned)
    return closing_error(told_with_verdicts(solution, stops))
