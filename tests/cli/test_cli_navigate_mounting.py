"""strapdown navigate with a sensor that sits elsewhere and otherwise: mounting, lever arm, wheel; and its notes."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from helpers import command
from strapdown import io
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.rotation import q_from_euler
from strapdown.types import Recording

G = 9.81
KNOWN = ("--heading", "0", "--heading-sigma", "0", "--gravity", str(G))
LEVER_M = (0.2, -0.1, 0.3)
TURNED_DEG = (180.0, 0.0, 90.0)  # upside down, its x axis to the left
MOUNTED = ("--mounting", "180,0,90", "--lever", "0.2,-0.1,0.3")
WRITTEN_M = 1e-9  # roundoff of turning readings into another frame and back, over a drive


@cache
def square(lever_m=(0.0, 0.0, 0.0), turned_deg=(0.0, 0.0, 0.0)):
    """Half of a square driven by a quiet sensor there: 50 ug and 0.003 deg/s of white noise, given as a robot's log."""
    path = StopAndGo.square(start_yaw_rad=0.5 * np.pi, first_rest_s=3.0)
    t = np.arange(0.0, path.duration_s / 2.0, 0.01)
    seen = path.at(t).seen_from(lever_m, q_from_euler(*np.radians(turned_deg)))
    rng = np.random.default_rng(5)
    return Recording(
        t,
        gyr_s=seen.w_nb_b + 5e-5 * rng.standard_normal((len(t), 3)),
        acc_s=seen.specific_force_b(G) + 5e-3 * rng.standard_normal((len(t), 3)),
        stop=path.stopped(t),
        odometer=np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path.at(t).p_n, axis=0), axis=1))]),
        truth=seen,
    ), path.at(t).p_n


def told(folder, log, *arguments):
    io.write(folder / "log.parquet", {"robot": log})
    said = command("navigate", folder / "log.parquet", *KNOWN, *arguments, "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    return document["filters"]["eskf"], document["notes"]


def test_mounting_and_lever_lead_to_the_bodys_origin(tmp_path):
    log, p_n = square(LEVER_M, TURNED_DEG)
    log = replace(log, odometer=None)
    right, _ = told(tmp_path, log, *MOUNTED)
    assert np.linalg.norm(np.array(right["last_position_m"]) - p_n[-1]) < 0.005  # m: chance, 2 mm of noise
    assert right["against_truth"]["final_percent"] < 0.3  # the truth in the log is the sensor's, and of the body
    assert right["against_truth"]["attitude_deg"]["max"] < 0.5  # deg: the noise of the accelerometer at the start
    wrong, _ = told(tmp_path, log, "--mounting", "180,0,90")
    assert wrong["against_truth"]["final_percent"] > 3.0 * right["against_truth"]["final_percent"]
    aside, _ = told(tmp_path, log, "--lever", "0.2,-0.1,0.3")  # wheels that roll to the side
    assert aside["against_truth"]["final_percent"] > 10.0


@pytest.mark.parametrize("name", ["eskf", "ekf15"])
def test_the_mounting_in_a_log_is_used_and_told(tmp_path, name):
    log, _ = square((0.0, 0.0, 0.0), TURNED_DEG)
    log = replace(log, odometer=None)
    marked = log.with_meta(quaternion_wxyz=q_from_euler(*np.radians(TURNED_DEG)).tolist())
    io.write(tmp_path / "log.parquet", {"robot": log})
    io.write(tmp_path / "marked.parquet", {"robot": marked})
    documents = [
        json.loads(command("navigate", tmp_path / file, *KNOWN, "--filter", name, *more, "--json").out)
        for file, more in (
            ("log.parquet", ("--mounting", "180,0,90")),
            ("marked.parquet", ()),
            ("marked.parquet", ("--mounting", "0,0,0")),
            ("log.parquet", ()),
        )
    ]
    given, marked, overruled, plain = (d["filters"][name]["last_position_m"] for d in documents)
    assert given == pytest.approx(marked, abs=WRITTEN_M) and overruled == pytest.approx(plain, abs=WRITTEN_M)
    assert np.linalg.norm(np.array(given) - overruled) > 0.1  # m: its x axis is not where the robot drives to
    spoken = [any("mounting is the log's: roll 180, pitch" in note for note in d["notes"]) for d in documents]
    assert spoken == [False, True, False, False]


def test_the_odometers_scale_and_its_deviation(tmp_path):
    log, p_n = square()
    short = replace(log, odometer=0.8 * log.odometer)
    right, _ = told(tmp_path, log)
    scaled, _ = told(tmp_path, short, "--odometer-scale", "1.25")
    assert scaled["last_position_m"] == pytest.approx(right["last_position_m"], abs=1e-6)  # roundoff of 0.8 * 1.25
    loose, _ = told(tmp_path, log, "--odometer-sigma", "5")
    assert max(loose["last_sigma_m"][:2]) > 1.1 * max(right["last_sigma_m"][:2])
    assert np.linalg.norm(np.array(loose["last_position_m"]) - p_n[-1]) < 0.01  # m: chance


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--mounting", "180,0"), "three numbers"),
        (("--mounting", "a,b,c"), "three numbers"),
        (("--mounting", "0,0,nan"), "--mounting has nan"),
        (("--mounting", "0,0,1000"), "--mounting has 1000"),
        (("--lever", "1"), "three numbers"),
        (("--lever", "0,0,1e6"), "--lever has 1e+06"),
        (("--odometer-scale", "0"), "--odometer-scale is 0"),
        (("--odometer-sigma", "-1"), "--odometer-sigma is -1"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path, arguments, word):
    io.write(tmp_path / "log.parquet", {"robot": square()[0]})
    said = command("navigate", tmp_path / "log.parquet", *KNOWN, *arguments)
    assert said.code == 2 and word in said.err and len(said.err.strip().splitlines()) == 1


def test_a_flag_that_signals_a_stop_in_motion_alone_is_not_believed(tmp_path):
    log, _ = square()
    moving = np.zeros(len(log), dtype=bool)
    moving[np.flatnonzero(~log.stop)[50:60]] = True  # the controller signals a stop while it drives, and never again
    found, notes = told(tmp_path, replace(log, stop=moving, odometer=None))
    assert any(note.startswith("stop_doubted: 1 ") for note in notes)
    right, _ = told(tmp_path, replace(log, odometer=None))
    assert found["stops_believed"] == right["stops_believed"] == 9  # the sensor shows them by itself
    assert found["against_truth"]["final_percent"] < 0.3  # measured 0.09 with either flag


def test_advice_names_no_option_of_another_command(tmp_path):
    log, _ = square()
    yaw = np.linspace(0.0, 2.0 * np.pi, len(log))
    iron = np.column_stack([30.0 + 20.0 * np.cos(yaw), 20.0 * np.sin(yaw), np.full(len(yaw), -20.0)])
    _, notes = told(tmp_path, replace(log, mag_s=iron, odometer=None))
    assert any("the magnetometer reads" in note for note in notes) and not any("--axes" in note for note in notes)
