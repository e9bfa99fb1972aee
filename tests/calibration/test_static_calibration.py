"""Offsets at rest in a known attitude: found, with honest sigmas, or refused with the reason."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from helpers import shared_data
from strapdown import io
from strapdown.calibration.apply import apply
from strapdown.calibration.noise.block_covariance import estimated_covariances, known_covariance, mean_sigma
from strapdown.calibration.static import calibrate_static, gravity_s, normalised_specific_force
from strapdown.calibration.temperature.rest_blocks import blocks_of
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.papers.c.static import COUNTS, normal_errors, real_claims
from strapdown.reporting.temperature_figures import static_figure
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

G, RATE_HZ = 9.81, 100.0
ONE_POSE = ("example_data_calibration", "imu_90_x_rot", "imu_static_test")


def log_at_rest(seconds=20.0, roll=0.0, pitch=0.0, seed=0, acc_bias=(0.1, -0.2, 0.3), gyr_bias=(0.02, 0.0, -0.01)):
    """White noise only, so that sigmas can be determined with a pencil."""
    t = np.arange(0.0, seconds, 1.0 / RATE_HZ)
    f_s = np.tile(gravity_s(G, roll, pitch), (len(t), 1))
    acc = Triad("m/s2", bias=acc_bias, white=(3e-3,) * 3)
    gyr = Triad("rad/s", bias=gyr_bias, white=(6e-5,) * 3)
    return Recording(
        t,
        measure(gyr, t, np.zeros_like(f_s), stream=seed_of(seed, "gyr")).values,
        measure(acc, t, f_s, stream=seed_of(seed, "acc")).values,
    )


NOISE = {"accelerometer": Triad("m/s2", white=(3e-3,) * 3), "gyroscope": Triad("rad/s", white=(6e-5,) * 3)}


def test_offsets_of_a_level_sensor_are_found_within_their_deviation():
    fit = calibrate_static(log_at_rest(), gravity=G, noise=NOISE, attitude_sigma_rad=0.0)
    for name, truth, white in (("accelerometer", [0.1, -0.2, 0.3], 3e-3), ("gyroscope", [0.02, 0.0, -0.01], 6e-5)):
        found = fit.calibration.corrections[name]
        np.testing.assert_allclose(fit.limits[name]["noise"], white / np.sqrt(20.0), rtol=1e-9)  # N / sqrt(T)
        assert np.abs(found.bias - truth).max() < 4.0 * fit.limits[name]["noise"].max()  # chance: four sigmas
        assert found.found.verdict == "good" and found.found.method == "static"
        assert fit.limits[name]["drift"].max() < 8.0 * white / np.sqrt(20.0)  # two sigmas of a line: 2.4 each
    assert "magnetometer" not in fit.calibration.corrections
    corrected = apply(fit.calibration, log_at_rest())
    np.testing.assert_allclose(corrected.acc_s.mean(axis=0), [0.0, 0.0, G], atol=1e-12)  # roundoff: same log


def test_a_known_attitude_is_taken_off_and_its_uncertainty_comes_in():
    roll, pitch = 0.3, -0.5
    log = log_at_rest(roll=roll, pitch=pitch)
    fit = calibrate_static(log, gravity=G, roll_rad=roll, pitch_rad=pitch, noise=NOISE, attitude_sigma_rad=0.01)
    found = fit.calibration.corrections["accelerometer"]
    assert np.abs(found.bias - [0.1, -0.2, 0.3]).max() < 5.0 * 3e-3 / np.sqrt(20.0)  # chance: five sigmas
    # turning a vector of length g by 10 mrad about x and about y moves it by what is across each axis
    x, y, z = gravity_s(G, roll, pitch)
    tilt = 0.01 * np.array([np.hypot(y, z), np.hypot(x, z), np.hypot(x, y)])
    np.testing.assert_allclose(found.sigma["bias"], tilt, rtol=3e-3)  # noise and drift next to it
    assert found.found.verdict == "poor" and "the attitude limits it: measure it better" in found.found.notes[0]


def test_logs_of_one_pose_of_a_recorded_module_agree_within_sigma():
    """Put down by hand three times: the offsets differ by up to 78 mg and 0.12 deg/s, more than any noise."""
    folder = shared_data("mpu6050")
    logs = [io.read_one(folder / f"{name}.csv", columns=COUNTS) for name in ONE_POSE]
    found = [calibrate_static(log, gravity=STANDARD_GRAVITY).calibration.corrections for log in logs]
    for name in ("accelerometer", "gyroscope"):
        z = np.array(
            [
                (a[name].bias - b[name].bias) / np.hypot(a[name].sigma["bias"], b[name].sigma["bias"])
                for a, b in combinations(found, 2)
            ]
        )
        # 9 differences, 6 of them independent: 0.7 to 1.6 by chance; with any constant doubled or halved it is outside
        assert 0.7 < np.sqrt(np.mean(z**2)) < 1.6 and np.abs(z).max() < 3.0
    assert found[0]["accelerometer"].found.data["limited_by"] == "attitude"
    assert "2 deg are assumed for a sensor put down by hand" in found[0]["accelerometer"].found.notes[0]


@pytest.mark.parametrize("noise", [None, NOISE])
def test_a_drift_during_the_log_is_in_the_sigma_and_named(noise):
    log = log_at_rest(seconds=120.0)
    moved = np.radians(0.3) * (log.t / log.t[-1] - 0.5)
    fit = calibrate_static(replace(log, gyr_s=log.gyr_s + moved[:, None]), gravity=G, noise=noise)
    found = fit.calibration.corrections["gyroscope"]
    # two such logs, one after the other, differ by the whole change: one combined sigma
    np.testing.assert_allclose(fit.limits["gyroscope"]["drift"], np.radians(0.3) / np.sqrt(2.0), rtol=0.05)
    assert found.found.verdict == "poor" and "drift during the log limits it" in found.found.notes[0]


def test_another_attitude_than_given_is_refused_with_what_it_looks_like():
    log = log_at_rest(roll=np.radians(40.0), pitch=np.radians(20.0), acc_bias=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match=r"the longest looks like roll 40\.0 and pitch 20\.0 deg"):
        calibrate_static(log, gravity=G)


def test_what_one_attitude_cannot_tell_is_said():
    found = calibrate_static(log_at_rest(), gravity=G).calibration.corrections
    assert [text.split(":")[0] for text in found["accelerometer"].found.undetermined] == ["matrix", "bias"]
    assert [text.split(":")[0] for text in found["gyroscope"].found.undetermined] == ["matrix", "g_sensitivity"]
    assert set(found["gyroscope"].sigma) == {"bias"}


def test_readings_brought_to_the_length_of_gravity_hide_an_acceleration():
    rest, bias = np.array([[0.0, 0.0, G]]), np.array([0.1, -0.2, 0.3])
    pushed = rest + np.array([2.0, 0.0, 0.0])
    out = normalised_specific_force(np.vstack([rest, pushed]) + bias, bias, G)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), G, rtol=1e-14)  # roundoff
    assert np.degrees(np.arctan2(out[1, 0], out[1, 2])) == pytest.approx(np.degrees(np.arctan2(2.0, G)))
    with pytest.raises(InputError, match="no direction to keep"):
        normalised_specific_force(bias[None], bias, G)


@pytest.mark.parametrize("noise_given", [True, False])
def test_errors_of_catalogue_specimens_are_standard_normal(noise_given):
    for name, z in normal_errors(lambda _: None, range(8), noise_given).items():
        # chance: four sigmas of the mean and of the sigma of 24 numbers
        assert abs(z.mean()) < 4.0 / np.sqrt(24.0), name
        assert abs(z.std() - 1.0) < 4.0 / np.sqrt(48.0), name


def test_means_of_a_virtual_sensor_scatter_together_as_the_covariance_says():
    triad = replace(load_part("MPU-6050").nominal(rate_hz=20.0).triads()["gyroscope"], walk=(2e-6,) * 3, resolution=0.0)
    t = np.arange(0.0, 120.0, 0.05)
    blocks = blocks_of(t, [slice(0, 800), slice(1200, 2400)], most=5)
    logs = [measure(replace(triad, g_sensitivity=np.zeros((3, 3)), bias=(0.0,) * 3), t, np.zeros((len(t), 3)),
                    stream=seed_of(k, "log")).values for k in range(300)]  # fmt: skip
    means = np.concatenate([blocks.means(values) for values in logs], axis=1)  # (blocks, 900)
    measured, expected = means @ means.T / means.shape[1], known_covariance(blocks, triad, 0)
    # chance: five sigmas of a covariance of 900 pairs; and 3 % for the flicker's approximation on its grid
    allowed = 5.0 * np.sqrt(2.0 / 900.0) + 0.03
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert (np.abs(measured - expected) / size).max() < allowed
    sure = [mean_sigma(c, blocks.width_s) for c in (expected, np.diag(np.diag(expected)))]
    assert sure[0] > 1.5 * sure[1]  # drift does not average out


def test_noise_estimated_from_a_log_is_that_of_the_part():
    triads = load_part("MPU-6050").nominal(rate_hz=25.0).triads()
    t = np.arange(0.0, 1500.0, 0.04)
    ratios = []
    for k in range(6):
        gyr = replace(triads["gyroscope"], g_sensitivity=np.zeros((3, 3)))
        values = measure(gyr, t, np.zeros((len(t), 3)), stream=seed_of(k, "g")).values
        blocks = blocks_of(t, [slice(0, len(t))])
        known = mean_sigma(known_covariance(blocks, gyr, 0), blocks.width_s)
        found = estimated_covariances(blocks, blocks.means(values), np.ones((len(blocks), 1)))
        ratios += [mean_sigma(c, blocks.width_s) / known for c in found]
    assert 0.6 < np.median(ratios) < 1.6 and min(ratios) > 0.3  # chance of six logs that show their drift once each


def spoilt(**changes):
    return replace(log_at_rest(), **changes)


def test_bad_logs_are_refused_each_with_its_reason():
    log = log_at_rest()
    moving = log.gyr_s + 0.5 * np.sin(7.0 * log.t)[:, None] * [1.0, 0.7, 0.4]
    clipped = np.zeros(len(log), dtype=bool)
    clipped[500:600] = True
    stuck = log.acc_s.copy()
    stuck[:, 2] = 19.6127
    cases = [
        (spoilt(gyr_s=moving), "no still phase"),
        (
            spoilt(acc_s=log.acc_s / 9.80665 * 16384.0),
            "raw counts or another unit; give unit and scale of its columns in the column mapping",
        ),
        (spoilt(gyr_s=log.gyr_s * 131.0 * 180.0 / np.pi * 100.0), "raw counts"),
        (spoilt(acc_s=log.acc_s / 9.80665), "the readings look like g"),
        (spoilt(gyr_s=np.degrees(log.gyr_s + 0.05)), "deg/s or raw counts; give its unit in the column mapping"),
        (spoilt(t=1e3 * log.t), "time looks like ms or us"),
        (spoilt(gyr_s=np.zeros_like(log.gyr_s)), "gyroscope reads the same in all .* broken; check the wiring"),
        (spoilt(acc_s=1e150 * log.acc_s), "raw counts"),
        (spoilt(clipped=clipped), r"100 samples are saturated while the sensor is at rest, the first at sample 500"),
        (spoilt(acc_s=stuck), "accelerometer z reads 19.6127 in all .* saturated or broken"),
        (spoilt(acc_s=None, gyr_s=None), "neither accelerometer nor gyroscope"),
        (apply(calibrate_static(log, gravity=G).calibration, log), "calibrated already"),
    ]
    for bad, message in cases:
        with pytest.raises(InputError, match=message) as caught:
            calibrate_static(bad, gravity=G)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="gravity is 0"):
        calibrate_static(log, gravity=0.0)
    with pytest.raises(InputError, match="attitude_sigma_rad"):
        calibrate_static(log, gravity=G, attitude_sigma_rad=-1.0)


def test_a_recorded_quarter_turn_integrates_to_90_degrees():
    (claim,) = real_claims(shared_data("mpu6050").parent)
    assert claim.holds and claim.published is None and claim.ours < 2.0


def test_the_figure_shows_each_instrument_before_and_after():
    figure = static_figure(calibrate_static(log_at_rest(), gravity=G), "at rest")
    assert len(figure.axes) == 4
    assert [axis.get_title(loc="left") for axis in figure.axes[:2]] == [
        "accelerometer, as read",
        "accelerometer, corrected (shaded: bias ± σ)",
    ]
