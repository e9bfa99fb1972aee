"""strapdown reproduce B orientation: the flight, the failures of the printed filter, and BROAD."""

import numpy as np

from helpers import shared_data
from strapdown.papers.b_broad import BroadTable, cross_validated
from strapdown.papers.b_flight import flight
from strapdown.papers.b_orientation import flown, reproduce_orientation
from strapdown.papers.broad import Score, all_trials


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
    assert found.broad is None
    assert [claim.id for claim in found.claims if not claim.holds] == []
    assert {"B/orientation/yaw/printed", "B/orientation/pitch/printed"} <= {claim.id for claim in found.claims}
    assert set(found.figures) == {"b_pitch_roll.png"}


def test_offsets_are_taken_off_before_take_off():
    log = flown()
    still = log.t < 5.0
    assert np.abs(np.rad2deg(log.gyr_s[still].mean(axis=0))).max() < 0.05
    assert set(log.meta["calibrated"]) == {"accelerometer", "gyroscope"}


def test_left_out_trials_are_scored_with_settings_of_the_others():
    """Two short trials: each gets the settings that are best on the other one, whatever they do to it."""
    trials = all_trials(shared_data("broad"))[:2]
    online, offline = cross_validated(trials, lambda x: None)
    assert 0.0 < offline <= online < 5.0


def test_a_table_means_over_trials():
    table = BroadTable({"m": {"a": Score(1.0, 2.0, 3.0), "b": Score(3.0, 4.0, 5.0)}}, ())
    assert table.mean("m") == Score(2.0, 3.0, 4.0)
