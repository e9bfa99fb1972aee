"""strapdown reproduce B orientation: the flight, the failures of the printed filter, and BROAD."""

import numpy as np
import pytest

from helpers import shared_data
from strapdown.orientation.lodestar import Lodestar
from strapdown.papers.b.broad_data import Score, all_trials, score
from strapdown.papers.b.filters_on_broad import BroadTable, Scores, cross_validated, searched, settings_at
from strapdown.papers.b.flight import flight
from strapdown.papers.b.orientation import flown, reproduce_orientation


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
    assert searched([0], bowl(best)) == best[0]
    assert searched([1], bowl(best)) == best[1]
    assert searched([0, 1], bowl({0: (4, 0, 0, 0, 0), 1: (0, 2, 0, 0, 0)})) == (2, 1, 0, 0, 0)
    assert searched([0], lambda steps, i: (-float(sum(steps)), 0.0))[0] <= 22  # a search that finds no end has one


def test_left_out_trials_are_scored_with_settings_of_the_others():
    """Two trials with other best settings: each gets those of the other one, whatever they do to it."""
    best = {0: (2, 0, 0, 0, 0), 1: (0, 0, -3, 0, 0)}
    online, offline, chosen = cross_validated([None, None], lambda x: None, bowl(best))
    assert chosen == [best[1], best[0]]
    assert (online, offline) == (14.0, 13.0)  # 2^2 + 3^2, both ways


def test_the_search_begins_at_round_numbers_and_steps_by_the_root_of_2():
    start = settings_at((0, 0, 0, 0, 0))
    assert (start.mag_noise_deg, start.mag_noise_growth, start.mag_walk_deg) == (1.0, 10.0, 0.5)
    found = settings_at((3, 0, 0, -2, 0))  # what the search on all trials chooses: the defaults, rounded
    assert found.mag_noise_deg == pytest.approx(Lodestar().mag_noise_deg, rel=0.02)  # print rounding
    assert found.matrix_percent == pytest.approx(Lodestar().matrix_percent)


def test_a_trial_is_scored_by_running_the_filter_on_and_off_line():
    trial = all_trials(shared_data("broad"))[0]
    steps = (3, 0, 0, 2, 0)
    filt = settings_at(steps)
    expected = tuple(score(way(trial.recording), trial).total_deg for way in (filt.run, filt.smooth))
    scores = Scores([trial])
    assert scores(steps, 0) == expected == scores.known[steps, 0]


def test_a_table_means_over_trials():
    table = BroadTable({"m": {"a": Score(1.0, 2.0, 3.0), "b": Score(3.0, 4.0, 5.0)}}, ())
    assert table.mean("m") == Score(2.0, 3.0, 4.0)
