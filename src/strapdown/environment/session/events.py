"""Events of a session: kind, time and numbers. The sentence is composed where it is shown."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class SessionEvent(NamedTuple):
    """An event of a session.

    kind: one word of SENTENCES.
    data: plain values.
    """

    t_s: float
    kind: str
    data: Mapping[str, Any] = {}


SENTENCES = {
    "console": "console: {changes}",
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
    pattern = SENTENCES.get(event.kind, event.kind)
    shown = {key: _shown(value) for key, value in event.data.items()}
    return pattern.format(**shown)


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return " ".join(str(_shown(item)) for item in value)
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value if isinstance(value, int | str) else str(value)
