"""Recorded walks with a sensor on the foot: scores with the authors' stances and with our detector."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import shared_data
from strapdown.errors import InputError
from strapdown.evaluation.matching import Positions
from strapdown.io.foreign.mended import unrepeated
from strapdown.navigation.carriers.foot import Foot
from strapdown.navigation.carriers.foot_alignment import align_foot
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.smoother import smooth
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.navigation.stops.intervals import solution_with_stops
from strapdown.papers.c.foot import (
    GRID,
    cross_validated,
    square_closing,
    vicon_run,
    vicon_walks,
    xio_closing,
)
from strapdown.papers.c.foot_data import TORONTO_M_S2, read_foot_vicon, read_xio_gait, score_m
from strapdown.recordings.facts import Facts
from strapdown.types import Recording


def test_walks_under_cameras():
    """Scores (m) with the authors' stance labels, these smoothed, and with our detector."""
    walks = vicon_walks(shared_data("foot_vicon").parent)
    assert len(walks) == 18
    detector = FootStops(gravity=TORONTO_M_S2)
    labels, smoothed, own = (
        np.array([score_m(walk, vicon_run(walk, stops(walk), run)) for walk in walks])
        for stops, run in (
            (lambda walk: walk.labels, Eskf.run),
            (lambda walk: walk.labels, smooth),
            (lambda walk: detector.find(walk.recording).believed, Eskf.run),
        )
    )
    assert np.mean([walk.published_m for walk in walks]) == pytest.approx(0.0501, abs=5e-5)  # print rounding
    # the goals of the project; measured 0.0549, 0.0525, 0.0594 and 0.0575
    assert labels.mean() <= 0.055 and smoothed.mean() <= 0.055
    assert own.mean() <= 0.10 and np.median(own) <= 0.07
    # every second walk by name; noise, arm and the detector's memory were chosen on the others (measured 0.0579 here
    # and 0.0609 on those). The structure of filter and detector was made with all walks in sight
    assert [walk.name for walk in walks] == sorted(walk.name for walk in walks)
    assert own[::2].mean() <= 0.064


def _as_commanded(walk, flat_floor=None):
    """As strapdown navigate --vehicle foot does it, with the mounting and gravity given."""
    facts = Facts(TORONTO_M_S2, q_bs=walk.q_bs)
    return navigate(walk.recording, Foot(Heading(0.0), flat_floor), facts).solution


def _cut(walk, first):
    t = walk.recording.t[first:] - walk.recording.t[first]
    log = Recording(t, gyr_s=walk.recording.gyr_s[first:], acc_s=walk.recording.acc_s[first:])
    return replace(walk, recording=log, truth=Positions(t, walk.truth.p_n[first:]))


@pytest.mark.parametrize("part", (0.25, 0.41, 0.57))
def test_walks_that_begin_in_motion(part):
    """Measured 0.089, 0.058 and 0.063 m on these cuts, which nothing was chosen on. With the rows before the first
    stance as a rest it was 0.27 to 0.36 m, and 10 of 18 walks were refused."""
    walks = [_cut(walk, int(part * len(walk.recording))) for walk in vicon_walks(shared_data("foot_vicon").parent)]
    found = [_as_commanded(walk) for walk in walks]
    assert np.mean([score_m(*pair) for pair in zip(walks, found, strict=True)]) <= 0.1
    for walk, solution in zip(walks, found, strict=True):
        rise = np.diff(solution.p_n[[0, -1], 2]) - np.diff(walk.truth.p_n[[0, -1], 2])
        assert abs(rise[0]) < 4.0 * np.hypot(*solution.sigma["p_n"][[0, -1], 2])  # measured 3.04; 54 walks


def test_a_bias_is_shown_by_every_rest():
    """A gyroscope off by 0.4 deg/s. Measured 0.0665 m; 0.073 m by the rest at the start alone."""
    scores = []
    for walk in vicon_walks(shared_data("foot_vicon").parent):
        log = walk.recording
        off = replace(walk, recording=replace(log, gyr_s=log.gyr_s + np.radians(0.4) * np.array([0.0, 1.0, 1.0])))
        scores.append(score_m(off, _as_commanded(off)))
    assert np.mean(scores) <= 0.070


def test_time_runs_backward_before_the_first_stance():
    """A foot that stands, swings and stands: begun in the swing, its path is that of the whole log."""
    walk = vicon_walks(shared_data("foot_vicon").parent)[0]
    whole = _as_commanded(walk, flat_floor=False)
    first = int(np.searchsorted(walk.recording.t, 10.2))
    part = _as_commanded(_cut(walk, first), flat_floor=False)
    n = 200  # one second: the swing and a stance
    for name, limit in (("p_n", 0.03), ("v_n", 0.15)):  # of a swing of 0.7 m and 3 m/s
        there, here = getattr(whole, name)[first : first + n, 2], getattr(part, name)[:n, 2]
        here = here + (there[-1] - here[-1] if name == "p_n" else 0.0)
        assert np.abs(here - there).max() < limit


def test_a_stance_is_chosen_within_five_seconds():
    """A walk without any rest; the foot shakes less in each stance than in the one before."""
    rng, hz = np.random.default_rng(4), 200
    t = np.arange(16 * hz) / hz
    phase = t % 1.0
    gyr = np.where(phase < 0.6, 5.0 * np.sin(2.0 * np.pi * phase / 0.6), 0.0)[:, None] * [0.0, 1.0, 0.0]
    gyr = gyr + (0.2 - 0.005 * np.floor(t))[:, None] * rng.choice((-1.0, 1.0), size=(len(t), 3))
    acc = np.where(phase[:, None] < 0.6, [3.0, 0.0, 15.0], [0.0, 0.0, 9.81])
    aligned = align_foot(Recording(t, gyr_s=gyr, acc_s=acc))
    assert 4.6 <= t[aligned.rows - 1] < 5.0


def test_closing_errors():
    path = shared_data("openshoe_square") / "square2.mat"
    assert square_closing(path, flat_floor=False).percent <= 0.9
    assert square_closing(path, flat_floor=True).percent <= 0.6
    walk = shared_data("xio_gait") / "short_walk.csv"
    assert xio_closing(walk).length_m <= 0.12
    assert xio_closing(walk, flat_floor=True).length_m <= 0.12
    free = xio_closing(walk, flat_floor=False)
    assert free.horizontal_m <= 0.12 and free.length_m <= 0.35


def test_the_stances_are_flags_of_the_solution():
    walk = read_foot_vicon(sorted(shared_data("foot_vicon").glob("*.mat"))[0])
    found = FootStops(gravity=TORONTO_M_S2).find(walk.recording)
    solution = solution_with_stops(vicon_run(walk, found.believed), found)
    assert np.array_equal(solution.flags["stop_believed"], found.believed)
    assert score_m(walk, solution) == score_m(walk, vicon_run(walk, found.believed))
    assert (found.signal[found.believed] < found.threshold[found.believed]).all()


def test_each_group_is_scored_by_what_the_others_chose():
    scores = np.full((len(GRID), 3), 9.0)
    scores[0] = (1.0, 1.0, 5.0)  # best for the group of the first two
    scores[1] = (4.0, 4.0, 0.5)  # best for the third
    found = cross_validated(scores, ["a", "a", "b"])
    assert found.left_out_m.tolist() == [4.0, 4.0, 5.0]
    assert found.chosen == {"a": GRID[1], "b": GRID[0]}


def test_a_repeated_stamp_follows_a_double_step():
    assert unrepeated(np.array([0.0, 1.0, 3.0, 3.0, 4.0])).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_alignment_weighs_a_short_rest_lightly():
    rng = np.random.default_rng(2)
    t = np.arange(1000) / 200.0

    def bias_after(rest_s):
        swing = np.where(t >= rest_s, 5.0, 0.0)[:, None]
        gyr = 0.004 + 1e-4 * rng.normal(size=(1000, 3)) + swing
        acc = [0, 0, 9.81] + 0.01 * rng.normal(size=(1000, 3))
        return align_foot(Recording(t, gyr_s=gyr, acc_s=acc), gyr_bias_sigma=0.002)

    short, long = bias_after(0.15), bias_after(2.0)
    assert 0.0 < short.gyr_bias_s[1] < 0.25 * 0.004 < 0.1 * 0.004 + long.gyr_bias_s[1]
    assert long.gyr_bias_s[1] < 0.004 and long.gyr_bias_sigma[1] < short.gyr_bias_sigma[1] <= 0.002
    with pytest.raises(InputError, match="before the first step"):
        bias_after(0.02)


def test_other_files_are_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_foot_vicon(tmp_path / "none.mat")
    (tmp_path / "text.mat").write_text("no")
    with pytest.raises(InputError, match="cannot be read as a MATLAB file"):
        read_foot_vicon(tmp_path / "text.mat")
    (tmp_path / "short.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match='no column "Time'):
        read_xio_gait(tmp_path / "short.csv")
    with pytest.raises(InputError, match=r"no foot_vicon"):
        vicon_walks(tmp_path)
