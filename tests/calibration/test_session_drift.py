"""A bias that drifts while the sensor is put down in its poses is named and taken off."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.calibration.poses.positions import calibrate_positions
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
    # half of the change from the first pose to the last: the bias may be at its end
    assert 8.0 * MG < b.sigma["bias"].min() < b.sigma["bias"].max() < 12.0 * MG


def test_a_small_drift_is_noise(ideal):
    assert not drifts(session(ideal, 2, drift_mg=0.3))
