"""Robots that are hit: blows that the accelerometer misses, slopes, kerbs."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.live import Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, NonHolonomic, WheelTravel
from strapdown.rotation import q_exp, q_rotate
from strapdown.types import Recording

G, RATE_HZ = 9.81, 50.0
ROBOT = Eskf(
    gravity=G,
    gyr_white=1e-4,
    acc_white=3e-3,
    flat_floor=FlatFloor(slope_of_pitch=1.0),
    non_holonomic=NonHolonomic(upward_sigma_m_s=None),
    wheel_travel=WheelTravel(),
    huber_sigmas=3.0,
    follows_shaking=True,
)


def drive(missed=(), pitch=None, total_s=40.0, seed=1):
    """Rest for 3 s, 1 m/s within the next; at each time of `missed` it loses half of its speed at once, which the
    accelerometer does not read, and gains it again within a second. pitch: by time (rad, nose up)."""
    t = np.arange(round(total_s * RATE_HZ)) / RATE_HZ
    rng = np.random.default_rng(seed)
    speed = np.clip(t - 3.0, 0.0, 1.0)
    read = np.gradient(speed, t)
    for at in missed:
        speed = speed - 0.5 * np.clip(1.0 - (t - at), 0.0, 1.0) * (t >= at)
        read = read + 0.5 * ((t >= at) & (t < at + 1.0))
    theta = np.zeros(len(t)) if pitch is None else pitch(t)
    back = q_exp(np.column_stack([0.0 * t, theta, 0.0 * t]))  # b to n turned back: nose up is a turn about -y
    acc = q_rotate(back, np.tile([0.0, 0.0, G], (len(t), 1))) + np.column_stack([read, 0.0 * t, 0.0 * t])
    gyr = np.column_stack([0.0 * t, -np.gradient(theta, t), 0.0 * t])
    acc += 0.01 * rng.standard_normal(acc.shape)
    gyr += 1e-3 * rng.standard_normal(gyr.shape)
    way = np.cumsum(speed) / RATE_HZ
    return Recording(t, gyr_s=gyr, acc_s=acc, odometer=way, stop=t < 3.0), way


def run(log, filt=ROBOT):
    return filt.run(log, Start.of(log, alignment=align_to_yaw(log, 0.0, 0.0, rest_s=2.5)))


def test_a_blow_that_the_accelerometer_missed_is_corrected_by_the_wheels():
    log, way = drive(missed=(10.0, 20.0, 30.0))
    end = {}
    for follows in (True, False):
        found = run(log, replace(ROBOT, follows_shaking=follows))
        end[follows] = abs(found.p_n[-1, 0] - way[-1])
    # 0.5 m/s too fast: the first blow costs a second of it, the others less, as the noise is still that of blows
    assert end[True] < 0.5 < end[False]


def bump(lasts_s):
    return lambda t: 0.15 * np.clip(np.minimum(t - 10.0, 10.0 + lasts_s - t) / 0.05, 0.0, 1.0)


@pytest.mark.parametrize(("tilted_s", "floor"), ((0.7, True), (1.5, False)))
def test_a_second_of_slope_ends_the_floor_of_the_start(tilted_s, floor):
    log, _ = drive(pitch=bump(tilted_s))
    used = run(log).flags["floor_used"]
    assert used[log.t < 9.5].any() and bool(used[log.t > 15.0].any()) == floor
