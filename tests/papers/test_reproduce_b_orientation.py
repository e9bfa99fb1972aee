"""strapdown reproduce B orientation: the flight, the failures of the printed filter, and BROAD."""

import numpy as np
import pytest

from helpers import shared_data
from strapdown.orientation.lodestar import Lodestar
from strapdown.orientation.mekf import Mekf
from strapdown.papers.b.broad_data import Score, Trial, all_trials, score, sigma_ratios
from strapdown.papers.b.broad_search import LODESTAR, MEKF, Scores, excluded, searched
from strapdown.papers.b.filters_on_broad import BroadTable, sigma_claims
from strapdown.papers.b.flight import flight
from strapdown.papers.b.orientation import flown, reproduce_orientation
from strapdown.rotation import q_exp, q_mul
from strapdown.types import Recording, Solution


def test_the_flight_is_one_of_a_quadcopter():
    """Thrust along z: an accelerometer on it reads no side force; at rest and level at both ends."""
    path = flight(9.81)
    motion = path.at(np.arange(0.0, path.duration_s, 0.01))
    force = motion.specific_force_b(9.81)
    # spline: attitudes are given every 0.1 s and run smoothly between
    assert np.abs(force[:, :2]).max() < 0.01
    assert force[:, 2].min() > 8.0
    np.testing.assert_allclose(motion.v_n[[0, -1]], 0.0, atol=1e-9)


def test_claims_without_recorded_data_hold():
    found = reproduce_orientation(None, lambda x: None)
    assert "broad" not in found.more and "BROAD trials were not found" in found.notes[0]
    assert [claim.id for claim in found.claims if not claim.holds] == []
    assert {"B/orientation/yaw/printed", "B/orientation/pitch/printed"} <= {claim.id for claim in found.claims}
    assert set(found.figures) == {"b_pitch_roll.png"}


def test_offsets_are_taken_off_before_take_off():
    log = flown()
    still = log.t < 5.0
    assert np.abs(np.rad2deg(log.gyr_s[still].mean(axis=0))).max() < 0.05
    assert set(log.meta["calibrated"]) == {"accelerometer", "gyroscope"}


def bowl(best):
    """Scores that are least at the steps `best` of each trial; on line and off line are alike but for 1."""

    def score_of(steps, i):
        off = float(np.sum((np.array(steps) - np.array(best[i])) ** 2))
        return off + 1.0, off

    return score_of


def test_the_search_finds_the_best_settings_of_the_trials_it_sees():
    best = {0: (3, 0, 0, 2, 0), 1: (-5, 1, 2, -1, 4), 2: (9, 9, 9, 9, 9)}
    assert searched([0], bowl(best), 5) == best[0]
    assert searched([1], bowl(best), 5) == best[1]
    assert searched([0, 1], bowl({0: (4, 0, 0, 0, 0), 1: (0, 2, 0, 0, 0)}), 5) == (2, 1, 0, 0, 0)
    assert searched([0], lambda steps, i: (-float(sum(steps)), 0.0), 5)[0] <= 22  # a search that finds no end has one


def test_left_out_trials_are_scored_with_settings_of_the_others():
    """Two trials with other best settings: each gets those of the other one, whatever they do to it."""
    best = {0: (2, 0, 0, 0, 0), 1: (0, 0, -3, 0, 0)}
    found = excluded([None, None], LODESTAR, lambda x: None, bowl(best))
    assert found.chosen == [best[1], best[0]]
    assert found.totals_deg == (14.0, 13.0)  # 2^2 + 3^2, both ways


def test_the_search_begins_at_round_numbers_and_steps_by_the_root_of_2():
    start = LODESTAR.at((0, 0, 0, 0, 0))
    assert (start.mag_noise_deg, start.mag_noise_growth, start.mag_walk_deg) == (1.0, 10.0, 0.5)
    found = LODESTAR.at((3, 0, 0, -2, 0))  # what the search on all trials chooses: the defaults, rounded
    assert found.mag_noise_deg == pytest.approx(Lodestar().mag_noise_deg, rel=0.02)  # print rounding
    assert found.matrix_percent == pytest.approx(Lodestar().matrix_percent)
    assert {name for name, _ in MEKF.starts} <= set(vars(Mekf()))


def test_a_trial_is_scored_by_running_the_filter_on_and_off_line():
    trial = all_trials(shared_data("broad"))[0]
    steps = (3, 0, 0, 2, 0)
    filt = LODESTAR.at(steps)
    expected = tuple(score(way(trial.recording), trial).total_deg for way in (filt.run, filt.smooth))
    scores = Scores([trial], LODESTAR)
    assert scores(steps, 0) == expected == scores.known[steps, 0]


def test_a_table_means_over_trials():
    table = BroadTable({"m": {"a": Score(1.0, 2.0, 3.0), "b": Score(3.0, 4.0, 5.0)}}, ())
    assert table.mean("m") == Score(2.0, 3.0, 4.0)


def test_a_sigma_that_is_half_the_error_has_a_ratio_of_two():
    """Errors of 0.02 rad about the vertical and 0.03 about x; what is not in movement, or has no truth, is not used."""
    n = 6
    turned = q_mul(q_exp([0.0, 0.0, 0.02]), q_exp([0.03, 0.0, 0.0]))
    truth = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    truth[4] = np.nan
    movement = np.array([False, True, True, True, True, True])
    log = Recording(np.arange(n) / 10.0, gyr_s=np.zeros((n, 3)))
    sigma = np.tile([0.03, 0.04, 0.01], (n, 1))
    sigma[[0, 4]] = 9.0
    q_nb = np.tile(turned, (n, 1))
    found = sigma_ratios(Solution(log.t, q_nb, sigma={"attitude_n": sigma}), Trial("t", log, truth, movement))
    assert found == pytest.approx((2.0, 0.03 / 0.05), rel=1e-3)  # second order of the two turns


def test_sigma_claims_are_about_the_worst_of_all():
    least, most = sigma_claims({"a": (0.8, 1.1), "b": (0.69, 1.51)})
    assert (least.ours, least.holds, most.ours, most.holds) == (0.69, False, 1.51, False)
    assert all(claim.holds for claim in sigma_claims({"a": (0.7, 1.5)}))
