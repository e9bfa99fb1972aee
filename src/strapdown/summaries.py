"""One line about a motion, recording or solution: what a notebook or a prompt shows of it."""

from typing import Any

import numpy as np

from strapdown.arrays import Array

_INSTRUMENTS = {
    "gyr_s": "gyroscope",
    "acc_s": "accelerometer",
    "mag_s": "magnetometer",
    "tilt_s": "inclinometer",
    "temperature": "temperature",
    "odometer": "odometer",
    "position_fix": "position fixes",
    "velocity_fix": "velocity fixes",
    "height": "height",
    "increments": "increments",
    "stop": "stop flag",
    "truth": "truth",
}


def span_summary(t: Array) -> str:
    """Samples, duration and rate."""
    if len(t) < 2:
        return f"{len(t)} sample{'' if len(t) == 1 else 's'}"
    return f"{len(t)} samples, {t[-1] - t[0]:.6g} s at {1.0 / float(np.median(np.diff(t))):.4g} Hz"


def recording_summary(recording: Any) -> str:
    """Its part, samples and instruments."""
    part = recording.meta.get("part")
    has = [word for name, word in _INSTRUMENTS.items() if getattr(recording, name) is not None]
    return (
        f"{f'{part}, ' if isinstance(part, str) else ''}{span_summary(recording.t)}; {', '.join(has) or 'no readings'}"
    )


def solution_summary(solution: Any) -> str:
    """Its filter, samples, and the last position with its sigma."""
    name = solution.meta.get("filter")
    text = f"{f'{name}, ' if isinstance(name, str) else ''}{span_summary(solution.t)}"
    if solution.p_n is None or not len(solution):
        return f"{text}; attitude"
    end = ", ".join(f"{x:.4g}" for x in solution.p_n[-1])
    sigma = solution.sigma.get("p_n")
    known = "" if sigma is None else f", sigma {', '.join(f'{x:.2g}' for x in sigma[-1])}"
    return f"{text}; attitude, velocity, position; ends at ({end}) m{known}"
