"""Rigs that tests change, and ways to run them."""

import copy

import pytest

from helpers import inertial, joint, link, run_rig, urdf
from strapdown.errors import InputError

ARM = {
    "duration_s": 0.1,
    "robot": {"file": "strapdown:manipulator"},
    "motor": [{"joint": "shoulder", "kind": "speed"}, {"joint": "elbow", "kind": "position"}],
    "sensor": [{"name": "D1", "link": "forearm"}],
    "program": [
        {"motor": "shoulder", "at_s": 0.0, "speed_deg_s": 10.0},
        {"motor": "elbow", "at_s": 0.01, "position_deg": 5.0, "over_s": 0.05},
        {"link": "tool", "at_s": 0.02, "until_s": 0.03, "force_n": [1.0, 0.0, 0.0]},
    ],
}
DRIVEN = {
    "duration_s": 0.1,
    "robot": {"file": "strapdown:manipulator", "drive": "kinematic"},
    "sensor": [{"name": "D1", "link": "forearm"}],
    "program": [{"joint": "shoulder", "at_s": 0.0, "speed_deg_s": 10.0}],
}
PATH = {
    "duration_s": 0.1,
    "motion": {"kind": "circle", "radius_m": 2.0, "speed_m_s": 1.0, "duration_s": 5.0},
    "sensor": [{"name": "D1", "link": "body"}],
}
SLIDER = urdf(
    link("base", ""),
    joint(
        "rail", "base", "cart", "prismatic", '<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
    ),
    link("cart", inertial(2.0)),
)


def changed(base, *changes):
    """A copy of a rig with values put at places: ("sensor.0.rate_hz", 5.0); None takes the key away."""
    values = copy.deepcopy(base)
    for place, value in changes:
        *way, last = [int(p) if p.isdigit() else p for p in place.split(".")]
        inner = values
        for part in way:
            inner = inner.setdefault(part, {}) if isinstance(part, str) else inner[part]
        if value is None:
            del inner[last]
        elif isinstance(last, int) and last == len(inner):
            inner.append(value)
        else:
            inner[last] = value
    return values


def one(values, folder="."):
    (recording,) = run_rig(values, folder).recordings.values()
    return recording


def refused(values, folder="."):
    with pytest.raises(InputError) as caught:
        run_rig(values, folder)
    said = str(caught.value)
    assert "\n" not in said and len(said) < 500
    return said
