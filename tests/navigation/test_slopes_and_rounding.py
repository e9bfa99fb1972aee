"""Sigmas of slopes, of counts at rest, and of a calibration that did not find its skew."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.kernels.jit import python_of
from strapdown.kernels.navigation.eskf.floor import SLOPES_RAD
from strapdown.kernels.navigation.eskf.zero_rates import rounded
from strapdown.navigation.carriers.hand import Hand
from strapdown.navigation.carriers.residual_errors import left_by
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.papers.c.robustness.specimens import G, specimen
from strapdown.papers.c.robustness.ways import Leg, drive_along, stop
from strapdown.sensors.parts.part import load_part


@pytest.mark.parametrize("sigma", (0.2, 0.33, 0.5))
def test_counts_leave_an_error_in_a_mean_however_long(sigma):
    """Noise of a third of a count: the mean of rounded readings depends on where between two counts the value is."""
    rng = np.random.default_rng(1)
    values = np.linspace(0.0, 1.0, 40, endpoint=False)
    errors = [np.round(value + sigma * rng.standard_normal(40_000)).mean() - value for value in values]
    stated = np.sqrt(python_of(rounded)(1.0 / 12.0, sigma**2, 1.0))
    noise = sigma / 200.0
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.hypot(stated, noise), rel=0.25)  # 40 values


def drive(pitch_rad, seed=3):
    """Four legs over hills of 12 m whose pitch is up to pitch_rad, an ADIS16470."""
    legs = [Leg(8.0, ramp_s=0.002)]
    for _ in range(4):
        legs += [Leg(12.0, 0.7, 0.0), stop(3.0)]

    def slope(way):
        turn = 2.0 * np.pi / 12.0
        return pitch_rad * np.sin(turn * way), pitch_rad * turn * np.cos(turn * way)

    way = drive_along(legs, slope=slope)
    one = specimen("adis16470", seed)
    log = one.read(way.body, "hills")
    rows = np.searchsorted(way.body.t, log.t + 1e-9) - 1
    return replace(log, stop=way.stopped[rows]), one.facts()


@pytest.mark.parametrize(("pitch_rad", "floor"), ((0.3 * SLOPES_RAD, True), (4.0 * SLOPES_RAD, False)))
def test_a_pitch_that_changes_ends_the_floor_and_heights_stay_within_their_sigma(pitch_rad, floor):
    log, facts = drive(pitch_rad)
    found = navigate(log, WheeledRobot(Heading(0.0)), facts)
    late = found.solution.t > 30.0
    assert bool(found.solution.flags["floor_used"][late].any()) == floor
    if not floor:
        error = (log.truth.p_n[:, 2] - log.truth.p_n[0, 2] - found.solution.p_n[:, 2])[late]
        assert np.abs(error / found.solution.sigma["p_n"][late, 2]).max() < 4.0
        assert np.ptp(log.truth.p_n[:, 2]) > 0.1  # what a flat floor would have lost
    assert found.warnings == ()


def test_a_skew_that_was_not_found_is_in_the_bias():
    """Faces put down by hand: the calibration of this ICM-42688-P finds offsets and scales alone. Axes off by the
    tolerance then read gravity as a bias of a level vehicle, a hundred times what the offset itself is known to."""
    one = specimen("icm-42688-p", 114)
    assert not np.isfinite(one.calibration.corrections["accelerometer"].sigma["matrix"]).all()
    part = load_part("icm-42688-p")
    known, tolerance = left_by(one.calibration, G, part), part.file.accelerometer.cross_axis
    assert tolerance is not None and known["acc_bias_sigma"] > 5e-3


def test_a_hand_whose_sensor_is_known_is_filtered_with_its_noise():
    log, facts = drive(0.0)
    known = Hand(Heading(0.0)).estimator(replace(log, stop=None), facts)
    unknown = Hand(Heading(0.0)).estimator(replace(log, stop=None), replace(facts, noise={}))
    assert known.acc_white == max(facts.noise["accelerometer"].white) < 0.1 * unknown.acc_white
    assert known.zero_velocity.sigma_m_s < 0.3 * unknown.zero_velocity.sigma_m_s  # it lies on a table
