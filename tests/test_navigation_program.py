"""The off-line program as a whole, on paper C's virtual robots: what it does where the log lies or lacks something."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from strapdown.calibration.calibration import Calibration
from strapdown.errors import InputError
from strapdown.evaluation.stops import stop_table
from strapdown.navigation.alignment import UNKNOWN_HEADING_RAD
from strapdown.navigation.program import navigate
from strapdown.navigation.task import Task
from strapdown.navigation.vehicle_filter import CHANGED_ACC, CHANGED_GYR, left_by, vehicle_filter
from strapdown.papers.c_drive import drive
from strapdown.papers.c_robot import DECLINATION, G

SEEDS = (3000, 3001, 3002, 3003)


@cache
def driven(seed=3000):
    return drive("straight", seed)


def task_of(one, **more):
    known = {
        "gravity": G,
        "declination_rad": DECLINATION,
        "noise": one.robot.known,
        "calibration": one.robot.calibration,
    }
    return Task(**{"yaw_rad": one.path.start_yaw_rad, **known, **more})


def word_of(one, word):
    n = len(one.log)
    return {"none": None, "never": np.zeros(n, dtype=bool), "stuck": np.ones(n, dtype=bool)}[word]


@pytest.mark.parametrize("word", ["none", "stuck"])
def test_stops_are_found_without_a_true_flag(word):
    percent, nees = [], []
    for seed in SEEDS:
        one = driven(seed)
        found = navigate(replace(one.log, stop=word_of(one, word), odometer=None), "eskf", task_of(one))
        percent.append(stop_table(found.solution, one.stops).final.percent)
        off = (found.solution.p_n - one.truth.p_n)[-1, :2]
        nees.append(np.sum((off / found.solution.sigma["p_n"][-1, :2]) ** 2))
    assert np.mean(percent) < 0.5  # %: chance; a heading known to 1 deg beside a disturbed compass is most of it
    assert 0.1 < np.mean(nees) < 4.4  # chance: 2 is right, four runs of two components stay below 4.4 in 99.6 of 100


def test_a_flag_that_is_never_set_is_no_word_for_the_papers_filter():
    one = driven()
    none, never = (
        navigate(replace(one.log, stop=word_of(one, word)), "ekf15", task_of(one)).solution.p_n
        for word in ("none", "never")
    )
    np.testing.assert_array_equal(none, never)
    assert np.linalg.norm((never - one.truth.p_n)[-1]) < 0.1 * 6.6  # m: without any stop it runs away by 900 %


def test_an_unknown_heading_is_told_by_its_variance():
    one = driven()
    log = replace(one.log, mag_s=None, odometer=None)
    unknown = navigate(log, "eskf", task_of(one, yaw_rad=None))
    known = navigate(log, "eskf", task_of(one))
    assert any("unknown" in note for note in unknown.notes) and not any("unknown" in note for note in known.notes)
    first, way = unknown.solution.sigma["attitude_n"][0, 2], 6.6
    assert first == pytest.approx(UNKNOWN_HEADING_RAD, rel=1e-9)  # roundoff
    assert known.solution.sigma["attitude_n"][0, 2] == pytest.approx(np.radians(1.0), rel=1e-9)
    off = np.linalg.norm((unknown.solution.p_n - known.solution.p_n)[-1])
    assert off < 0.02 * way  # m: the drive does head north, and what is unknown must not bend the path
    assert unknown.solution.sigma["p_n"][-1, :2] == pytest.approx(way, rel=0.02)  # the path's own error


@pytest.mark.parametrize("vehicle", ["robot", "foot"])
def test_an_accelerometer_in_g_is_refused(vehicle):
    one = driven()
    log = replace(one.log, acc_s=one.log.acc_s / G)
    with pytest.raises(InputError, match=r"reads 1\.0\d m/s2 at rest, gravity is 9\.81: is it in g\?|reads 1\.00"):
        navigate(log, "eskf", task_of(one, vehicle=vehicle))


def test_a_foot_has_the_same_heading_rules():
    one = driven()
    log = replace(one.log, stop=None, odometer=None)
    told = []
    for change, more in (({}, {}), ({}, {"yaw_rad": None}), ({"mag_s": None}, {"yaw_rad": None})):
        found = navigate(replace(log, **change), "eskf", task_of(one, vehicle="foot", **more))
        told.append((found.solution.sigma["attitude_n"][0, 2], found.solution.q_nb[0], " ".join(found.notes)))
    sigmas = [sigma for sigma, _, _ in told]
    assert sigmas == pytest.approx([np.radians(1.0), 0.05, UNKNOWN_HEADING_RAD], rel=1e-9)  # roundoff
    assert "magnetometer after the start" in told[0][2] and "unknown" in told[2][2]
    yaws = [2.0 * np.arctan2(q[3], q[0]) for _, q, _ in told]
    assert yaws[0] == pytest.approx(np.pi / 2, abs=1e-3) and yaws[2] == pytest.approx(
        np.pi / 2, abs=1e-3
    )  # tilt squared
    assert yaws[1] == pytest.approx(np.pi / 2, abs=0.2)  # rad: the iron below the floor, 3 deg rms


def test_a_jump_of_one_sample_is_bridged_and_told_and_a_long_one_refused():
    one = driven()
    acc = np.array(one.log.acc_s)
    acc[3000, 0] = 1e4
    clean = navigate(one.log, "eskf", task_of(one))
    hit = navigate(replace(one.log, acc_s=acc), "eskf", task_of(one))
    assert any(note.startswith("spike: 1 (first at t = 30.0") for note in hit.notes)
    assert [event.kind for event in hit.solution.events].count("spike") == 1
    assert (
        np.linalg.norm((hit.solution.p_n - clean.solution.p_n)[-1]) < 1e-3
    )  # m: one reading of 10 ms, by its neighbours
    acc[3000:3010, 0] = 1e4
    with pytest.raises(InputError, match="stays above"):
        navigate(replace(one.log, acc_s=acc), "eskf", task_of(one))


def test_no_stop_is_doubted_where_the_window_still_holds_the_move():
    one = driven()
    found = navigate(one.log, "eskf", task_of(one))
    kinds = {event.kind for event in found.solution.events}
    assert not kinds & {"stop_doubted", "stop_rejected"}, found.notes


def test_the_filter_knows_what_its_calibration_says_of_itself():
    one = driven()
    known = left_by(one.robot.calibration, G)
    filt = vehicle_filter(task_of(one), one.log)
    assert {name: getattr(filt, name) for name in known} == known
    assert known["gyr_bias_sigma"] > CHANGED_GYR and known["acc_bias_sigma"] > CHANGED_ACC
    gyroscope = one.robot.calibration.corrections["gyroscope"]
    unknown = np.where(np.eye(3) > 0.0, gyroscope.sigma["matrix"], np.inf)  # a calibration that found the scales alone
    corrections = {"gyroscope": replace(gyroscope, sigma={**gyroscope.sigma, "matrix": unknown})}
    found = left_by(Calibration(corrections), G)
    assert known["gyr_matrix_sigma"] < 0.002 < 0.005 < found["gyr_matrix_sigma"] < 0.01
    assert "acc_bias_sigma" not in found


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"q_bs": (1.0, 1.0, 0.0, 0.0)}, "norm"),
        ({"r_bs_b": (0.0, 0.0, 1e6)}, "lever arm"),
        ({"odometer_scale": 0.0}, "odometer's scale"),
        ({"odometer_sigma": 2.0}, "deviation of the odometer's scale"),
    ],
)
def test_a_task_that_cannot_be_is_refused(wrong, word):
    with pytest.raises(InputError, match=word):
        Task(**wrong)


def test_a_wrong_heading_deviation_is_refused():
    with pytest.raises(InputError, match="from 0 to 180"):
        Task(heading_sigma_rad=-1.0)
