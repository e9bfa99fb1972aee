"""Paths from the plain values of a file: units in the keys, and one clear sentence for each mistake."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.motion import Circle, Keep, MoveTo, Rest, SmoothRamp, StopAndGo, Turntable, path_from_settings
from strapdown.motion.catalogue import PATHS
from strapdown.rotation import q_from_euler

EXAMPLES = {
    "rest": {"duration_s": 2, "position_m": [1, 2, 3], "attitude_deg": [0, 0, 90]},
    "turntable": {
        "axis": [1, 0, 0],
        "phases": [
            {"kind": "keep", "duration_s": 1.0},
            {"kind": "smooth-ramp", "rate_deg_s": 90.0, "duration_s": 2.0},
            {"kind": "ramp", "rate_deg_s": 0.0, "duration_s": 2.0},
            {"kind": "turn-to", "angle_deg": 0.0, "duration_s": 4.0},
        ],
    },
    "turntable-positions": {"angles_deg": [90, 180], "turn_s": 1.0, "hold_s": 2.0},
    "poses": {"count": 12, "tilt_deg": 3.0, "seed": 1, "hold_s": 3.0, "turn_s": 1.5, "first_hold_s": 20.0},
    "tumble": {"duration_s": 60, "rate_deg_s": 90, "first_rest_s": 5.0, "start_yaw_deg": 10.0},
    "linear": {
        "start_position_m": [0, 0, 0],
        "end_position_m": [0, 3, 0],
        "speed_m_s": 1.0,
        "acceleration_m_s2": 0.5,
    },
    "waypoints": {
        "times_s": [0, 1, 2],
        "positions_m": [[0, 0, 0], [1, 0, 0], [2, 1, 0]],
        "attitudes_deg": [[0, 0, 0], [10, 0, 0], [10, 20, 30]],
    },
    "stop-and-go-square": {},
    "stop-and-go-straight": {"length_m": 3.0, "rest_s": 1.5},
    "circle": {"radius_m": 2.0, "speed_m_s": 1.0, "duration_s": 10.0, "clockwise": True, "start_yaw_deg": 90.0},
    "figure-eight": {"length_m": 4.0, "period_s": 10.0, "duration_s": 20.0, "run_up_s": 2.0},
    "flight": {"velocities_m_s": [[3, 0, 0], [0, 0, 0]], "ramp_s": 2.0, "drag_time_s": 4.9, "start_yaw_deg": 90.0},
    "recorded": {
        "file": str(Path(__file__).parents[2] / "examples" / "poses.csv"),
        "columns": {"t": "time_s"},
        "pose_time_offset_s": 0.0005,
    },
}


@pytest.mark.parametrize("kind", PATHS)
def test_every_kind_makes_a_path_from_its_example(kind):
    path = path_from_settings(kind, EXAMPLES[kind])
    assert len(path.at(np.linspace(0.0, path.duration_s, 5))) == 5


def test_angles_of_files_are_degrees_and_become_radians_once():
    rest = path_from_settings("rest", EXAMPLES["rest"])
    assert rest == Rest(2.0, (1, 2, 3), q_from_euler(0.0, 0.0, np.pi / 2))
    turntable = path_from_settings("turntable", {"phases": EXAMPLES["turntable"]["phases"][:2]})
    assert turntable == Turntable([Keep(1.0), SmoothRamp(np.pi / 2, 2.0)])
    positions = path_from_settings("turntable-positions", EXAMPLES["turntable-positions"])
    assert positions.phases[1] == MoveTo(np.pi / 2, 1.0)
    assert path_from_settings("circle", EXAMPLES["circle"]) == Circle(
        2.0, 1.0, 10.0, clockwise=True, start_yaw_rad=np.pi / 2
    )
    assert path_from_settings("stop-and-go-square", {}) == StopAndGo.square()


def test_a_table_of_a_toml_file_may_hold_its_own_kind():
    table = tomllib.loads('[path]\nkind = "rest"\nduration_s = 3')["path"]
    assert path_from_settings(table["kind"], table) == Rest(3.0)


MISTAKES = {
    "kind": ("spiral", {}, "path has the kind 'spiral', which is not known; use one of: rest, turntable,"),
    "unknown key": (
        "rest",
        {"duration_s": 1, "duration": 2},
        'path "rest" does not know the key "duration"; its keys are: duration_s, position_m, attitude_deg',
    ),
    "missing key": (
        "circle",
        {"radius_m": 1.0, "duration_s": 1.0},
        'path "circle" lacks the key "speed_m_s"; its keys are: radius_m, speed_m_s,',
    ),
    "text for a number": ("rest", {"duration_s": "10"}, "path \"rest\": duration_s is '10'; give a number"),
    "true for a number": ("rest", {"duration_s": True}, "duration_s is True; give a number"),
    "number for true": ("circle", {**EXAMPLES["circle"], "clockwise": 1}, "clockwise is 1; give true or false"),
    "short vector": ("rest", {"duration_s": 1, "position_m": [1, 2]}, "position_m is .* give 3 finite numbers"),
    "text in a vector": ("rest", {"duration_s": 1, "position_m": [1, 2, "3"]}, r"position_m\[2\] is '3'"),
    "number for a vector": ("rest", {"duration_s": 1, "position_m": 1}, "position_m is 1; give a list"),
    "text in a table": (
        "waypoints",
        {"times_s": [0, 1], "positions_m": [[0, 0, 0], [1, 0, "x"]]},
        r"positions_m\[1\]\[2\] is 'x'; give a number",
    ),
    "ragged table": (
        "waypoints",
        {"times_s": [0, 1], "positions_m": [[0, 0, 0], [1, 0]]},
        "positions_m is .* give rows of 3 numbers each",
    ),
    "rows": (
        "waypoints",
        {"times_s": [0, 1], "positions_m": [[0, 0, 0]]},
        "positions_m has 1 rows for 2 times",
    ),
    "phase without kind": ("turntable", {"phases": [{"duration_s": 1.0}]}, r"phases\[0\] has the kind None"),
    "phase kind": ("turntable", {"phases": [{"kind": "hop"}]}, "use one of: keep, ramp, smooth-ramp, turn-to"),
    "phase key": (
        "turntable",
        {"phases": [{"kind": "keep", "duration_s": 1.0, "rate_deg_s": 3.0}]},
        r'phases\[0\] "keep" does not know the key "rate_deg_s"; its keys are: duration_s',
    ),
    "phase value": (
        "turntable",
        {"phases": [{"kind": "keep", "duration_s": -1.0}]},
        r'phases\[0\] "keep": duration_s is -1; give a number above 0',
    ),
    "phase no table": ("turntable", {"phases": [3]}, r"phases\[0\] is 3; give a table with a kind"),
    "same place": (
        "linear",
        {**EXAMPLES["linear"], "end_position_m": [0, 0, 0]},
        "start_position_m and end_position_m are the same place",
    ),
    "range": ("figure-eight", {**EXAMPLES["figure-eight"], "run_up_s": 30}, "run_up_s is 30, longer than"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_file_is_told_in_one_sentence_with_the_key(mistake):
    kind, settings, message = MISTAKES[mistake]
    with pytest.raises(InputError, match=message) as caught:
        path_from_settings(kind, settings)
    assert "\n" not in str(caught.value)
