"""The operator's console: its controls, and the changes that it refuses."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from strapdown.environment.diagram.problem import did_you_mean
from strapdown.errors import InputError

MODES = ("rate", "stabilise", "hold")
SWITCHES = ("power", "calibrate", "arm")
STICKS = ("roll", "pitch", "yaw", "throttle", "drive", "turn")


class Console(NamedTuple):
    """Switches are 0 or 1, sticks run from -1 to 1, mode counts MODES.

    sliders: values by the name of their block.
    """

    power: float = 0.0
    calibrate: float = 0.0
    arm: float = 0.0
    mode: float = 2.0
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    throttle: float = 0.0
    drive: float = 0.0
    turn: float = 0.0
    sliders: Mapping[str, float] = {}


def console_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the console from plain ones: true and false, names of modes, numbers; InputError names a bad one."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name == "sliders":
            if not isinstance(value, Mapping) or not all(_number(v) for v in value.values()):
                raise InputError("sliders need a table of numbers by the name of the slider")
            values[name] = {str(key): float(v) for key, v in value.items()}
        elif name in SWITCHES:
            if not (isinstance(value, bool) or (_number(value) and value in (0, 1))):
                raise InputError(f"{name} is {value!r}; give true or false")
            values[name] = float(value)
        elif name == "mode":
            if isinstance(value, str) and value in MODES:
                values[name] = float(MODES.index(value))
            elif _number(value) and value in range(len(MODES)):
                values[name] = float(value)
            else:
                raise InputError(f"mode is {value!r}; give {', '.join(MODES)}")
        elif name in STICKS:
            if not (_number(value) and -1.0 <= value <= 1.0):
                raise InputError(f"{name} is {value!r}; give a number from -1 to 1")
            values[name] = float(value)
        else:
            raise InputError(f'the console has no "{name}"; {did_you_mean(name, Console._fields)}')
    return values


def operated(console: Console, changes: Mapping[str, Any], *, has_rotors: bool) -> tuple[Console, str]:
    """The console after the operator's changes, and a sentence on refused changes ("" if there are none).

    Arming needs power, and no calibration at the same time. Power off disarms and ends a calibration.
    """
    sliders = {**console.sliders, **changes.get("sliders", {})}
    after = console._replace(**{**changes, "sliders": sliders})
    refused = ""
    if after.arm and not console.arm:
        if not has_rotors:
            after, refused = after._replace(arm=0.0), "arm: this vehicle has no rotors to arm"
        elif not after.power:
            after, refused = after._replace(arm=0.0), "arm: the power is off; switch it on first"
        elif after.calibrate:
            after, refused = after._replace(arm=0.0), "arm: a calibration is running; end it first"
    if after.calibrate and not console.calibrate:
        if not after.power:
            after, refused = after._replace(calibrate=0.0), "calibrate: the power is off; switch it on first"
        elif after.arm:
            after, refused = after._replace(calibrate=0.0), "calibrate: the motors are armed; disarm first"
    if not after.power:
        after = after._replace(arm=0.0, calibrate=0.0)
    return after, refused


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
