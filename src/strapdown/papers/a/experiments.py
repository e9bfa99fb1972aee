"""Paper A's experiments as rigs, each with the exact readings by physics.

Lukyanov, Mpengele, Alkhalili 2025, DOI 10.34031/2071-7318-2024-10-3-125-135. A-e is ours: slow one-axis tests flatter
the paper's methods, a vigorous three-dimensional pendulum does not. Gravity is 9.81 m/s2 as in the paper.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.environment.rig import Rig, rig_from

Array = NDArray[np.float64]

GRAVITY = 9.81  # m/s2
STEPS_MS = (50, 10, 1)
SOFT_JOINT_HZ = 4.0  # lags by about 1 / (2 pi 4 Hz) = 40 ms, as the force sensor's soft weld in CoppeliaSim's MuJoCo

METHODS: dict[str, dict[str, Any]] = {
    "exact": {"method": "exact"},
    "paper": {"method": ["velocity-difference", "euler-increment"]},
    "second-order": {"method": ["central-difference", "rotation-log"]},
    "proof-mass": {"method": "proof-mass"},
    "proof-mass-soft": {"method": "proof-mass", "joint_frequency_hz": SOFT_JOINT_HZ},
}
KINEMATIC = ("exact", "paper", "second-order")  # leave the robot as it is; a proof mass adds its gram


@dataclass(frozen=True)
class Phase:
    """A window of time in which the signals are settled; differences across its ends are excluded."""

    name: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Experiment:
    """`rig(step_s)` without sensors; `truth(sensor, t)` gives (specific force, rate) in frame s, None: by reference."""

    id: str
    title: str
    sensors: dict[str, dict[str, Any]]
    phases: tuple[Phase, ...]
    rig: Callable[[float], dict[str, Any]]
    truth: Callable[[str, Array], tuple[Array, Array]] | None

    def values(self, step_s: float, methods: tuple[str, ...]) -> dict[str, Any]:
        """The rig at a step in plain values, with one sensor per place and method, called "place method"."""
        values = self.rig(step_s)
        values["sensor"] = [
            {"name": f"{place} {method}", "rate_hz": 1.0 / step_s, **mounting, **METHODS[method]}
            for place, mounting in self.sensors.items()
            for method in methods
        ]
        return values

    def with_methods(self, step_s: float, methods: tuple[str, ...]) -> Rig:
        """The rig of `values`; a soft proof mass needs motors in place of a kinematic drive."""
        values = self.values(step_s, methods)
        if "proof-mass-soft" in methods and values["robot"].get("drive") == "kinematic":
            physics = {**values["physics"], "step_s": step_s, "integrator": "implicitfast"}
            values = {**on_motors(values, step_s), "physics": physics}
        return rig_from(values, Path(f"experiment {self.id}"))


def on_motors(values: dict[str, Any], time_constant_s: float | None = None) -> dict[str, Any]:
    """A driven program given to speed motors instead."""
    joints = dict.fromkeys(line["joint"] for line in values["program"])
    settings = {} if time_constant_s is None else {"time_constant_s": time_constant_s}
    return {
        **values,
        "robot": {**values["robot"], "drive": "motors"},
        "motor": [{"joint": joint, "kind": "speed", **settings} for joint in joints],
        "program": [
            {**{k: v for k, v in line.items() if k != "joint"}, "motor": line["joint"]} for line in values["program"]
        ],
    }


def _columns(*columns: Any) -> Array:
    return np.stack(np.broadcast_arrays(*(np.asarray(c, dtype=np.float64) for c in columns)), axis=-1)


# A-a: manipulator; shoulder 10 to 25 s, elbow 30 to 45 s at 3 deg/s about X; poses a, b, c are the rests
_TURN = np.radians(3.0)


def _arm_rig(step_s: float) -> dict[str, Any]:
    turn = {"speed_deg_s": 3.0}
    return {
        "duration_s": 50.0,
        "robot": {"file": "strapdown:manipulator", "drive": "kinematic"},
        "physics": {"gravity": GRAVITY},
        "program": [
            {"joint": "shoulder", "at_s": 10.0, "until_s": 25.0, **turn},
            {"joint": "elbow", "at_s": 30.0, "until_s": 45.0, **turn},
        ],
    }


def _arm_truth(place: str, t: Array) -> tuple[Array, Array]:
    """Gravity seen from the link's angle, and the centripetal term of a point 0.2 m up its link (links 0.4 m)."""
    angle, rate, towards_axis = arm_motion(place, t)
    return _columns(0.0, GRAVITY * np.sin(angle), GRAVITY * np.cos(angle) - towards_axis), _columns(rate, 0.0, 0.0)


def arm_motion(place: str, t: Array) -> tuple[Array, Array, Array]:
    """Angle (rad), rate (rad/s) and acceleration towards the axis (m/s2, along -z of the link) as commanded."""
    shoulder_on, elbow_on = _during(t, 10.0, 25.0), _during(t, 30.0, 45.0)
    angle = _TURN * (np.clip(t, 10.0, 25.0) - 10.0)
    rate = _TURN * shoulder_on
    if place == "D2":
        towards_axis = 0.2 * rate**2
    else:  # on the forearm, straight while the shoulder turns: 0.6 m from it; then 0.2 m from the elbow
        angle = angle + _TURN * (np.clip(t, 30.0, 45.0) - 30.0)
        towards_axis = 0.6 * rate**2 + 0.2 * (_TURN * elbow_on) ** 2
        rate = rate + _TURN * elbow_on
    return angle, rate, towards_axis


def _during(t: Array, begin_s: float, end_s: float) -> Array:
    """1 from begin to end, 0 elsewhere; at a switch the new value."""
    return ((t > begin_s - 1e-9) & (t < end_s - 1e-9)).astype(np.float64)


# A-b: cube of 5 kg: rest, 54.05 N up from 2.5 to 5 s, free fall
def _cube_rig(step_s: float) -> dict[str, Any]:
    return {
        "duration_s": 6.0,
        "robot": {"file": "strapdown:cube"},
        "physics": {"gravity": GRAVITY, "step_s": step_s, "integrator": "rk4"},
        "program": [{"link": "cube", "at_s": 2.5, "until_s": 5.0, "force_n": [0.0, 0.0, 54.05]}],
    }


def _cube_truth(place: str, t: Array) -> tuple[Array, Array]:
    force = np.where(t < 2.5, GRAVITY, np.where(t < 5.0, 54.05 / 5.0, 0.0))
    return _columns(0.0, 0.0, force), _columns(0.0 * t, 0.0, 0.0)


# A-c: sensor 0.75 m from the axis of a bar that turns at pi/4 rad/s, x outward
_RATE = np.pi / 4.0
_RADIUS = 0.75


def _bar_rig(step_s: float) -> dict[str, Any]:
    return {
        "duration_s": 5.0,
        "robot": {"file": "strapdown:bar"},
        "physics": {"gravity": GRAVITY, "step_s": step_s, "integrator": "rk4"},
        "start": [{"joint": "axis", "speed_deg_s": 45.0}],
    }


def _bar_truth(place: str, t: Array) -> tuple[Array, Array]:
    return _columns(-_RADIUS * _RATE**2, 0.0 * t, GRAVITY), _columns(0.0, 0.0 * t, _RATE)


# A-e: double pendulum with skew axes, released with bent links: up to 60 m/s2 and 15 rad/s. The physics runs at 1 ms or
# finer, whatever the sample time
def pendulum_rig(step_s: float, physics_step_s: float = 1e-3) -> dict[str, Any]:
    return {
        "duration_s": 5.0,
        "robot": {"file": "strapdown:double_pendulum"},
        "physics": {"gravity": GRAVITY, "step_s": physics_step_s, "integrator": "rk4"},
        "start": [{"joint": "upper", "position_deg": 90.0}, {"joint": "lower", "position_deg": 45.0}],
    }


_SKEW = [c / np.sqrt(30.0) for c in (4.0, 1.0, 2.0, 3.0)]

EXPERIMENTS = {
    e.id: e
    for e in (
        Experiment(
            "A-a",
            "manipulator, 3 deg/s about X",
            {
                "D1": {"link": "forearm", "position_m": [0.0, 0.0, 0.2]},
                "D2": {"link": "upper_arm", "position_m": [0.0, 0.0, 0.2]},
            },
            (
                Phase("pose a", 1.0, 9.9),
                Phase("shoulder turns", 10.5, 24.9),
                Phase("pose b", 25.6, 29.9),
                Phase("elbow turns", 30.5, 44.9),
                Phase("pose c", 45.6, 49.9),
            ),
            _arm_rig,
            _arm_truth,
        ),
        Experiment(
            "A-b",
            "cube: rest, lift, free fall",
            {"D1": {"link": "cube"}},
            (Phase("rest", 1.0, 2.45), Phase("lift", 3.0, 4.92), Phase("fall", 5.4, 5.94)),
            _cube_rig,
            _cube_truth,
        ),
        Experiment(
            "A-c",
            "constant rotation, 0.75 m from the axis",
            {"D1": {"link": "bar", "position_m": [_RADIUS, 0.0, 0.0]}},
            (Phase("steady", 0.06, 4.94),),
            _bar_rig,
            _bar_truth,
        ),
        Experiment(
            "A-e",
            "vigorous double pendulum (ours)",
            {"D1": {"link": "lower_link", "position_m": [0.02, 0.01, -0.25], "quaternion_wxyz": _SKEW}},
            (Phase("swing", 0.12, 4.94),),
            pendulum_rig,
            None,
        ),
    )
}
