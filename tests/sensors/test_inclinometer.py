"""The inclinometer: exact at rest, fooled by acceleration, and its errors one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.earth import MARS_GRAVITY
from strapdown.errors import InputError
from strapdown.motion import Linear, Rest
from strapdown.rotation import q_from_euler
from strapdown.sensors.inclinometer import DEG, Inclinometer, attitude_from, tilt_from_force
from strapdown.sensors.streams import stream

SOME = settings(max_examples=60, deadline=None)
G = 9.81
PERFECT = Inclinometer()


def rng(seed=1):
    return stream(seed, "inclinometer")


def standing(roll, pitch, yaw=0.0, n=2, rate_hz=100.0):
    return Rest(1e6, q_nb=q_from_euler(roll, pitch, yaw)).at(np.arange(n) / rate_hz)


def reads(part, roll=0.0, pitch=0.0, n=2, gravity=G, seed=1, **more):
    return part.measure(standing(roll, pitch, n=n), gravity, stream=rng(seed), **more).tilt


tilts = st.floats(-89.0 * DEG, 89.0 * DEG)


# ---------------------------------------------------------------- what it states


@SOME
@given(tilts, tilts, st.floats(-3.0, 3.0), st.sampled_from([G, MARS_GRAVITY]))
def test_at_rest_roll_and_pitch_come_back(roll, pitch, yaw, gravity):
    """On the ground, whatever its heading, on Earth and on Mars: the start of paper B's helicopter."""
    tilt = PERFECT.measure(standing(roll, pitch, yaw), gravity, stream=rng()).tilt
    back = attitude_from(tilt)
    # roundoff of 1e-15 in the attitude, divided by cos(roll) cos(pitch), which is 3e-4 at 89 deg
    np.testing.assert_allclose(back, np.array([[roll] * 2, [pitch] * 2]), rtol=0, atol=1e-11)


@SOME
@given(tilts)
def test_about_one_axis_tilt_is_the_angle(angle):
    np.testing.assert_allclose(reads(PERFECT, roll=angle)[0], [0.0, angle], atol=1e-15)
    np.testing.assert_allclose(reads(PERFECT, pitch=angle)[0], [-angle, 0.0], atol=1e-15)  # nose up is -pitch


@SOME
@given(tilts, tilts)
def test_two_axes_and_three_agree_at_the_gravity_they_are_adjusted_to(roll, pitch):
    two = reads(Inclinometer(gravity_m_s2=G), roll, pitch)
    np.testing.assert_allclose(two, reads(PERFECT, roll, pitch), atol=1e-13)  # asin near 89 deg


def test_a_part_with_two_axes_is_wrong_on_mars():
    tilt = reads(Inclinometer(gravity_m_s2=G), roll=0.5, gravity=MARS_GRAVITY)
    np.testing.assert_allclose(tilt[:, 1], np.arcsin(np.sin(0.5) * MARS_GRAVITY / G), rtol=1e-14)


def test_acceleration_reads_as_tilt():
    """It cannot know: speeding up by a along x is a tilt of atan(a / g), and the run at steady speed is level."""
    run = Linear((0, 0, 0), (10.0, 0, 0), speed_m_s=2.0, acceleration_m_s2=1.0)
    tilt = PERFECT.measure(run.at([0.5, 1.0, 4.0, 6.5]), G, stream=rng()).tilt
    expected = np.arctan2(1.0, G)
    np.testing.assert_allclose(tilt[:, 0], [expected, expected, 0.0, -expected], atol=1e-15)
    assert np.all(tilt[:, 1] == 0.0)


def test_more_than_gravity_is_flagged_by_two_axes():
    run = Linear((0, 0, 0), (1000.0, 0, 0), speed_m_s=100.0, acceleration_m_s2=15.0)
    found = Inclinometer(gravity_m_s2=G).measure(run.at([1.0]), G, stream=rng())
    assert found.tilt[0, 0] == np.pi / 2 and found.saturated.tolist() == [[True, False]]


def test_free_fall_reads_level():
    tilt, beyond = tilt_from_force(np.zeros((1, 3)))
    assert tilt.tolist() == [[0.0, 0.0]] and not beyond.any()


# ---------------------------------------------------------------- its errors


def test_matrix_bias_and_drift_add_up():
    part = Inclinometer(matrix=((1.02, 0.01), (-0.03, 0.97)), bias=(0.01, -0.02), drift=(1e-4, -2e-4))
    tilt = reads(part, roll=0.2, pitch=-0.3, temperature_c=35.0)
    x, y = reads(PERFECT, roll=0.2, pitch=-0.3)[0]
    expected = [1.02 * x + 0.01 * y + 0.01 + 1e-3, -0.03 * x + 0.97 * y - 0.02 - 2e-3]
    np.testing.assert_allclose(tilt, [expected] * 2, atol=1e-15)


def test_temperature_may_change():
    tilt = reads(Inclinometer(drift=(1e-3, 0.0)), temperature_c=[25.0, 45.0])
    np.testing.assert_allclose(tilt, [[0.0, 0.0], [0.02, 0.0]], atol=1e-16)


def test_nonlinearity_is_at_most_its_part_of_the_range():
    part = Inclinometer(nonlinearity=(0.0, 0.01), range_rad=30 * DEG)
    angles = np.linspace(-30, 30, 601) * DEG
    off = np.array([reads(part, roll=a)[0, 1] - a for a in angles])
    assert abs(np.max(np.abs(off)) / (0.01 * 30 * DEG) - 1.0) < 1e-12  # at both ends of the range
    np.testing.assert_allclose(off, -off[::-1], atol=1e-15)  # the same on both sides


def test_range_clips_and_says_so():
    part = Inclinometer(range_rad=30 * DEG)
    found = part.measure(standing(40 * DEG, 10 * DEG), G, stream=rng())
    assert np.all(found.tilt[:, 1] == 30 * DEG) and found.saturated[0].tolist() == [False, True]


@SOME
@given(tilts)
def test_resolution(angle):
    step = 0.025 * DEG
    tilt = reads(Inclinometer(resolution=step), roll=angle)
    counts = tilt / step
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)  # roundoff of 4000 counts
    assert np.max(np.abs(tilt[:, 1] - angle)) <= 0.5 * step + 1e-15


@pytest.mark.parametrize("rate_hz", [20.0, 100.0, 500.0])
def test_white_noise_is_a_density(rate_hz):
    """The mean of T seconds has a sigma of N / sqrt(T), whatever the rate."""
    n, white = 40_000, (1e-4, 3e-4)
    tilt = Inclinometer(white=white).measure(standing(0.0, 0.0, n=n, rate_hz=rate_hz), G, stream=rng()).tilt
    spread = np.std(tilt, axis=0) / np.sqrt(rate_hz) / white
    assert np.all(np.abs(spread - 1.0) < 5 / np.sqrt(2 * n))  # five sigmas of a sample sigma


def test_turn_on_is_drawn_once_for_a_run():
    part = Inclinometer(turn_on=(0.01, 0.02))
    runs = np.array([reads(part, seed=seed) for seed in range(400)])
    assert np.all(runs[:, 0] == runs[:, 1])
    spread = np.std(runs[:, 0], axis=0) / part.turn_on
    assert np.all(np.abs(spread - 1.0) < 5 / np.sqrt(2 * 400))  # five sigmas of a sample sigma


def test_settling_dies_away():
    part = Inclinometer(settling=(0.02, -0.01), settling_s=0.5)
    tilt = part.measure(standing(0.0, 0.0, n=101), G, stream=rng()).tilt
    np.testing.assert_allclose(tilt[[0, 50]], [[0.02, -0.01], [0.02 / np.e, -0.01 / np.e]], rtol=1e-12)


def test_bandwidth_follows_a_ramp_late_and_starts_settled():
    """First order, time constant 1/(2 pi f): behind a ramp it lags by the ramp's rate times that."""
    t = np.arange(500) / 100.0
    f_s = np.stack([0.1 * t, np.full(500, 0.3), np.full(500, G)], axis=-1)
    part = Inclinometer(bandwidth_hz=2.0, gravity_m_s2=G)
    tilt = part.measure_force(t, f_s, stream=rng()).tilt
    tau = 1.0 / (2.0 * np.pi * 2.0)
    expected = np.arcsin(0.1 * (t - tau * -np.expm1(-t / tau)) / G)
    np.testing.assert_allclose(tilt[:, 0], expected, atol=1e-14)
    np.testing.assert_allclose(tilt[:, 1], np.arcsin(0.3 / G), atol=1e-15)


def test_vibration_above_the_bandwidth_is_damped():
    t = np.arange(2000) / 1000.0
    f_s = np.stack([np.sin(2 * np.pi * 100.0 * t), 0 * t, G + 0 * t], axis=-1)
    wide, narrow = (
        Inclinometer(bandwidth_hz=b).measure_force(t, f_s, stream=rng()).tilt[1000:, 0] for b in (None, 5.0)
    )
    # 5 Hz against 100 Hz: 1/20; straight lines between ten samples of a period are 3 % lower than the sine
    assert abs(np.std(narrow) / np.std(wide) * 20.0 - 1.0) < 0.05


# ---------------------------------------------------------------- chance


def test_same_stream_same_bits_and_errors_do_not_move_each_other():
    motion = standing(0.1, 0.2, n=50)
    noisy = Inclinometer(white=(1e-3, 1e-3))
    both = Inclinometer(white=(1e-3, 1e-3), turn_on=(0.1, 0.1))
    a, b, c = (part.measure(motion, G, stream=rng(5)).tilt for part in (noisy, noisy, both))
    assert np.array_equal(a, b)
    np.testing.assert_allclose(np.diff(a, axis=0), np.diff(c, axis=0), atol=1e-15)
    assert not np.array_equal(a, noisy.measure(motion, G, stream=rng(6)).tilt)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: Inclinometer(bias=(1.0,)), "bias is"),
        (lambda: Inclinometer(bias=(np.nan, 0.0)), "bias is"),
        (lambda: Inclinometer(white=(-1e-3, 0.0)), "white is .* not negative"),
        (lambda: Inclinometer(matrix=((1.0, 0.0),)), "matrix is"),
        (lambda: Inclinometer(matrix=((1.0, 0.0), (0.0,))), r"matrix\[1\] is"),
        (lambda: Inclinometer(range_rad=30.0), r"range_rad is 30 rad \(1718.87 deg\); give at most 90 deg"),
        (
            lambda: Inclinometer(range_rad=0.5, resolution=0.6),
            "resolution is 0.6 rad, which is not below range_rad, 0.5 rad",
        ),
        (lambda: Inclinometer(bandwidth_hz=0.0), "bandwidth_hz is 0"),
        (lambda: Inclinometer(settling_s=0.0), "settling_s is 0"),
        (lambda: Inclinometer(gravity_m_s2=-9.8), "gravity_m_s2 is -9.8"),
        (lambda: reads(Inclinometer(white=(1e-3, 0.0)), n=1), "at least two samples"),
        (lambda: reads(PERFECT, temperature_c=[20.0]), "temperature_c has shape"),
        (lambda: reads(PERFECT, temperature_c=np.nan), "temperature is nan degC"),
        (lambda: reads(Inclinometer(limits_c=(-40.0, 85.0)), temperature_c=90.0), "outside the sensor's limits"),
        (lambda: Inclinometer(limits_c=(85.0, -40.0)), "give the lower temperature first"),
        (lambda: PERFECT.measure(standing(0.0, 0.0), G, stream=7), "stream is 7"),
        (
            lambda: Inclinometer(bandwidth_hz=5.0).measure(Rest(9.0).at([0.0, 1.0, 3.0]), G, stream=rng()),
            "evenly spaced",
        ),
        (lambda: attitude_from([0.1, 0.2, 0.3]), "tilt needs two finite angles"),
        (lambda: attitude_from([[0.0, 0.0], [1.3, 1.2]]), "tilts of 74.48 and 68.75 deg do not belong to one body"),
    ],
)
def test_bad_settings(call, says):
    with pytest.raises(InputError, match=says) as error:
        call()
    assert "\n" not in str(error.value)
