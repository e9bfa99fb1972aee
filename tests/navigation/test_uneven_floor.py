"""A floor as it is laid: uneven by 5 mm between distant places, in waves of 2 to 20 m."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.navigation.carriers.wheeled_robot import FLOOR_LENGTH_M, WheeledRobot
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.papers.c.robustness.specimens import specimen
from strapdown.papers.c.robustness.ways import Leg, drive_along, stop, uneven

SIGMA_M = WheeledRobot(Heading()).constraints()["flat_floor"].height_sigma_m


def heights(seed, way):
    slope, _ = uneven(np.random.default_rng(seed), SIGMA_M)(way)
    return np.concatenate([[0.0], np.cumsum(0.5 * (slope[1:] + slope[:-1]) * np.diff(way))])


def test_the_filter_assumes_the_unevenness_of_such_floors():
    """Heights a way d apart differ by sigma sqrt(1 - exp(-d / length)), as far as 12 waves know an exponential."""
    way = np.arange(0.0, 400.0, 0.05)
    z = [heights(seed, way) for seed in range(40)]
    for lengths in (1.0, 2.0):
        rows = round(lengths * FLOOR_LENGTH_M / 0.05)
        rms = np.sqrt(np.mean([np.mean((each[rows:] - each[:-rows]) ** 2) for each in z]))
        assert rms == pytest.approx(SIGMA_M * np.sqrt(1.0 - np.exp(-lengths)), rel=0.2)  # twice the length: 0.6 and 0.7


def navigated(part, seed, slope):
    legs = [Leg(8.0, ramp_s=0.002)]
    for _ in range(4):
        legs += [Leg(15.0, 0.7, 0.0), Leg(6.0, 0.7, 0.4), stop(3.0)]
    way = drive_along(legs, slope=slope)
    one = specimen(part, seed)
    log = one.read(way.body, "uneven")
    rows = np.searchsorted(way.body.t, log.t + 1e-9) - 1
    travel = np.cumsum(np.linalg.norm(way.body.v_n, axis=1)) * 0.002
    log = replace(log, stop=way.stopped[rows], odometer=travel[rows])
    found = navigate(log, WheeledRobot(Heading(0.0, 0.0)), one.facts())
    error = log.truth.p_n[:, 2] - log.truth.p_n[0, 2] - found.solution.p_n[:, 2]
    return error[::100], found.solution.sigma["p_n"][::100, 2], found


@pytest.mark.parametrize("part", ("icm-42688-p", "adis16470"))
def test_heights_on_an_uneven_floor_are_within_their_sigma(part):
    squares = []
    for seed in range(6):
        error, sigma, found = navigated(part, 40 + seed, uneven(np.random.default_rng(seed), SIGMA_M))
        squares.append(np.mean((error[10:] / sigma[10:]) ** 2))
        assert np.abs(error).max() < 0.1  # it does not leave its floor; 2 m off where it did
        assert found.solution.flags["floor_used"][-2500:].any() and found.warnings == ()
    assert 0.1 < np.mean(squares) < 2.0  # 3 to 50 where every sample of a stop counted as another height


def test_a_stop_is_one_height_however_long():
    """4 s of samples are no 400 measurements of 5 mm."""
    _, sigma, _ = navigated("icm-42688-p", 40, None)
    assert sigma[-1] > 0.4 * SIGMA_M


def test_a_long_slope_that_is_not_seen_at_once_is_not_far_beyond_its_sigma():
    """20 m of 0.8 %: each metre of it may be the unevenness of the floor. Before, 16 cm were 300 sigmas."""

    def slope(way):
        up = (np.tanh((way - 5.0) / 0.5) - np.tanh((way - 25.0) / 0.5)) / 2.0
        near = (1.0 - np.tanh((way - 5.0) / 0.5) ** 2) - (1.0 - np.tanh((way - 25.0) / 0.5) ** 2)
        return 0.008 * up, 0.008 * near

    error, sigma, _ = navigated("adis16470", 40, slope)
    assert np.abs(error[10:] / sigma[10:]).max() < 10.0
