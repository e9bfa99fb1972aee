"""A verdict names what limits the calibration: each cause is put in alone, and must be the one that is named."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.motion.paths.poses import Poses
from strapdown.papers.c.positions import G, Ideal, hand_held
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.parts.part import load_part

MG = 9.80665e-3
PART = load_part("mpu6050")
KNOWN = {"accelerometer": PART.nominal().triads()["accelerometer"]}
QUIET = replace(PART.draw(1).triads()["accelerometer"], nonlinearity=(0.0, 0.0, 0.0))


def log_of(motion, triad=QUIET):
    return Ideal.of(motion).log({"accelerometer": triad}, 1)


@pytest.fixture(scope="module")
def log():
    return log_of(hand_held())


def found_in(log, noise=KNOWN, **settings):
    return calibrate_positions(log, G, noise=noise, **settings).calibration.corrections["accelerometer"].found


def test_a_quiet_session_is_good(log):
    assert found_in(log).verdict == "good" and found_in(log).data["expected_m_s2"] < 1.0 * MG


def test_drift_is_named(log):
    share = (log.t - log.t[0]) / (log.t[-1] - log.t[0])
    found = found_in(replace(log, acc_s=log.acc_s + 10.0 * MG * share[:, None]))
    assert found.verdict == "usable" and found.data["limited_by"] == "drift"
    assert "drift limits it: let the sensor warm up first" in found.notes[-1]


@pytest.mark.parametrize("noise", [KNOWN, None])
def test_poses_that_scatter_are_named_as_movement(log, noise):
    acc, rng = log.acc_s.copy(), np.random.default_rng(0)
    for from_s, until_s in hand_held().holds_s:
        acc[(log.t > from_s - 1.0) & (log.t < until_s + 1.0)] += 4.0 * MG * rng.standard_normal(3)
    found = found_in(replace(log, acc_s=acc), noise)
    assert found.verdict == "usable" and found.data["limited_by"] == "movement"


def test_nonlinearity_is_named():
    bent = replace(QUIET, nonlinearity=(0.03, -0.03, 0.03))
    found = found_in(log_of(hand_held(), bent), model="full")
    assert found.verdict == "usable" and found.data["limited_by"] == "nonlinearity"


def test_a_face_seen_once_is_named_and_is_no_reason_for_poor():
    """The fit without that face is off by 5 times as much as with it; new attitudes are not."""
    q = [np.array(each) for each in hand_held().q_nb]
    up = np.array([q_rotate(q_conj(each), np.array([0.0, 0.0, 1.0])) for each in q])
    some = [k for k in range(len(q)) if up[k, 0] < 0.3] + [int(np.argmax(up[:, 0]))]
    log = log_of(Poses(np.array([q[k] for k in some]), hold_s=4.0, turn_s=2.5))
    share = (log.t - log.t[0]) / (log.t[-1] - log.t[0])
    found = found_in(replace(log, acc_s=log.acc_s + 10.0 * MG * share[:, None]), model="full")
    assert found.data["limited_by"] == "poses" and found.verdict == "usable"
    assert "most of all with x up" in " ".join(found.notes)
