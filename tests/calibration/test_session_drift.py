"""A bias that drifts while the sensor is put down in its poses is named and taken off."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.calibration.poses.session_drift import Residuals, session_drift
from strapdown.papers.c.positions import G, Ideal, hand_held
from strapdown.sensors.parts.part import load_part

PART = load_part("mpu6050")
MG = 9.80665e-3


@pytest.fixture(scope="module")
def ideal():
    return Ideal.of(hand_held())


def session(ideal, seed, drift_mg=0.0):
    """Readings of one specimen whose bias goes from -drift / 2 to drift / 2 on every axis, and its calibration."""
    log = ideal.log({"accelerometer": PART.draw(seed).triads()["accelerometer"]}, seed)
    part = (log.t - log.t[0]) / (log.t[-1] - log.t[0]) - 0.5
    log = replace(log, acc_s=log.acc_s + drift_mg * MG * part[:, None])
    known = {"accelerometer": PART.nominal().triads()["accelerometer"]}
    return calibrate_positions(log, G, model="full", noise=known)


def drifts(fit):
    return any("drifted" in note for note in fit.calibration.corrections["accelerometer"].found.notes)


def test_a_drift_is_named_and_taken_off(ideal):
    steady, warm = session(ideal, 1), session(ideal, 1, drift_mg=20.0)
    assert not drifts(steady) and drifts(warm)
    a, b = (fit.calibration.corrections["accelerometer"] for fit in (steady, warm))
    # as good as without a drift, but for the three more unknowns and what is not straight within a pose
    assert np.abs(b.bias - a.bias).max() < 1.0 * MG and np.abs(b.matrix - a.matrix).max() < 1e-3
    # the means of two such sessions, one after the other, differ by the whole change: one combined sigma
    np.testing.assert_allclose(b.sigma["bias"], 20.0 * MG / np.sqrt(2.0), rtol=0.1)  # chance: slopes to 5 %


def test_a_small_drift_is_noise(ideal):
    assert not drifts(session(ideal, 2, drift_mg=0.3))


def test_a_gyroscope_that_drifts_is_named_and_its_scale_stays(ideal):
    triads = PART.draw(1).triads()
    log = ideal.log({name: triads[name] for name in ("accelerometer", "gyroscope")}, 1)
    part = (log.t - log.t[0]) / (log.t[-1] - log.t[0]) - 0.5
    warm = replace(log, gyr_s=log.gyr_s + np.radians(1.0) * part[:, None])
    a, b = (calibrate_positions(each, G, model="cubic").calibration.corrections["gyroscope"] for each in (log, warm))
    assert "deg/s (x, y, z) during the session" in " ".join(b.found.notes)
    assert (a.found.verdict, b.found.verdict, b.found.data["limited_by"]) == ("good", "usable", "drift")
    assert np.abs(b.bias - a.bias).max() < np.radians(0.03)  # 3 % of the drift: slope and g-sensitivity
    assert np.abs(b.matrix - a.matrix).max() < 1e-3
    np.testing.assert_allclose(b.sigma["bias"], np.radians(1.0) / np.sqrt(2.0), rtol=0.1)


def test_a_walk_is_in_the_sigma_of_the_bias_and_no_line(ideal):
    times = np.linspace(0.0, 150.0, 24)
    rng = np.random.default_rng(5)
    walks = np.cumsum(rng.standard_normal((24, 3)), axis=0) / np.sqrt(24.0)  # variance 1 at its end
    noise = 0.01 * rng.standard_normal((24, 3))
    sets = [
        Residuals(
            (walks + noise)[:, a] - (walks + noise)[:, a].mean(), np.ones((24, 1)), np.tile(np.eye(3)[a], (24, 1)),
            1e-4 * np.eye(24), np.eye(24),
        )
        for a in range(3)
    ]  # fmt: skip
    drift = session_drift(times, sets)
    assert 0.5 < drift.walk < 2.0  # chance: 69 steps tell a variance to 17 %, and three lines share it
    assert session_drift(times[:3], [replace_rows(each, 3) for each in sets[:1]]) is None  # nothing to tell it by


def replace_rows(given, count):
    some = slice(0, count)
    return Residuals(
        given.values[some], given.design[some], given.axes[some], given.known[some, some], given.other[some, some]
    )
