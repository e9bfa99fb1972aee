"""Joints and motors that follow a sinusoid, a table or a Python function."""

import math

import numpy as np
import pytest

import strapdown as sd
from strapdown.engines.course import Course
from strapdown.engines.program import Command, joint_profile, target_profile
from strapdown.environment.rig import rig_from
from strapdown.errors import InputError

A, F = 0.5, 0.4  # rad, Hz
W = 2.0 * math.pi * F


def driven(program, duration_s=4.0):
    return {
        "duration_s": duration_s,
        "robot": {"file": "strapdown:bar", "drive": "kinematic"},
        "physics": {"gravity": 9.81},
        "program": program,
        "sensor": [{"name": "imu", "link": "bar", "position_m": [0.75, 0.0, 0.0], "rate_hz": 100.0}],
    }


def read(values, tmp_path, **more):
    return sd.simulate(rig_from(values, tmp_path / "rig"), **more).recordings["imu"]


def expected(t):
    """Of a point 0.75 m out on a bar that swings about the vertical."""
    rate, change = A * W * np.cos(W * t), -A * W**2 * np.sin(W * t)
    return rate, np.stack([-0.75 * rate**2, 0.75 * change, np.full_like(t, 9.81)], axis=1)


WAYS = {
    "sinusoid": {"sinusoid": {"of": "position_deg", "amplitude": math.degrees(A), "frequency_hz": F}, "until_s": 4.0},
    "table": {
        "table": {
            "of": "position_deg",
            "t_s": np.linspace(0.0, 4.0, 201).tolist(),
            "values": np.degrees(A * np.sin(W * np.linspace(0.0, 4.0, 201))).tolist(),
        }
    },
    "speed": {
        "sinusoid": {
            "of": "speed_deg_s",
            "amplitude": math.degrees(A * W),
            "frequency_hz": F,
            "phase_deg": 90.0,
        },
        "until_s": 4.0,
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_a_driven_joint_follows_the_course_with_exact_readings(way, tmp_path):
    log = read(driven([{"joint": "axis", "at_s": 0.0, **WAYS[way]}]), tmp_path)
    inside = (log.t > 0.1) & (log.t < 3.9)
    rate, force = expected(log.t[inside])
    # between points 20 ms apart a spline of degree 5 errs by (w h)^4 / 720 of the acceleration; a sinusoid by 1e-8
    close = 1e-4 if way == "table" else 1e-6
    np.testing.assert_allclose(log.gyr_s[inside, 2], rate, atol=close)
    np.testing.assert_allclose(log.acc_s[inside], force, atol=close)


def test_a_python_function_drives_a_joint(tmp_path):
    course = Course.function(lambda t: A * math.sin(W * t), 4.0)
    log = read(driven([]), tmp_path, commands=[Command.along("axis", "position", course)])
    inside = (log.t > 0.1) & (log.t < 3.9)
    rate, force = expected(log.t[inside])
    np.testing.assert_allclose(log.gyr_s[inside, 2], rate, atol=1e-6)
    np.testing.assert_allclose(log.acc_s[inside], force, atol=1e-5)


def test_a_motor_follows_a_course_of_speed(tmp_path):
    """Physics: a motor with a time constant of 10 ms lags by it."""
    values = driven([{"motor": "axis", "at_s": 0.5, **WAYS["speed"], "until_s": 3.5}])
    values["robot"]["drive"] = "motors"
    values["motor"] = [{"joint": "axis", "kind": "speed", "time_constant_s": 0.01}]
    log = read(values, tmp_path)
    inside = (log.t > 0.7) & (log.t < 3.4)
    lag = 0.01
    asked = A * W * np.cos(W * (log.t[inside] - 0.5 - lag))
    np.testing.assert_allclose(log.gyr_s[inside, 2], asked, atol=2e-3)  # second order of lag times frequency
    assert abs(log.gyr_s[-1, 2]) < 0.01  # at the end of the course the speed is 0


def test_a_course_begins_and_ends_where_its_neighbours_are():
    course = Course.sinusoid(1.0, 1.0, 0.25)
    profile = joint_profile([Command.along("j", "position", course, 1.0)], 0.0)
    np.testing.assert_allclose(profile([0.5, 1.0, 1.25, 9.0]), [0.0, 0.0, 1.0, 1.0], atol=1e-9)
    torque = target_profile([Command.along("m", "torque", Course.table([0.0, 1.0], [2.0, 4.0]), 1.0)], 0.0)
    np.testing.assert_allclose(torque([0.5, 1.0, 1.5, 2.5]), [0.0, 2.0, 3.0, 0.0], atol=1e-12)
    with pytest.raises(InputError, match=r"begins at 0, and the joint is at 0\.7"):
        joint_profile([Command.along("j", "position", course, 1.0)], 0.7)
    with pytest.raises(InputError, match="cannot take a torque"):
        joint_profile([Command.along("j", "torque", course)], 0.0)
    with pytest.raises(InputError, match="still moving"):
        joint_profile([Command.along("j", "position", course), Command("j", "speed", 1.0, 0.1)], 0.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Course.sinusoid(1.0, 0.0, 1.0), "frequency_hz = 0.0"),
        (lambda: Course.sinusoid(math.nan, 1.0, 1.0), "no number"),
        (lambda: Course.sinusoid(1.0, 1e6, 1e3), "at most 200000"),
        (lambda: Course.table([0.0, 1.0], [1.0]), "2 times and 1 values"),
        (lambda: Course.table([0.0, 1.0, 1.0], [1.0, 2.0, 3.0]), "begin at 0 and increase"),
        (lambda: Course.table([0.0, "x"], [1.0, 2.0]), "no number"),
        (lambda: Course.function(lambda t: 1.0 / (t - 1.0), 2.0, step_s=0.5), "failed at 1 s"),
        (lambda: Course.function(lambda t: math.inf, 1.0), "is inf at 0 s"),
        (lambda: Course.function(math.sin, -1.0), "duration_s = -1.0"),
        (lambda: Command.along("j", "force", Course.table([0.0, 1.0], [0.0, 1.0])), "valid: position, speed, torque"),
    ],
)
def test_a_course_that_cannot_be_is_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"sinusoid": WAYS["sinusoid"]["sinusoid"]}, "a sinusoid needs until_s"),
        ({**WAYS["table"], "until_s": 3.0}, "a table has no until_s"),
        ({**WAYS["table"], "speed_deg_s": 3.0}, "exactly one of"),
    ],
)
def test_lines_that_do_not_fit_are_refused(line, words, tmp_path):
    with pytest.raises(InputError, match=words):
        rig_from(driven([{"joint": "axis", "at_s": 0.0, **line}]), tmp_path / "rig")
