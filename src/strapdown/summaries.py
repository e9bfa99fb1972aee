"""Text of a motion, recording or solution at a prompt or in a notebook: one line, or a small table."""

from collections.abc import Iterable, Sequence
from html import escape
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

_UNITS = {
    "gyr_s": "rad/s",
    "acc_s": "m/s2",
    "mag_s": "uT",
    "tilt_s": "rad",
    "temperature": "degC",
    "odometer": "m",
}


def span_summary(t: Array) -> str:
    """Samples, duration and rate."""
    if len(t) < 2:
        return f"{len(t)} sample{'' if len(t) == 1 else 's'}"
    return f"{len(t)} samples, {t[-1] - t[0]:.6g} s at {1.0 / float(np.median(np.diff(t))):.4g} Hz"


def recording_summary(recording: Any) -> str:
    """Part, samples and instruments of a recording."""
    part = recording.meta.get("part")
    has = [word for name, word in _INSTRUMENTS.items() if getattr(recording, name) is not None]
    return (
        f"{f'{part}, ' if isinstance(part, str) else ''}{span_summary(recording.t)}; {', '.join(has) or 'no readings'}"
    )


def solution_summary(solution: Any) -> str:
    """Filter and samples of a solution, and the last position with its sigma."""
    name = solution.meta.get("filter")
    axes = ", 6 axes" if any(event.kind == "six_axes" for event in solution.events) else ""
    text = f"{f'{name}{axes}, ' if isinstance(name, str) else ''}{span_summary(solution.t)}"
    if solution.p_n is None or not len(solution):
        return f"{text}; attitude"
    end = ", ".join(f"{x:.4g}" for x in solution.p_n[-1])
    sigma = solution.sigma.get("p_n")
    known = "" if sigma is None else f", sigma {', '.join(f'{x:.2g}' for x in sigma[-1])}"
    return f"{text}; attitude, velocity, position; ends at ({end}) m{known}"


def html_table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table for a notebook. Numbers are to the right, the first column is text."""

    def line(cells: Sequence[str], tag: str) -> str:
        sides = ["left", *["right" if head else "left"] * (len(cells) - 1)]
        marked = zip(cells, sides, strict=True)
        return "".join(f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>' for cell, side in marked)

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    above = f"<thead><tr>{line(head, 'th')}</tr></thead>" if head else ""
    return f"<table>{above}<tbody>{body}</tbody></table>"


def recording_rows(recording: Any) -> list[tuple[str, str]]:
    """Table of a recording in a notebook: length, instruments with their values, facts of its meta."""
    rows = [("samples", span_summary(recording.t))]
    for name, word in _INSTRUMENTS.items():
        values = getattr(recording, name)
        if values is None:
            continue
        if isinstance(values, np.ndarray) and values.dtype == np.float64 and values.size:
            unit = _UNITS.get(name, "")
            rows.append((word, f"{np.nanmin(values):.4g} to {np.nanmax(values):.4g} {unit}".rstrip()))
        elif isinstance(values, np.ndarray):
            rows.append((word, f"set in {100.0 * float(np.mean(values)):.3g} % of the samples"))
        else:
            rows.append((word, "yes"))
    plain = ((key, value) for key, value in recording.meta.items() if isinstance(value, str | int | float))
    return rows + [(key.replace("_", " "), f"{value}") for key, value in plain]


def solution_rows(solution: Any) -> list[tuple[str, str]]:
    """Table of a solution in a notebook: its filter, length, end and events."""
    rows = [("filter", str(solution.meta.get("filter", "not named"))), ("samples", span_summary(solution.t))]
    if solution.p_n is not None and len(solution):
        rows.append(("ends at (east, north, up)", ", ".join(f"{x:.4g}" for x in solution.p_n[-1]) + " m"))
        if "p_n" in solution.sigma:
            rows.append(("sigma there", ", ".join(f"{x:.2g}" for x in solution.sigma["p_n"][-1]) + " m"))
    kinds: dict[str, int] = {}
    for event in solution.events:
        kinds[event.kind] = kinds.get(event.kind, 0) + 1
    rows += [(f"event {kind.replace('_', ' ')}", str(count)) for kind, count in kinds.items()]
    return rows
