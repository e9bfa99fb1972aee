"""The Kalman filter of attitude and bias at places of rest: iron under a resting sensor is that of the place."""

import numpy as np
import pytest
from test_mekf_field import FIELD_N, RATE_HZ, heading_deg, readings

from orientation_cases import DEG, G
from strapdown.kernels.orientation.mekf import filter as kernel
from strapdown.kernels.orientation.mekf import layout, update
from strapdown.live import Start
from strapdown.orientation.mekf import Mekf
from strapdown.orientation.running import first_numbers
from strapdown.rotation import q_exp, q_from_euler, q_mul

TURNS_S, RESTS_S = 40.0, 60.0


def put_down(iron, seed=0):
    """Turned for 40 s, at rest on iron (uT, frame n) for a minute, turned again: times, readings, attitude."""
    t = np.arange(round((2.0 * TURNS_S + RESTS_S) * RATE_HZ)) / RATE_HZ
    rests = (t >= TURNS_S) & (t < TURNS_S + RESTS_S)
    angle = np.cumsum(np.where(rests, 0.0, 40.0 * DEG / RATE_HZ))
    q_ns = q_mul(q_exp(np.outer(angle, [0.0, 0.0, 1.0])), q_from_euler(0.3, -0.4, 0.5))
    near = np.clip(np.minimum(t - TURNS_S + 1.0, TURNS_S + RESTS_S + 1.0 - t), 0.0, 1.0)
    return t, readings(q_ns, FIELD_N + np.outer(near, iron), seed), q_ns


@pytest.mark.parametrize("iron", [[5.0, 0.0, 0.0], [10.0, 0.0, 0.0], [-8.0, 3.0, 2.0], [20.0, 0.0, 5.0]])
def test_iron_under_a_resting_sensor_does_not_turn_the_heading(iron):
    """It turns the field by 14, 27, 19 and 45 deg. The heading followed it within 10 s, but for the last one, which is
    rejected: that one it followed after mag_patience_s."""
    t, read, q_ns = put_down(iron)
    found = Mekf().run(read)
    error, sigma = heading_deg(found, q_ns), np.rad2deg(found.sigma["attitude_n"][:, 2])
    for when in (t > 95.0) & (t < 100.0), (t > 110.0) & (t < 130.0):
        assert np.abs(error[when]).max() < 5.0  # model: two sigmas of what is known of the heading
        assert (np.abs(error[when]) < 3.0 * sigma[when]).all()


def test_a_rest_in_the_earths_field_shows_the_bias_and_no_better_heading():
    """A place is as good as mag_disturbance_deg, however long the sensor rests there."""
    t, read, q_ns = put_down([0.0, 0.0, 0.0])
    found = Mekf().run(read)
    sigma = np.rad2deg(found.sigma["attitude_n"][:, 2])
    assert sigma[t < 99.0][-1] > 0.8 * sigma[t < 41.0][-1]
    assert np.abs(heading_deg(found, q_ns)[t > 20.0]).max() < 3.0
    assert np.abs(found.bias["gyr_s"][t < 99.0][-1]).max() < 0.05 * DEG


def numbers_after(gyr, acc, field=FIELD_N, **settings):
    """The state after readings at RATE_HZ, level and heading north."""
    filt = Mekf(**settings)
    x, s = first_numbers(filt, Start(step_s=1.0 / RATE_HZ)), filt.packed_settings.copy()
    fields = np.broadcast_to(field, gyr.shape)
    for k in range(len(gyr)):
        kernel.step(x, s, gyr[k], acc[k], fields[k].copy(), 0.0 if k == 0 else 1.0 / RATE_HZ)
    return x


def still(seconds):
    n = round(seconds * RATE_HZ)
    return np.zeros((n, 3)), np.tile([0.0, 0.0, G], (n, 1))


def test_what_is_no_rest():
    """Each case is just beyond one limit: with twice the limit it would be a rest."""
    gyr, acc = still(2.0)
    sign = np.where(np.arange(len(gyr)) % 2 == 0, 1.0, -1.0)[:, None]  # no bias
    assert numbers_after(gyr, acc)[layout.QUIET_T] > 1.5
    assert numbers_after(gyr + 1.4 * DEG * sign * [0.0, 0.0, 1.0], acc)[layout.QUIET_T] == 0.0  # STILL2
    assert numbers_after(gyr, acc + 0.25 * sign * [1.0, 0.0, 0.0])[layout.QUIET_T] == 0.0  # SHAKES2
    noisy = numbers_after(gyr + 0.06 * sign * [0.0, 0.0, 1.0], acc, gyr_white=2e-3)  # NOISY
    assert noisy[layout.QUIET_T] == 0.0


def test_a_place_is_judged_by_two_seconds_after_half_a_second():
    gyr, acc = still(30.0)
    turns = gyr.copy()
    turns[:1000, 2] = 30.0 * DEG * np.where(np.arange(1000) // 50 % 2 == 0, 1.0, -1.0)
    iron = np.where((np.arange(1500) >= 1000)[:, None], np.add(FIELD_N, [12.0, 0.0, 0.0]), FIELD_N)

    def after(rest_s):
        rows = slice(0, 1000 + round(rest_s * RATE_HZ))
        return numbers_after(turns[rows], acc[rows], iron[rows])

    assert after(0.4)[layout.ARRIVED_T] == 0.0 < after(0.8)[layout.ARRIVED_T]  # STILL_S
    assert np.sqrt(after(2.2)[update.PLACE_P]) < 15.0 * DEG < np.sqrt(after(2.7)[update.PLACE_P])  # ARRIVES_S
