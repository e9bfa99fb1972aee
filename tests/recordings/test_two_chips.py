"""Logs of two chips as one recording: joined by time, or refused in one sentence."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.errors import InputError
from strapdown.papers.c.positions import G, Ideal, hand_held
from strapdown.recordings.facts import noise_of_part
from strapdown.recordings.two_chips import with_chip
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording

T = np.arange(0.0, 10.0, 0.01)


def slope(t):
    return np.outer(t, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("swapped", [False, True])
def test_the_slower_instrument_is_interpolated_at_the_times_of_the_faster(swapped):
    gyr = Recording(T, gyr_s=slope(T), meta={"part": "MPU-6050"})
    slow = 2.003 + 0.04 * np.arange(150)
    acc = Recording(slow, acc_s=2.0 * slope(slow), meta={"part": "ADIS16470"})
    both = with_chip(*((acc, gyr) if swapped else (gyr, acc)))
    np.testing.assert_array_equal(both.t, T[(slow[0] <= T) & (slow[-1] >= T)])
    np.testing.assert_allclose(both.acc_s, 2.0 * slope(both.t), rtol=1e-12)  # a straight line: roundoff
    np.testing.assert_array_equal(both.gyr_s, slope(both.t))
    name, noise = noise_of_part(both)
    assert name == ("ADIS16470" if swapped else "MPU-6050")
    for instrument, part in (("gyroscope", "MPU-6050"), ("accelerometer", "ADIS16470")):
        assert noise[instrument].white == load_part(part).nominal().triads()[instrument].white


@pytest.mark.parametrize("swapped", [False, True])
def test_a_magnetometer_keeps_its_own_rate(swapped):
    imu = Recording(T, gyr_s=slope(T), acc_s=slope(T))
    mag = Recording(T[::5], mag_s=slope(T[::5]))
    both = with_chip(*((mag, imu) if swapped else (imu, mag)))
    assert len(both) == len(T) and both.new["mag_s"].sum() == len(mag)
    np.testing.assert_array_equal(both.mag_s[both.new["mag_s"]], mag.mag_s)


def test_what_the_first_has_is_not_replaced():
    one, other = Recording(T, acc_s=slope(T)), Recording(T, acc_s=-slope(T), gyr_s=slope(T))
    np.testing.assert_array_equal(with_chip(one, other).acc_s, one.acc_s)


def test_clipped_samples_of_either_chip_count():
    clipped = np.zeros(len(T), dtype=bool)
    clipped[500] = True
    both = with_chip(Recording(T, gyr_s=slope(T)), Recording(T, acc_s=slope(T), clipped=clipped))
    np.testing.assert_array_equal(both.clipped, clipped)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Recording(T + 100.0, gyr_s=slope(T)), r"do not overlap in time: the first runs from 0 to 9.99 s, the second"),
        (Recording(T + 9.5, gyr_s=slope(T)), "do not overlap in time"),
        (Recording(T, acc_s=slope(T)), "no instrument that the first lacks"),
        ("gyr.csv", "with_chip was given a str"),
    ],
)
def test_logs_that_do_not_belong_together_are_refused(other, message):
    with pytest.raises(InputError, match=message) as caught:
        with_chip(Recording(T, acc_s=slope(T)), other)
    assert "\n" not in str(caught.value)


def test_two_chips_are_calibrated_as_one():
    triads = load_part("mpu6050").draw(3).triads()
    whole = Ideal.of(hand_held()).log({name: triads[name] for name in ("accelerometer", "gyroscope")}, 3)
    acc = replace(whole, gyr_s=None)[::2]
    fits = [calibrate_positions(log, G, model="full") for log in (whole, with_chip(acc, replace(whole, acc_s=None)))]
    for name in ("accelerometer", "gyroscope"):
        a, b = (fit.calibration.corrections[name] for fit in fits)
        # half of the samples, so other noise: within three sigmas of the two
        assert (np.abs(a.matrix - b.matrix) < 3.0 * np.hypot(a.sigma["matrix"], b.sigma["matrix"])).all()
        assert (b.sigma["matrix"] < 2.0 * a.sigma["matrix"]).all()
