"""The sigmas of the Kalman filter of attitude and bias are those of its errors, for specimens of a catalogue part
with every error that its data sheet states: bias, scale, axes, nonlinearity, g-sensitivity, resolution, noise."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from test_mekf import DEG, RATE_HZ, wandering_push

from orientation_cases import G, ideal
from strapdown.live import Start
from strapdown.motion import Rest
from strapdown.orientation.mekf import Mekf
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_log, q_mul, q_rotate
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

SEEDS = range(16)
WANDER_S = Mekf.mag_disturbance_s
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@cache
def specimen(part, seed):
    """Drawn within its data sheet; the magnetometer is one after calibration, since no filter works before."""
    triads = load_part(part).draw(seed, rate_hz=RATE_HZ).triads()
    triads["magnetometer"] = load_part("mpu-9250").nominal(rate_hz=RATE_HZ).triads()["magnetometer"]
    return {name: replace(triad, bandwidth_hz=None) for name, triad in triads.items() if name != "thermometer"}


def wandering_north(n, seed):
    """Turns about the vertical by which magnetic north is off: as far and as long as the filter allows for."""
    rng, keep = np.random.default_rng(3000 + seed), np.exp(-1.0 / RATE_HZ / WANDER_S)
    off = np.empty(n)
    off[0] = rng.normal()
    for k, push in enumerate(rng.normal(size=n - 1) * np.sqrt(1.0 - keep**2), start=1):
        off[k] = keep * off[k - 1] + push
    return q_exp(off[:, None] * Mekf.mag_disturbance_deg * DEG * np.array([0.0, 0.0, 1.0]))


@cache
def readings(part, case, seed, calibrated):
    """(recording, q_nb, triads as the filter is stated them). Calibrated: bias, scale and axes are taken away."""
    if case == "pushed":
        recording, q_nb = wandering_push(seed)
    else:
        turned = q_from_euler(*np.random.default_rng(4000 + seed).uniform(-1.5, 1.5, 3))
        recording = ideal(Rest(duration_s=40.0, q_nb=turned), RATE_HZ)
        q_nb = recording.truth.q_nb
    north = q_mul(q_conj(q_nb), q_mul(wandering_north(len(q_nb), seed), q_nb))  # expressed in b
    recording = replace(recording, mag_s=q_rotate(north, recording.mag_s))
    triads = specimen(part, seed)
    read = Module("imu", triads, seed=seed).measure(recording, RATE_HZ)
    if calibrated:
        for name, key in (("gyroscope", "gyr_s"), ("accelerometer", "acc_s")):
            triad = triads[name]
            right = (getattr(read, key) - np.array(triad.bias)) @ np.linalg.inv(triad.matrix).T
            read = replace(read, **{key: right})
            triads = {**triads, name: replace(triad, bias=(0.0, 0.0, 0.0), matrix=IDENTITY)}
    return read, q_nb, triads


def normalised(part, case, calibrated, magnetometer):
    """Squared errors over stated variances, mean over the seeds and over the time after 10 s, for each axis of n."""
    squares = []
    for seed in SEEDS:
        read, q_nb, triads = readings(part, case, seed, calibrated)
        filt = Mekf.for_triads(triads, gravity=G, magnetometer=magnetometer)
        found = filt.run(read, Start.of(read, q_ns=None if magnetometer else q_nb[0]))
        error = q_log(q_mul(q_nb, q_conj(found.q_nb)))
        squares.append(((error / found.sigma["attitude_n"]) ** 2)[1000:].mean(axis=0))
    return np.mean(squares, axis=0)


CASES = [
    *(("mpu-6050", case, calibrated) for case in ("rest", "pushed") for calibrated in (False, True)),
    *(("icm-42688-p", case, False) for case in ("rest", "pushed")),
]


@pytest.mark.parametrize(("part", "case", "calibrated"), CASES)
def test_deviations_are_those_of_the_errors(part, case, calibrated):
    """9 axes. Model and chance: 16 specimens, whose errors are fixed, and 30 s of motion each."""
    x, y, heading = normalised(part, case, calibrated, magnetometer=True)
    assert 0.3 < 0.5 * (x + y) < 2.0
    assert 0.2 < heading < 2.0


@pytest.mark.parametrize(("part", "case", "calibrated"), CASES)
def test_deviations_without_magnetometer_are_those_of_the_errors(part, case, calibrated):
    """As above; the heading's may be too large, since what is not known of the bias is more than what is left of it."""
    x, y, heading = normalised(part, case, calibrated, magnetometer=False)
    assert 0.3 < 0.5 * (x + y) < 2.0
    assert heading < 2.0


@pytest.mark.parametrize(
    ("instrument", "error", "setting"),
    [
        ("accelerometer", {"bias": (0.3, 0.3, 0.3)}, "tilt_floor_rad"),
        ("accelerometer", {"turn_on": (0.3, 0.3, 0.3)}, "tilt_floor_rad"),
        ("accelerometer", {"instability": (0.2, 0.2, 0.2)}, "tilt_floor_rad"),
        ("accelerometer", {"matrix": ((1.0, 0.1, 0.0), (0.0, 1.0, 0.1), (0.0, 0.0, 1.0))}, "tilt_floor_rad"),
        ("accelerometer", {"nonlinearity": (0.02, -0.02, 0.02)}, "tilt_floor_rad"),
        ("accelerometer", {"temperature_bias": ((0.1, 0.1, -0.1),)}, "tilt_floor_rad"),
        ("accelerometer", {"temperature_scale": ((0.01, 0.01, -0.01),)}, "tilt_floor_rad"),
        ("accelerometer", {"resolution": 1.0}, "tilt_floor_rad"),
        ("gyroscope", {"bias": (0.1, -0.1, 0.1)}, "bias_start_dps"),
        ("gyroscope", {"turn_on": (0.1, 0.1, 0.1)}, "bias_start_dps"),
        ("gyroscope", {"temperature_bias": ((0.02, 0.02, 0.02),)}, "bias_start_dps"),
        ("gyroscope", {"temperature_bias": ((0.02, 0.02, 0.02),)}, "gyr_walk"),
        ("gyroscope", {"g_sensitivity": ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01))}, "gyr_walk"),
        ("gyroscope", {"walk": (0.01, 0.01, 0.01)}, "gyr_walk"),
        ("gyroscope", {"instability": (0.01, 0.01, 0.01)}, "gyr_walk"),
        ("gyroscope", {"matrix": ((1.0, 0.1, 0.0), (0.0, 1.0, 0.1), (0.0, 0.0, 1.0))}, "gyr_turn"),
        ("gyroscope", {"nonlinearity": (0.02, -0.02, 0.02)}, "gyr_turn"),
        ("gyroscope", {"temperature_scale": ((0.01, 0.01, -0.01),)}, "gyr_turn"),
    ],
)
def test_every_error_of_a_part_counts(instrument, error, setting):
    triads = load_part("mpu-6050").nominal(rate_hz=RATE_HZ).triads()
    worse = {**triads, instrument: replace(triads[instrument], **error)}
    before, after = (getattr(Mekf.for_triads(t), setting) for t in (triads, worse))
    assert after > 1.5 * before


def test_a_perfect_accelerometer_still_has_a_floor():
    """1 mg, which calibration leaves."""
    triads = load_part("mpu-6050").nominal(rate_hz=RATE_HZ).triads()
    for name, triad in triads.items():
        zero = (0.0, 0.0, 0.0)
        triads[name] = replace(triad, nonlinearity=zero, instability=zero, resolution=0.0)
    assert Mekf.for_triads(triads).tilt_floor_rad == 0.001


def test_nonlinearity_is_that_of_the_error_chain():
    """The floor is what a bent accelerometer reads next to gravity over all attitudes."""
    rng = np.random.default_rng(5)
    up = rng.normal(size=(4000, 3))
    force = G * up / np.linalg.norm(up, axis=1)[:, None]
    bent = Triad("m/s2", nonlinearity=(0.005, 0.005, 0.005), full_scale=2.0 * G)
    gyr = Triad("rad/s", white=(1e-4, 1e-4, 1e-4))
    floor = Mekf.for_triads({"gyroscope": gyr, "accelerometer": replace(bent, white=(1e-3,) * 3)}, gravity=G)
    t = np.arange(4000) / RATE_HZ
    read = Module("imu", {"accelerometer": bent}, seed=1).measure(Recording(t, acc_s=force), RATE_HZ)
    rms = np.sqrt(np.mean((read.acc_s - force) ** 2))
    assert floor.tilt_floor_rad == pytest.approx(rms / G, rel=0.03)  # chance: 4000 attitudes
