"""Events of a session: kind, time and numbers. The sentence is composed where it is shown."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from strapdown.environment.session.console import MODES

_SWITCHES = {
    "power": ("power on", "power off"),
    "calibrate": ("calibration begins", "calibration ends"),
    "arm": ("armed", "disarmed"),
}


class SessionEvent(NamedTuple):
    """An event of a session.

    kind: one word of SENTENCES.
    data: plain values.
    """

    t_s: float
    kind: str
    data: Mapping[str, Any] = {}


SENTENCES = {
    "console": "console: {controls}",
    "refused": "refused: {reason}",
    "calibrated": "calibrated at rest",
    "calibration_refused": "calibration refused: the vehicle moves, or the switch was on too briefly",
    "fault": 'fault "{name}" begins: {fault}',
    "fault_ends": 'fault "{name}" ends',
    "parameters": 'block "{block}": {changes}',
    "diagram": "the diagram was replaced",
    "sensor": 'sensor "{sensor}": {changes}',
    "scene": "scene: {changes}",
    "push": "push of {force_n} N on {link} for {for_s} s",
    "tipped": "tipped over: {tilt_deg:.0f} deg from upright",
    "impact": "hit the ground at {speed_m_s:.1f} m/s",
    "away": "left the scene: {distance_m:.0f} m from the start",
    "lift_off": "left the ground",
    "touch_down": "stands on the ground",
    "stopped": "stopped: {reason}",
    "rewind": "back from {from_s:.3f} s",
}


def sentence(event: SessionEvent) -> str:
    """The event for people."""
    if event.kind == "console":
        return SENTENCES["console"].format(controls=console_words(event.data["changes"]))
    pattern = SENTENCES.get(event.kind, event.kind)
    shown = {key: _shown(value) for key, value in event.data.items()}
    return pattern.format(**shown)


def console_words(changes: Mapping[str, Any]) -> str:
    """Changed controls in words: "power on, mode hold, throttle 0.6"."""
    return ", ".join(_control(name, value) for name, value in changes.items())


def _control(name: str, value: Any) -> str:
    if name in _SWITCHES:
        return _SWITCHES[name][0 if value else 1]
    if name == "mode":
        return f"mode {value if isinstance(value, str) else MODES[int(value)]}"
    if name == "sliders":
        return ", ".join(f"slider {key} {_shown(item)}" for key, item in value.items())
    return f"{name} {_shown(value)}"


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return " ".join(str(_shown(item)) for item in value)
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value if isinstance(value, int | str) else str(value)
