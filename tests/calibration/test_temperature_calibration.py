"""Bias against temperature: the curve, its degree, its sigmas; lag, poses, and logs that cannot tell."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from strapdown.calibration.apply import apply
from strapdown.calibration.temperature.bias_curve import calibrate_temperature
from strapdown.errors import InputError, RangeWarning
from strapdown.motion import Poses
from strapdown.papers.c.temperature import ALLOWED_GYR_DPS, run_specimens
from strapdown.reporting.temperature_figures import temperature_figure
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

G, RATE_HZ = 9.81, 25.0
GYR = Triad("rad/s", bias=(0.05, -0.02, 0.0), white=(6e-5,) * 3, instability=(4.4e-5,) * 3)
ACC = Triad("m/s2", bias=(0.1, 0.2, -0.3), white=(2.8e-3,) * 3, instability=(7.4e-4,) * 3)
NOISE = {"gyroscope": GYR, "accelerometer": ACC}
SLOPE, BEND = (2e-3, -1e-3, 5e-4), (3e-5, 0.0, -1e-5)


def chamber(seconds=600.0, low=0.0, high=60.0):
    """There and back."""
    t = np.arange(0.0, seconds, 1.0 / RATE_HZ)
    return t, np.interp(t, [0.0, 0.5 * seconds, seconds], [low, high, low])


def log_of(t, celsius, gyr=GYR, acc=ACC, f_s=None, w_s=None, seed=0, told=None):
    """What the two instruments read; stated: what the thermometer states, if not the truth."""
    f_s = np.tile([0.0, 0.0, G], (len(t), 1)) if f_s is None else f_s
    w_s = np.zeros_like(f_s) if w_s is None else w_s
    return Recording(
        t,
        measure(gyr, t, w_s, stream=seed_of(seed, "g"), temperature_c=celsius, specific_force=f_s).values,
        measure(acc, t, f_s, stream=seed_of(seed, "a"), temperature_c=celsius).values,
        temperature=celsius if told is None else told,
    )


def test_catalogue_specimens_are_found_within_their_deviations_and_keep_it_in_a_second_run():
    found = run_specimens(range(10), lambda _: None)
    for name, z in found.errors.items():
        # chance: four sigmas of the mean and of the sigma of 30 numbers
        assert abs(z.mean()) < 4.0 / np.sqrt(30.0), name
        assert abs(z.std() - 1.0) < 4.0 / np.sqrt(60.0), name
    assert found.left_dps.max() <= ALLOWED_GYR_DPS
    assert (found.degrees == 1).mean() > 0.8  # straight lines, as the catalogue has them


def test_a_bent_curve_is_found_with_its_degree_and_a_flat_one_is_left_flat():
    t, celsius = chamber()
    bent = replace(GYR, temperature_bias=(SLOPE, BEND))
    fit = calibrate_temperature(log_of(t, celsius, bent), noise=NOISE)
    found = fit.calibration.corrections["gyroscope"]
    assert fit.curves["gyroscope"].degree == 2
    for power, truth in enumerate((SLOPE, BEND)):
        error = (found.temperature_bias[power] - truth) / found.sigma["temperature_bias"][power]
        assert np.abs(error).max() < 4.0  # chance: sigmas
    assert np.abs((found.bias - GYR.bias) / found.sigma["bias"]).max() < 4.0
    assert found.reference_c == 25.0 and found.range_c == pytest.approx((0.0, 60.0), abs=0.5)  # edges trimmed
    flat = fit.calibration.corrections["accelerometer"]
    assert fit.curves["accelerometer"].degree == 0 and not flat.follows_temperature
    value, sigma = fit.curves["gyroscope"].curve(found, np.array([0.0, 60.0]))
    truth = np.array(GYR.bias) + np.outer([-25.0, 35.0], SLOPE) + np.outer([625.0, 1225.0], BEND)
    assert (np.abs(value - truth) < 4.0 * sigma).all()  # chance


def test_noise_of_the_log_serves_where_the_part_is_not_known():
    t, celsius = chamber()
    log = log_of(t, celsius, replace(GYR, temperature_bias=(SLOPE,)))
    given, own = (calibrate_temperature(log, noise=n).calibration.corrections["gyroscope"] for n in (NOISE, None))
    ratio = own.sigma["temperature_bias"] / given.sigma["temperature_bias"]
    assert ratio.min() > 0.4 and ratio.max() < 2.5  # chance: one log shows its slowest drift about once
    assert own.found.data["noise"] == "estimated from the log" and given.found.data["noise"] == "given"


def test_a_thermometer_ahead_of_its_sensor_is_noticed_and_told_in_seconds():
    t, celsius = chamber()
    late = np.interp(t - 15.0, t, celsius)  # the sensor follows 15 s behind what the thermometer states
    gyr = replace(GYR, temperature_bias=(SLOPE,))
    curve = calibrate_temperature(log_of(t, late, gyr, told=celsius), noise=NOISE).curves["gyroscope"]
    assert curve.lag is not None and curve.lag.shows
    assert curve.lag.seconds == pytest.approx(15.0, abs=2.5)  # the turning point is rounded off by blocks of 10 s
    found = calibrate_temperature(log_of(t, late, gyr, told=celsius), noise=NOISE).calibration.corrections["gyroscope"]
    assert found.found.verdict == "usable"
    assert any("heating and cooling differ" in note for note in found.found.notes)
    together = calibrate_temperature(log_of(t, celsius, gyr), noise=NOISE).curves["gyroscope"]
    assert together.lag is not None and not together.lag.shows


def test_one_pose_cannot_tell_a_change_of_scale_and_says_so():
    t, celsius = chamber()
    acc = replace(ACC, temperature_bias=(SLOPE,), temperature_scale=((0.0, 0.0, 1e-4),))
    found = calibrate_temperature(log_of(t, celsius, acc=acc), noise=NOISE).calibration.corrections["accelerometer"]
    # along gravity the two add up: 5e-4 + 9.81e-4
    assert abs(found.temperature_bias[0, 2] - (5e-4 + G * 1e-4)) < 4.0 * found.sigma["temperature_bias"][0, 2]  # chance
    assert any(text.startswith("temperature_scale of x, y, z") for text in found.found.undetermined)
    assert np.isinf(found.sigma["bias"]).all() and not found.bias.any()


def test_poses_up_and_down_tell_the_change_of_scale_from_the_change_of_bias():
    six = np.array(Poses.six().q_nb)
    path = Poses(np.tile(six, (6, 1)), hold_s=16.0, turn_s=2.0)  # from -y up to z up is a quarter turn, too
    t = np.arange(0.0, path.duration_s, 1.0 / RATE_HZ)
    motion = path.at(t)
    f_s = q_rotate(q_conj(motion.q_nb), np.array([0.0, 0.0, G]))
    celsius = np.interp(t, [0.0, 0.5 * t[-1], t[-1]], [0.0, 50.0, 0.0])
    scale = (1e-4, -2e-4, 5e-5)
    acc = replace(ACC, temperature_bias=(SLOPE,), temperature_scale=(scale,))
    log = log_of(t, celsius, replace(GYR, temperature_bias=(SLOPE,)), acc, f_s, motion.w_nb_b)
    fit = calibrate_temperature(log, noise=NOISE)
    found = fit.calibration.corrections["accelerometer"]
    assert int(fit.curves["accelerometer"].pose.max()) == 5
    # reading = (1 + s dT) x + b + c dT = (1 + s dT) (x + b) + (c - s b) dT, and x + b is what a pose reads
    for name, truth in (
        ("temperature_scale", scale),
        ("temperature_bias", np.array(SLOPE) - np.multiply(scale, ACC.bias)),
    ):
        error = (getattr(found, name)[0] - truth) / found.sigma[name][0]
        assert np.abs(error).max() < 4.0, name  # chance
    assert found.sigma["temperature_scale"].max() < 1e-5
    assert not any(text.startswith("temperature_scale") for text in found.found.undetermined)
    gyr = fit.calibration.corrections["gyroscope"]
    assert np.abs((gyr.temperature_bias[0] - SLOPE) / gyr.sigma["temperature_bias"][0]).max() < 4.0
    assert 0.6 < fit.used.mean() < 0.95  # turns are omitted


def test_an_instability_makes_the_slope_less_sure_than_white_noise_alone():
    t, celsius = chamber()
    log = log_of(t, celsius, replace(GYR, temperature_bias=(SLOPE,)))
    quiet = {**NOISE, "gyroscope": replace(GYR, instability=(0.0,) * 3)}
    sure, honest = (
        calibrate_temperature(log, noise=n, highest_degree=1).calibration.corrections["gyroscope"]
        for n in (quiet, NOISE)
    )
    assert (honest.sigma["temperature_bias"] > 2.0 * sure.sigma["temperature_bias"]).all()


def test_outside_its_range_a_curve_is_extrapolated_with_a_warning():
    t, celsius = chamber()
    fit = calibrate_temperature(log_of(t, celsius, replace(GYR, temperature_bias=(SLOPE,))), noise=NOISE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apply(fit.calibration, log_of(t, celsius))
    with pytest.warns(RangeWarning, match="found between 0.0 and 60.0 degC: .* extrapolated"):
        apply(fit.calibration, log_of(t, celsius + 20.0))


def test_a_warm_up_is_enough_but_called_narrow():
    t = np.arange(0.0, 600.0, 1.0 / RATE_HZ)
    celsius = 40.0 - 10.0 * np.exp(-t / 150.0)
    fit = calibrate_temperature(log_of(t, celsius, replace(GYR, temperature_bias=(SLOPE,))), noise=NOISE)
    found = fit.calibration.corrections["gyroscope"]
    assert found.reference_c == 35.0  # 25 is not in the data: the middle is
    truth = np.array(GYR.bias) + 10.0 * np.array(SLOPE)
    assert np.abs((found.bias - truth) / found.sigma["bias"]).max() < 4.0  # chance
    assert found.found.verdict == "usable" and any("spans 9." in note for note in found.found.notes)


def test_logs_that_cannot_tell_are_refused_each_with_its_reason():
    t, celsius = chamber(60.0)
    log = log_of(t, celsius)
    little = r"changes by 3\.\d\d degC while the sensor is at rest .* needs at least 5 degC"
    clipped = np.ones(len(t), dtype=bool)
    cases = [
        (log_of(t, 0.05 * celsius + 20.0), little),
        (replace(log, temperature=None), "no temperature; record the sensor's thermometer"),
        (replace(log, acc_s=log.acc_s * 1600.0), "raw counts"),
        (replace(log, temperature=celsius + 273.15), "kelvin or raw counts; give its unit in the column mapping"),
        (replace(log, gyr_s=np.degrees(log.gyr_s)), "deg/s or raw counts"),
        (replace(log, clipped=clipped), "saturated while the sensor is at rest"),
        (replace(log, gyr_s=log.gyr_s + np.sin(5.0 * t)[:, None]), "no still phase"),
        (Recording(t[:60], gyr_s=log.gyr_s[:60], temperature=np.linspace(0.0, 9.0, 60)), "record for minutes"),
    ]
    for bad, message in cases:
        with pytest.raises(InputError, match=message) as caught:
            calibrate_temperature(bad)
        assert "\n" not in str(caught.value)
    for far in (float("nan"), float("inf"), 1000.0):
        with pytest.raises(InputError, match=r"reference temperature is .* give one within 100 degC of the log"):
            calibrate_temperature(log, reference_c=far)
    with pytest.raises(InputError, match="highest_degree is 7"):
        calibrate_temperature(log, highest_degree=7)


def test_a_steep_warm_up_counts_as_rest_and_a_slow_turn_does_not():
    t, celsius = chamber(300.0)
    steep = replace(GYR, temperature_bias=((5e-3, -5e-3, 2e-3),))  # 0.11 deg/s every second
    turn = np.zeros((len(t), 3))
    turn[(t > 100.0) & (t < 120.0), 2] = np.radians(5.0)
    fit = calibrate_temperature(log_of(t, celsius, steep, w_s=turn), noise=NOISE)
    turning = (t > 100.0) & (t < 120.0)
    assert not fit.used[turning].any()
    assert fit.used[~turning].mean() > 0.95
    found = fit.calibration.corrections["gyroscope"]
    assert (
        np.abs((found.temperature_bias[0] - steep.temperature_bias[0]) / found.sigma["temperature_bias"][0]).max() < 4.0
    )


def test_a_log_without_accelerometer_will_do():
    t, celsius = chamber()
    log = replace(log_of(t, celsius, replace(GYR, temperature_bias=(SLOPE,))), acc_s=None)
    assert set(calibrate_temperature(log, noise=NOISE).calibration.corrections) == {"gyroscope"}


def test_the_figure_has_a_curve_and_what_is_left_for_each_instrument():
    t, celsius = chamber()
    part = load_part("MPU-6050").draw(2, rate_hz=RATE_HZ).triads()
    fit = calibrate_temperature(log_of(t, celsius, part["gyroscope"], part["accelerometer"]))
    figure = temperature_figure(fit, "virtual MPU-6050")
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert len(titles) == 4 and titles[2].startswith("gyroscope: degree 1")
