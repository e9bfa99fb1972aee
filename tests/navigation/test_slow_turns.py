"""A stop during which the sensor turns slowly is a stop that turns: its rate is no bias."""

import numpy as np
import pytest

from strapdown.live import Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.carriers.residual_errors import UNSEEN_TURN
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import ZeroRate
from strapdown.types import Recording

G, RATE_HZ, WHITE = 9.81, 100.0, 1e-4  # rad/s/sqrt(Hz): a gyroscope of 0.006 deg/s/sqrt(Hz)


def stand_move_stand(turn_rad_s, seed=1, last_s=10.0):
    """10 s at rest, 5 s of motion as a filter sees it (no stop), and a stop that turns."""
    rng = np.random.default_rng(seed)
    n, last = round(15.0 * RATE_HZ), round(last_s * RATE_HZ)
    t = np.arange(n + last) / RATE_HZ
    gyr = WHITE * np.sqrt(RATE_HZ) * rng.standard_normal((n + last, 3))
    gyr[n:, 2] += turn_rad_s
    acc = np.array([0.0, 0.0, G]) + 0.01 * rng.standard_normal((n + last, 3))
    stop = (t < 10.0) | (t >= 15.0)
    return Recording(t, gyr_s=gyr, acc_s=acc, stop=stop)


def run(log, **zero_rate):
    filt = Eskf(gravity=G, gyr_white=WHITE, acc_white=1e-3, gyr_bias_sigma=5e-4, zero_rate=ZeroRate(**zero_rate))
    return filt.run(log, Start.of(log, alignment=align_to_yaw(log, 0.0, rest_s=9.0)))


@pytest.mark.parametrize("degrees", (0.03, 0.1, 0.3))
def test_the_turn_is_not_taken_for_bias(degrees):
    log = stand_move_stand(np.radians(degrees))
    found = run(log)
    assert abs(found.bias["gyr_s"][-1, 2]) < 3.0 * found.sigma["gyr_s"][-1, 2]
    assert found.flags["still_rejected"].any()
    # the attitude follows the turn, from the beginning of the stop
    yaw = 2.0 * np.arctan2(found.q_nb[-1, 3], found.q_nb[-1, 0])
    assert abs(yaw - np.radians(degrees) * 10.0) < 4.0 * found.sigma["attitude_n"][-1, 2] + 1e-4


def test_a_turn_too_slow_to_be_seen_is_within_the_sigma_where_nothing_but_the_sensor_shows_the_stop():
    """0.01 deg/s is twice the sigma of the bias before the stop, and no test can see it."""
    errors = []
    for seed in range(5):
        found = run(stand_move_stand(np.radians(0.01), seed), unseen_turn=1.0)
        errors.append(found.bias["gyr_s"][-1, 2] / found.sigma["gyr_s"][-1, 2])
    assert np.sqrt(np.mean(np.square(errors))) < 3.0


def test_a_stop_that_does_not_turn_shows_the_bias():
    found = run(stand_move_stand(0.0))
    # the mean of 19 s of this noise, but for what is wandered meanwhile
    assert found.sigma["gyr_s"][-1, 2] < 1.5 * WHITE / np.sqrt(19.0) + 6e-5
    assert "still_rejected" not in found.flags


def test_blocks_of_half_a_second_are_one_measurement_each():
    found = run(stand_move_stand(0.0))
    after = found.t >= 15.0
    assert abs(int(found.flags["still_used"][after].sum()) - 20) <= 1


def stands_that_turn(turn_rad_s, seed, times=6, stop_s=8.0):
    """10 s at rest; then, so many times, 5 s of motion and a stop that turns by the same rate."""
    rng = np.random.default_rng(seed)
    n = round((10.0 + times * (5.0 + stop_s)) * RATE_HZ)
    t = np.arange(n) / RATE_HZ
    moving = (t >= 10.0) & ((t - 10.0) % (5.0 + stop_s) < 5.0)
    gyr = WHITE * np.sqrt(RATE_HZ) * rng.standard_normal((n, 3))
    gyr[(t >= 10.0) & ~moving, 2] += turn_rad_s
    acc = np.array([0.0, 0.0, G]) + 0.01 * rng.standard_normal((n, 3))
    return Recording(t, gyr_s=gyr, acc_s=acc, stop=~moving)


@pytest.mark.parametrize("degrees", (0.005, 0.01, 0.03, 0.1))
def test_ground_that_turns_in_every_stop_does_not_become_the_bias(degrees):
    """A turntable under the wheels: six stops that turn alike, too slowly to be seen in one of them, or not."""
    far = []
    for seed in range(4):
        found = run(stands_that_turn(np.radians(degrees), seed), unseen_turn=UNSEEN_TURN)
        far.append(found.bias["gyr_s"][-1, 2] / found.sigma["gyr_s"][-1, 2])
    assert np.sqrt(np.mean(np.square(far))) < 2.5


def test_a_stop_that_turns_leaves_the_sigma_of_the_bias_as_it_was():
    """Not what the stops before it have added: the next turn would not be seen."""
    log = stands_that_turn(np.radians(0.3), 1)
    found = run(log, unseen_turn=UNSEEN_TURN)
    first, last = np.searchsorted(log.t, [14.9, log.t[-1]])
    # what the bias may have wandered by in 80 s, at most its own drift
    assert found.sigma["gyr_s"][last, 2] < found.sigma["gyr_s"][first, 2] + 6e-5
