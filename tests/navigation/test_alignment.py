"""Alignment at rest: attitude from averages, heading from a value, from the magnetometer, or unknown."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_c_cases import DECLINATION, FIELD_N, G, drive, known_triads
from strapdown.earth import gravity_vector
from strapdown.errors import InputError
from strapdown.navigation.alignment import (
    UNKNOWN_HEADING_RAD,
    align_by_magnetometer,
    align_to_yaw,
    first_rest_s,
)
from strapdown.rotation import IDENTITY, euler_from_q, q_conj, q_from_euler, q_log, q_mul, q_rotate
from strapdown.sensors.triad import instability_processes
from strapdown.types import Recording

angle = st.floats(-3.1, 3.1)
tilt = st.floats(-1.5, 1.5)


def at_rest(q_ns, n=50, gyr=(0.01, -0.02, 0.03)):
    force = q_rotate(q_conj(q_ns), -gravity_vector(G))
    return Recording(
        0.01 * np.arange(n),
        gyr_s=np.tile(gyr, (n, 1)),
        acc_s=np.tile(force, (n, 1)),
        mag_s=np.tile(q_rotate(q_conj(q_ns), FIELD_N), (n, 1)),
    )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(angle, tilt, angle, angle, tilt, angle)
def test_the_attitude_of_an_ideal_sensor_is_exact_however_it_is_mounted(roll, pitch, yaw, r, p, y):
    q_nb, q_bs = q_from_euler(roll, pitch, yaw), q_from_euler(r, p, y)
    q_ns = q_mul(q_nb, q_bs)
    log = at_rest(q_ns)
    for found in (
        align_to_yaw(log, yaw, rest_s=0.4, q_bs=q_bs),
        align_by_magnetometer(log, declination_rad=DECLINATION, rest_s=0.4, q_bs=q_bs),
    ):
        # roundoff; near the pole of Euler's angles (0.07 rad off) it is larger by 1 / cos(pitch) = 14
        assert np.linalg.norm(q_log(q_mul(q_ns, q_conj(found.q_ns)))) < 1e-12
        np.testing.assert_allclose(found.gyr_bias_s, (0.01, -0.02, 0.03), atol=1e-16)  # roundoff of a mean


def test_strength_and_dip_of_the_field_are_those_of_the_world():
    found = align_to_yaw(at_rest(q_from_euler(0.1, 0.2, 0.3)), 0.3, rest_s=0.4)
    assert abs(found.field_ut - np.linalg.norm(FIELD_N)) < 1e-12  # roundoff
    assert abs(found.dip_rad - np.arctan2(-FIELD_N[2], np.hypot(*FIELD_N[:2]))) < 1e-14  # roundoff


def test_an_unknown_heading_is_0_with_the_deviation_of_a_full_circle():
    found = align_to_yaw(at_rest(q_from_euler(0.1, -0.2, 2.0)), 0.0, UNKNOWN_HEADING_RAD, rest_s=0.4)
    np.testing.assert_allclose(np.array(euler_from_q(found.q_ns)), [0.1, -0.2, 0.0], atol=1e-14)  # roundoff
    assert found.heading_sigma_rad == UNKNOWN_HEADING_RAD
    turned = np.linspace(-np.pi, np.pi, 100_001)
    assert abs(UNKNOWN_HEADING_RAD - turned.std()) < 1e-4  # a sum for an integral


def test_deviations_are_those_of_many_specimens_at_rest():
    """Noise alone: tilt and bias of 60 drives scatter as each of them states."""
    logs = [drive("straight", seed, constant_errors=0.0, length_m=0.3).log for seed in range(60)]
    runs = [align_to_yaw(log, 0.5 * np.pi) for log in logs]
    tilt = np.array([q_log(q_mul(run.q_ns, q_conj(q_from_euler(0, 0, 0.5 * np.pi))))[:2] for run in runs]) / np.array(
        [[run.tilt_sigma_rad] for run in runs]
    )
    bias = np.array([run.gyr_bias_s / run.gyr_bias_sigma for run in runs])
    # the instability, which a rest cannot tell from the bias, comes on top: all its processes at most
    acc, gyr = known_triads()
    slow = np.sum(instability_processes(*gyr.instability_band_s)[1] ** 2)
    for z, triad in ((tilt, acc), (bias, gyr)):
        most = 1.0 + slow * (triad.instability[0] / triad.white[0]) ** 2
        chance = 5.0 * np.sqrt(2.0 / z.size)  # five sigmas of a sample variance
        assert 1.0 - chance < np.mean(z**2) < most * (1.0 + chance)


def starting(start_s, m_s2, for_s, **columns):
    """20 s at rest, but for a push to the front from start_s on."""
    t = 0.01 * np.arange(2000)
    rng = np.random.default_rng(5)
    acc = np.array([0.0, 0.0, G]) + rng.normal(0.0, 0.03, (len(t), 3))
    gyr = rng.normal(0.0, 1e-3, (len(t), 3))
    acc[(t >= start_s) & (t < start_s + for_s), 0] += m_s2
    return Recording(t, gyr_s=gyr, acc_s=acc, **columns)


def test_the_first_rest_ends_where_readings_gain_speed():
    for start_s in (3.0, 8.0, 15.0):
        found = first_rest_s(starting(start_s, 0.05, 1.2), 20.0)  # 0.05 m/s2: less than two sigmas of a reading
        assert start_s - 0.75 <= found <= start_s + 0.25  # s: chance; three sigmas of the speed gained in 0.4 s
    assert first_rest_s(starting(0.0, 0.0, 0.0), 20.0) == 20.0  # noise alone
    assert first_rest_s(starting(0.0, 0.3, 20.0), 20.0) == 20.0  # and a bias


def test_the_first_rest_ends_with_the_flag_but_not_where_it_flickers():
    t = 0.01 * np.arange(2000)
    flag = t < 7.0
    flag[300:302] = False
    assert first_rest_s(starting(0.0, 0.0, 0.0, stop=flag), 20.0) == pytest.approx(7.0, abs=1e-9)  # roundoff
    assert first_rest_s(starting(0.0, 0.0, 0.0, stop=~flag), 20.0) == 20.0  # not set at the start: no word


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (Recording([0.0, 0.1], gyr_s=np.zeros((2, 3))), "no accelerometer"),
        (at_rest(IDENTITY, n=5), "5 samples"),
        (Recording(0.01 * np.arange(50), gyr_s=np.zeros((50, 3)), acc_s=np.zeros((50, 3))), "reads 0 at rest"),
    ],
)
def test_what_cannot_be_aligned_is_refused(log, message):
    with pytest.raises(InputError, match=message):
        align_to_yaw(log, 0.0, rest_s=0.4)


def test_a_moving_start_and_a_missing_magnetometer_are_refused():
    log = drive("square", 0).log
    moving = slice(500, 800)
    part = Recording(log.t[moving], gyr_s=log.gyr_s[moving], acc_s=log.acc_s[moving] * [1.0, 1.0, 1.0])
    shaken = Recording(part.t, gyr_s=part.gyr_s, acc_s=part.acc_s + np.sin(part.t * 40.0)[:, None] * 3.0)
    with pytest.raises(InputError, match="moves during its first 1 s"):
        align_to_yaw(shaken, 0.0)
    with pytest.raises(InputError, match="no magnetometer"):
        align_by_magnetometer(part)
    with pytest.raises(InputError, match="give a number"):
        align_to_yaw(part, np.nan)
