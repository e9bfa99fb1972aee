"""Navigation on recorded walks: scores of the stop detectors with the error-state filter, cross-validated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from strapdown.earth import gravity
from strapdown.errors import InputError
from strapdown.evaluation.trajectory import ClosingError, closing_error
from strapdown.live import Start
from strapdown.navigation.carriers.foot import Foot, foot_filter
from strapdown.navigation.carriers.foot_alignment import align_foot
from strapdown.navigation.carriers.foot_heights import LEVEL_M
from strapdown.navigation.carriers.hand import Hand
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.papers.c.foot_data import (
    TORONTO_M_S2,
    Walk,
    read_foot_vicon,
    read_openshoe_square,
    read_xio_gait,
    score_m,
)
from strapdown.papers.claim import Claim
from strapdown.recordings.facts import Facts
from strapdown.types import Array, Solution

# what the cross-validation chooses from: ratio, forget_s, force_as_rate
GRID = tuple(product((0.09, 0.11, 0.125, 0.15, 0.18), (0.5, 0.67, 1.0), (0.2, 0.3, 0.4, 0.6)))
SETS = ("foot_vicon", "openshoe_square", "xio_gait")
SAME_PART = 0.1  # of a published error: another filter and other noise settings on the same walks
VN100_BIAS_RAD_S = 5e-5  # foot_vicon's sensor corrects its own bias; data sheet, in run: 10 deg/h


def vicon_walks(folder: Path) -> list[Walk]:
    """All trials of foot_vicon in a folder of recorded data."""
    paths = sorted((folder / "foot_vicon").glob("*.mat"))
    if not paths:
        raise InputError(f"{folder} has no foot_vicon/*.mat; give the folder of the recorded data")
    return [read_foot_vicon(path) for path in paths]


def vicon_filter(walk: Walk) -> Eskf:
    return foot_filter(q_bs=walk.q_bs, gravity=TORONTO_M_S2, gyr_bias_sigma=VN100_BIAS_RAD_S)


def vicon_run(walk: Walk, stopped: ArrayLike, run: Callable[..., Solution] = Eskf.run) -> Solution:
    """Run one walk of foot_vicon.

    run: Eskf.run, or smooth.
    """
    aligned = align_foot(
        walk.recording, stops=FootStops(gravity=TORONTO_M_S2), gyr_bias_sigma=VN100_BIAS_RAD_S, q_bs=walk.q_bs
    )
    log = replace(walk.recording, stop=np.asarray(stopped, dtype=bool))
    return run(vicon_filter(walk), log, Start.of(log, alignment=aligned))


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Scores of the walks by cross-validation.

    left_out_m: score of each walk with settings chosen without its group.
    chosen: settings chosen, by group.
    """

    left_out_m: Array
    chosen: dict[str, tuple[float, float, float]]


def scores_of_grid(walks: Sequence[Walk], done: Callable[[float], None] = lambda x: None) -> Array:
    """Scores (m) of all settings in GRID (rows) on all walks (columns)."""
    scores = np.empty((len(GRID), len(walks)))
    for i, (ratio, forget_s, force_as_rate) in enumerate(GRID):
        stops = FootStops(ratio=ratio, forget_s=forget_s, force_as_rate=force_as_rate, gravity=TORONTO_M_S2)
        scores[i] = [score_m(walk, vicon_run(walk, stops.find(walk.recording).believed)) for walk in walks]
        done((i + 1) / len(GRID))
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


def xio_closing(path: Path, flat_floor: bool | None = None) -> ClosingError:
    """The walk with the carrier Foot, as strapdown navigate does it, with the settings that were chosen on foot_vicon.

    flat_floor: None: steps are level where no stair can be; False: heights as measured.
    """
    carrier = Foot(Heading(0.0), flat_floor)
    return closing_error(navigate(read_xio_gait(path).recording, carrier, Facts(gravity("earth"))).solution)


def square_closing(path: Path, flat_floor: bool) -> ClosingError:
    """The hand-held square with the carrier Hand, as strapdown navigate does it.

    The settings for a hand were chosen on this one recording: its figure is a fitted one."""
    walk = read_openshoe_square(path)
    carrier = Hand(Heading(0.0), flat_floor)
    return closing_error(navigate(walk.recording, carrier, Facts(gravity("earth"), q_bs=tuple(walk.q_bs))).solution)


def real_claims(folder: Path, done: Callable[[float], None]) -> list[Claim]:
    """Claims on the recorded walks; they state which data was used for tuning."""
    walks = vicon_walks(folder)
    labels = float(np.mean([score_m(walk, vicon_run(walk, np.asarray(walk.labels))) for walk in walks]))
    done(0.1)
    scores = scores_of_grid(walks, lambda x: done(0.1 + 0.8 * x))
    left_out = cross_validated(scores, [walk.name for walk in walks]).left_out_m
    published = float(np.mean([walk.published_m for walk in walks if walk.published_m is not None]))
    c, vicon = "C/foot", "University of Toronto foot-mounted set (Wagstaff 2019), its trials at hand"
    who = f"foot_vicon, {len(walks)} walks, mean error per axis in the plane (2-D ARMSE), m"
    tuned = (
        f"{who}: own detector, three of its settings chosen on the other walks; structure and noise were set with all "
        "walks in sight"
    )
    found = [
        Claim(
            f"{c}/vicon/labels",
            f"{who}: mean with the authors' stance labels",
            published,
            labels,
            SAME_PART * published,
            vicon,
            "~",
            kind="reproduces",
        ),
        Claim(f"{c}/vicon/mean", f"{tuned}; mean", None, float(left_out.mean()), 0.10, vicon, kind="requirement"),
        Claim(
            f"{c}/vicon/median", f"{tuned}; median", None, float(np.median(left_out)), 0.07, vicon, kind="requirement"
        ),
    ]
    square, walk_csv = next((folder / "openshoe_square").glob("*.mat")), next((folder / "xio_gait").glob("*.csv"))
    for name, floor, limit in (("plain", False, 0.9), ("floor", True, 0.6)):
        gap = square_closing(square, floor)
        what = (
            f"openshoe_square, {'flat floor' if floor else 'no floor'}: return error in % of the path as estimated "
            f"({gap.path_length_m:.2f} m); noise settings were chosen on this recording"
        )
        percent = 100.0 * gap.length_m / gap.path_length_m
        found.append(
            Claim(
                f"{c}/openshoe/{name}",
                what,
                None,
                percent,
                limit,
                "hcarlsso/ZUPT-aided-INS, square2",
                kind="requirement",
            )
        )
    gap, level, free = (xio_closing(walk_csv, flat_floor) for flat_floor in (None, True, False))
    what = (
        f"xio_gait short walk, closing error, m, swings of less than {LEVEL_M:g} m in height taken as level (published "
        f"without this 0.082; with a flat floor {level.length_m:.3f}; with heights as measured "
        f"{free.horizontal_m:.3f} in the plane and {abs(free.up_m):.2f} in height)"
    )
    found.append(Claim(f"{c}/xio", what, None, gap.length_m, 0.12, "xioTechnologies/Gait-Tracking", kind="requirement"))
    done(1.0)
    return found
