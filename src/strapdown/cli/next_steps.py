"""What can be done with a log, and the command to type for it: for strapdown look."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from strapdown.recordings.overview import Overview

_ALLAN_S = 60.0  # of rest: white noise shows from a minute on
_POSES = 6
_ANOTHER_POSE = float(np.cos(np.radians(30.0)))  # gravity in another direction
_COVERED = 0.7  # length of the mean direction of the field: below it, the sensor was turned about
_WARMED_K = 5.0


@dataclass(frozen=True)
class Step:
    """One use of a log. command: the command to type; empty where it cannot be done, and `why` states what the log
    lacks.
    """

    what: str
    command: str
    why: str


def next_steps(seen: "Overview", log: str, columns: str | None) -> list[Step]:
    """All uses of a log. columns: the name of the mapping for --columns, None where the log needs none."""
    mapped = "" if columns is None else f" --columns {columns}"
    recording = seen.recording
    has_acc, has_gyr, has_mag = (x is not None for x in (recording.acc_s, recording.gyr_s, recording.mag_s))
    refused = next((finding.sentence for finding in seen.findings.of("refuse")), "")

    def step(what: str, command: str, *needs: tuple[bool, str]) -> Step:
        lacks = [reason for fulfilled, reason in needs if not fulfilled]
        why = f"first correct this: {refused}" if refused else "; ".join(lacks)
        return Step(what, "" if why else f"strapdown {command.format(log=f'{log}{mapped}')}", why)

    acc, gyr = (has_acc, "it has no accelerometer"), (has_gyr, "it has no gyroscope")
    rest = (bool(seen.rests), "it is nowhere at rest for a second")
    poses = _poses(seen)
    fixed = recording.position_fix is not None
    # the heading at the start: the magnetometer's where there is one; else the user puts the right number
    heading = "" if has_mag else " --heading 0"
    rolls, walks = recording.odometer is not None, " (a foot that walks: navigate --vehicle foot)"
    return [
        step("attitude", "orient {log} -o attitude", acc, gyr),
        step(
            "position",
            f"navigate {{log}}{heading} -o nav",
            acc,
            gyr,
            (rolls or seen.begins_at_rest, f"it does not begin at rest: record 5 s without motion first{walks}"),
            (
                rolls or fixed or len(seen.rests) > 1,
                f"it stops nowhere after its start: stop every few seconds, or position drifts{walks}",
            ),
        ),
        step("offsets", "calibrate static {log} -o offsets.toml", acc, gyr, rest),
        step(
            "scale and axes",
            "calibrate positions {log} -o calibration.toml",
            acc,
            (poses >= _POSES, f"it rests in {poses} of the {_POSES} different poses that are needed"),
        ),
        step(
            "magnetometer",
            "calibrate magnetometer {log} -o magnetometer.toml",
            (has_mag, "it has no magnetometer"),
            (not has_mag or _field_covered(seen), "it shows one side of the sensor: turn it through all directions"),
        ),
        step(
            "noise",
            "allan {log} --fit",
            (max((r.duration_s for r in seen.rests), default=0.0) >= _ALLAN_S, f"no rest of {_ALLAN_S:g} s"),
            (not seen.gaps, f"it has {len(seen.gaps)} gap{'' if len(seen.gaps) == 1 else 's'}"),
            (seen.rest_s > 0.95 * seen.duration_s, "it moves: cut it to a part at rest"),
        ),
        step(
            "temperature",
            "calibrate temperature {log} -o temperature.toml",
            (recording.temperature is not None, "it has no temperature"),
            (
                recording.temperature is None or float(np.ptp(recording.temperature)) > _WARMED_K,
                f"its temperature changes by less than {_WARMED_K:g} K",
            ),
            (seen.rest_s > 0.95 * seen.duration_s, "it moves: record it at rest"),
        ),
    ]


def _poses(seen: "Overview") -> int:
    """Different directions of gravity among the rests."""
    found: list[np.ndarray] = []
    for rest in seen.rests:
        if rest.acc_mean is None or not np.any(rest.acc_mean):
            continue
        direction = rest.acc_mean / np.linalg.norm(rest.acc_mean)
        if all(float(direction @ other) < _ANOTHER_POSE for other in found):
            found.append(direction)
    return len(found)


def _field_covered(seen: "Overview") -> bool:
    mag = seen.recording.mag_s
    if mag is None:
        return False
    from strapdown.recordings.examination.windows import tamed

    mag = tamed(mag)
    norm = np.linalg.norm(mag, axis=1, keepdims=True)
    return bool(np.linalg.norm((mag / np.maximum(norm, 1e-9)).mean(axis=0)) < _COVERED)
