"""Paths by name, made from the plain values of a scenario file; each key names its unit."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path as Folder
from typing import Any

import numpy as np

from strapdown.checks import rows, triple
from strapdown.errors import InputError
from strapdown.motion.paths.circle import Circle, FigureEight
from strapdown.motion.paths.flight import Flight
from strapdown.motion.paths.linear import Linear
from strapdown.motion.paths.poses import poses_from
from strapdown.motion.paths.profile import Keep, MoveTo, Phase, Ramp, SmoothRamp
from strapdown.motion.paths.rest import Rest
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.motion.paths.tumble import Tumble
from strapdown.motion.paths.turntable import Turntable
from strapdown.motion.paths.waypoints import Waypoints
from strapdown.motion.protocol import Path
from strapdown.motion.recorded import read_poses
from strapdown.rotation import q_from_euler


@dataclass(frozen=True)
class Key:
    """A key of the file: the setting that it fills, and how its value is read (name and value in, SI out)."""

    setting: str
    read: Callable[[str, Any], Any]


@dataclass(frozen=True)
class Kind:
    """How to make one kind of thing. A key is required if the setting it fills has no default."""

    make: Callable[..., Any]
    keys: Mapping[str, Key]

    def required(self) -> list[str]:
        defaults = inspect.signature(self.make).parameters
        return [
            name
            for name, key in self.keys.items()
            if key.setting in defaults and defaults[key.setting].default is inspect.Parameter.empty
        ]

    def made_from(self, what: str, settings: Mapping[str, Any]) -> Any:
        valid = ", ".join(self.keys)
        for name in settings:
            if name not in self.keys:
                raise InputError(f'{what} does not know the key "{name}"; its keys are: {valid}')
        for name in self.required():
            if name not in settings:
                raise InputError(f'{what} lacks the key "{name}"; its keys are: {valid}')
        try:
            values = {self.keys[name].setting: self.keys[name].read(name, value) for name, value in settings.items()}
            return self.make(**values)
        except InputError as error:
            raise InputError(f"{what}: {self._told_by_keys(str(error))}") from None

    def _told_by_keys(self, sentence: str) -> str:
        """Name the keys of the file, not the settings they fill; "rate" and similar names are also plain words."""
        for name, key in self.keys.items():
            if "_" in key.setting:
                sentence = re.sub(rf"\b{key.setting}\b", name, sentence)
        return sentence


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} is {value!r}; give a number")
    return float(value)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} is {value!r}; give a whole number")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; give true or false")
    return value


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise InputError(f"{name} is {value!r}; give a list with at least one entry")
    return list(value)


def _numbers(name: str, value: Any) -> list[float]:
    return [_number(f"{name}[{i}]", x) for i, x in enumerate(_list(name, value))]


def _triple(name: str, value: Any) -> Any:
    return triple(name, _numbers(name, value))


def _triples(name: str, value: Any) -> Any:
    return rows(name, [_numbers(f"{name}[{i}]", row) for i, row in enumerate(_list(name, value))], 3)


def _angle_deg(name: str, value: Any) -> float:
    return float(np.radians(_number(name, value)))


def _angles_deg(name: str, value: Any) -> list[float]:
    return [float(np.radians(x)) for x in _numbers(name, value)]


def _attitude_deg(name: str, value: Any) -> Any:
    """Attitude from [roll, pitch, yaw] in degrees."""
    return q_from_euler(*np.radians(_triple(name, value)))


def _attitudes_deg(name: str, value: Any) -> Any:
    return q_from_euler(*np.radians(_triples(name, value)).T)


def _phases(name: str, value: Any) -> list[Phase]:
    """Phases of the angle from tables with a kind."""
    return [_made(PHASES, f"{name}[{i}]", _table(f"{name}[{i}]", x)) for i, x in enumerate(_list(name, value))]


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is {value!r}; give a table with a kind")
    return value


def _made(kinds: Mapping[str, Kind], what: str, table: Mapping[str, Any]) -> Any:
    """The object of the kind that the table names."""
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(f"{what} has the kind {kind!r}, which is not known; use one of: {', '.join(kinds)}")
    rest = {name: value for name, value in table.items() if name != "kind"}
    return kinds[kind].made_from(f'{what} "{kind}"', rest)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} is {value!r}; give a name")
    return value


def _names(name: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is {value!r}; give a table: our column = the file's column")
    return {ours: _text(f"{name}.{ours}", theirs) for ours, theirs in value.items()}


def _recorded(
    file: str,
    columns: Mapping[str, str] | None = None,
    pose_time_offset_s: float = 0.0,
    gap_factor: float = 1.5,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Path:
    """Poses of a log, or of a part of it (times relative to its first pose), with times from 0 on."""
    poses = read_poses(file, columns, gap_factor=WHOLE)
    part = replace(poses.from_zero().part(start_s, end_s), gap_factor=gap_factor)
    return replace(part, pose_time_offset_s=pose_time_offset_s).from_zero()


WHOLE = float("inf")  # gap_factor of a log that is yet to be cut: what lies outside the part may have any gaps

_DURATION = {"duration_s": Key("duration_s", _number)}
_POSE = {"position_m": Key("p_n", _triple), "attitude_deg": Key("q_nb", _attitude_deg)}
_RATE = {"rate_deg_s": Key("rate", _angle_deg)}
_STOPS = {name: Key(name, _number) for name in ("stop_spacing_m", "move_s", "rest_s", "turn_s", "first_rest_s")}
_START = {"start_position_m": Key("start_p_n", _triple)}
_START_POSE = {**_START, "start_yaw_deg": Key("start_yaw_rad", _angle_deg)}
_PACE = {name: Key(name, _number) for name in ("duration_s", "run_up_s", "bank_gravity_m_s2")}

PHASES: Mapping[str, Kind] = {
    "keep": Kind(Keep, _DURATION),
    "ramp": Kind(Ramp, {**_RATE, **_DURATION}),
    "smooth-ramp": Kind(SmoothRamp, {**_RATE, **_DURATION}),
    "turn-to": Kind(MoveTo, {"angle_deg": Key("value", _angle_deg), **_DURATION}),
}

PATHS: Mapping[str, Kind] = {
    "rest": Kind(Rest, {**_DURATION, **_POSE}),
    "turntable": Kind(
        Turntable,
        {
            "phases": Key("phases", _phases),
            "axis": Key("axis_b", _triple),
            "start_rate_deg_s": Key("start_rate_rad_s", _angle_deg),
            **_POSE,
        },
    ),
    "turntable-positions": Kind(
        Turntable.positions,
        {
            "angles_deg": Key("angles_rad", _angles_deg),
            "turn_s": Key("turn_s", _number),
            "hold_s": Key("hold_s", _number),
            "axis": Key("axis_b", _triple),
            **_POSE,
        },
    ),
    "poses": Kind(
        poses_from,
        {
            "attitudes_deg": Key("q_nb", _attitudes_deg),
            "set": Key("set_name", _text),
            "count": Key("count", _whole),
            "tilt_deg": Key("tilt_deg", _number),
            "seed": Key("seed", _whole),
            **{name: Key(name, _number) for name in ("hold_s", "turn_s", "first_hold_s")},
            "position_m": _POSE["position_m"],
        },
    ),
    "tumble": Kind(
        Tumble,
        {
            **_DURATION,
            "rate_deg_s": Key("rate_rad_s", _angle_deg),
            "first_rest_s": Key("first_rest_s", _number),
            "start_yaw_deg": Key("start_yaw_rad", _angle_deg),
            "position_m": _POSE["position_m"],
        },
    ),
    "linear": Kind(
        Linear,
        {
            **_START,
            "end_position_m": Key("end_p_n", _triple),
            **{
                name: Key(name, _number) for name in ("speed_m_s", "acceleration_m_s2", "rest_before_s", "rest_after_s")
            },
            "attitude_deg": _POSE["attitude_deg"],
        },
    ),
    "waypoints": Kind(
        Waypoints,
        {
            "times_s": Key("times_s", _numbers),
            "positions_m": Key("p_n", _triples),
            "attitudes_deg": Key("q_nb", _attitudes_deg),
        },
    ),
    "stop-and-go-square": Kind(StopAndGo.square, {"side_m": Key("side_m", _number), **_STOPS, **_START_POSE}),
    "stop-and-go-straight": Kind(StopAndGo.straight, {"length_m": Key("length_m", _number), **_STOPS, **_START_POSE}),
    "circle": Kind(
        Circle,
        {
            "radius_m": Key("radius_m", _number),
            "speed_m_s": Key("speed_m_s", _number),
            **_PACE,
            "clockwise": Key("clockwise", _flag),
            **_START_POSE,
        },
    ),
    "figure-eight": Kind(
        FigureEight,
        {
            **{name: Key(name, _number) for name in ("length_m", "width_m", "period_s")},
            **_PACE,
            **_START,
            "axis_yaw_deg": Key("axis_yaw_rad", _angle_deg),
        },
    ),
    "flight": Kind(
        Flight,
        {
            "velocities_m_s": Key("v_n", _triples),
            **{
                name: Key(name, _number) for name in ("ramp_s", "hold_s", "first_rest_s", "gravity_m_s2", "drag_time_s")
            },
            **_START_POSE,
        },
    ),
    "recorded": Kind(
        _recorded,
        {
            "file": Key("file", _text),
            "columns": Key("columns", _names),
            **{name: Key(name, _number) for name in ("pose_time_offset_s", "gap_factor", "start_s", "end_s")},
        },
    ),
}


def path_from_settings(
    kind: str, settings: Mapping[str, Any], folder: str | PathLike[str] = ".", what: str = "path"
) -> Path:
    """The path of the given kind, from the keys of a scenario file. A file that it names is searched for in the folder.

    what: name of the table in messages, "motion" in a rig.
    """
    if kind == "recorded" and isinstance(settings.get("file"), str):
        settings = {**settings, "file": str(Folder(folder) / settings["file"])}
    path: Path = _made(PATHS, what, {**settings, "kind": kind})
    return path
