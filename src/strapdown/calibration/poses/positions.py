"""Accelerometer and gyroscope from one log in which the sensor is put down in different poses.

The accelerometer is calibrated from |f| = g in the poses (position_model). If the case stands squarely on its faces, it
is calibrated from the known directions (squared). The gyroscope is calibrated from its offset in the poses and from the
turns between them (turns).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from strapdown.calibration.apply import refuse_calibrated
from strapdown.calibration.calibration import FIELDS, Calibration
from strapdown.calibration.poses.accelerometer_fit import Fitted, PoseTable, fit_model, pose_table
from strapdown.calibration.poses.accelerometer_model import UNKNOWNS, amplification, names_of
from strapdown.calibration.poses.drift_taken_off import note_of, turns_with_drift, with_drift
from strapdown.calibration.poses.gyroscope_fit import TurnsFit
from strapdown.calibration.poses.known_faces import fit_squared
from strapdown.calibration.poses.report import accelerometer_correction, gyroscope_correction, rms
from strapdown.errors import InputError
from strapdown.recordings.counts import smallest_step
from strapdown.recordings.examination.verdict import checked
from strapdown.recordings.rest import Still, still_intervals
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

MODELS = ("auto", "diagonal", "full", "cubic", "squared")
LEVEL_SIGMA_RAD = np.radians(0.1)  # a table and a case of plastic, set up with a spirit level; as calibrate_static
_LARGEST, _WELL = 30.0, 5.0  # sigmas of the unknowns per sigma of a pose: still determined, determined well
_SPARE = {"diagonal": 1, "full": 1, "cubic": 3}  # poses beyond the unknowns that "auto" asks for
_BETTER = 0.7  # left-out residuals with cubic terms against those without
_AT_THE_END = 0.2  # of a pose's samples at the log's extreme reading
_LOOKED_AT = 5000  # samples for the size of a count


@dataclass(frozen=True, eq=False)
class PositionsFit:
    """calibration, and the evidence: poses as taken, the accelerometer's fit, and the turns (None: no gyroscope).

    model: the chosen model. accelerometer.before, .after, .left_out: |f| - g of each pose, m/s2.
    """

    calibration: Calibration
    model: str
    poses: PoseTable
    accelerometer: Fitted
    turns: TurnsFit | None


def calibrate_positions(
    recording: Recording,
    gravity_m_s2: float,
    *,
    model: str = "auto",
    noise: Mapping[str, Triad] | None = None,
    level_sigma_rad: float = LEVEL_SIGMA_RAD,
    shortest_s: float = 1.0,
) -> PositionsFit:
    """Accelerometer from the still poses of a log, gyroscope (where the log has one) from the turns between them.

    gravity_m_s2: local gravity (strapdown.earth.gravity).
    model: "diagonal" (6 unknowns), "full" (9), "cubic" (12), "squared" (12; the case stood squarely on its faces, level
        to level_sigma_rad), or "auto": the richest that the poses determine well.
    noise: the part's noise constants by instrument, as of a catalogue part; without them the drift is estimated from
        the scatter of the poses.
    shortest_s: shortest pose.
    """
    if model not in MODELS:
        raise InputError(f'model "{model}" is not known; valid: {", ".join(MODELS)}')
    if not (np.isfinite(gravity_m_s2) and 9.7 < gravity_m_s2 < 9.9):
        raise InputError(f"gravity_m_s2 is {gravity_m_s2}; on Earth give 9.76 to 9.84 m/s2, by latitude and height")
    if not (np.isfinite(level_sigma_rad) and level_sigma_rad >= 0.0):
        raise InputError(f"level_sigma_rad is {level_sigma_rad}; give a number that is not negative")
    if recording.acc_s is None:
        raise InputError("the log has no accelerometer, from which poses are found; record it too")
    refuse_calibrated(recording, *(name for name in ("accelerometer", "gyroscope") if _has(recording, name)))
    checked(recording, uses=("accelerometer", "gyroscope"), gravity=gravity_m_s2, rests=True)
    stills = still_intervals(recording, shortest_s=shortest_s)
    stills, notes = _not_saturated(recording, stills)
    given = {} if noise is None else noise
    poses = pose_table(recording, stills, gravity_m_s2, given.get("accelerometer"))
    poses, fitted, more = _accelerometer(poses, model, level_sigma_rad)
    more = (*more, *note_of(poses.session, "mg"))
    corrections = {
        "accelerometer": accelerometer_correction(recording, poses, fitted, (*notes, *more), given.get("accelerometer"))
    }
    turns = None
    if recording.gyr_s is not None:
        turns, steady = turns_with_drift(recording, poses, fitted, given.get("gyroscope"))
        corrections["gyroscope"] = gyroscope_correction(recording, steady, fitted, turns, "gyroscope" in given)
    return PositionsFit(Calibration(corrections), fitted.model, poses, fitted, turns)


def _has(recording: Recording, instrument: str) -> bool:
    return getattr(recording, FIELDS[instrument]) is not None


def _not_saturated(recording: Recording, stills: tuple[Still, ...]) -> tuple[tuple[Still, ...], tuple[str, ...]]:
    """Poses without those at the end of the range, and a note of how many."""
    assert recording.acc_s is not None
    low, high = recording.acc_s.min(axis=0), recording.acc_s.max(axis=0)
    usual = np.median([s.acc_deviation for s in stills if s.acc_deviation is not None], axis=0)
    steps = np.array([smallest_step(recording.acc_s[:_LOOKED_AT, i]) or 0.0 for i in range(3)])
    noisy = usual > np.maximum(steps, 1e-9)  # otherwise many samples at one count are no sign of anything
    good = []
    for still in stills:
        rows = recording.acc_s[still.rows]
        share = np.maximum((rows == low).mean(axis=0), (rows == high).mean(axis=0))
        clipped = recording.clipped is not None and bool(recording.clipped[still.rows].any())
        if not clipped and not (noisy & (share > _AT_THE_END)).any():
            good.append(still)
    lost = len(stills) - len(good)
    if not good:
        raise InputError(f"all {lost} poses are at the end of the accelerometer's range; record with a wider range")
    note = f"{lost} of {len(stills)} poses were rejected: the accelerometer was at the end of its range"
    return tuple(good), (note,) if lost else ()


def _accelerometer(poses: PoseTable, model: str, level_sigma_rad: float) -> tuple[PoseTable, Fitted, tuple[str, ...]]:
    """Poses without drift, and the fit of the requested model, or of the richest one that the poses determine well."""
    if poses.distinct == 1:
        alike = f"all {len(poses)} still poses point the same way (within 3 deg)"
        raise InputError(
            f"{alike if len(poses) > 1 else 'there is one usable still pose'}, which fixes one number of the sensor; "
            "put it down in at least six different poses"
        )
    if model == "squared":
        return poses, fit_squared(poses, level_sigma_rad), ()
    if model != "auto":
        _refuse_untold(poses, model, _LARGEST)
        return *with_drift(poses, fit_model(poses, model)), ()
    told = [m for m in ("diagonal", "full", "cubic") if _told_well(poses, m)]
    if not told:
        _refuse_untold(poses, "diagonal", _LARGEST)
        told = ["diagonal"]
    found, notes = with_drift(poses, fit_model(poses, told[-1] if told[-1] != "cubic" else "full")), []
    if told[-1] == "cubic":
        bent = with_drift(poses, fit_model(poses, "cubic"))
        if rms(bent[1].left_out) < _BETTER * rms(found[1].left_out):
            found = bent
        else:  # a nonlinearity too small to be seen may still be there: within the wider sigmas
            matrix = np.maximum(found[1].sigma["matrix"], bent[1].sigma["matrix"])
            found = found[0], replace(found[1], sigma={**found[1].sigma, "matrix": matrix})
    steady, best = found
    if best.model == "diagonal":
        notes.append(
            f"{poses.distinct} usable poses tell the 6 unknowns of bias and scale, not the 9 with cross-coupling; "
            "more poses, also between the axes, tell them, or model squared for a case on its faces"
        )
    return steady, best, tuple(notes)


def _told_well(poses: PoseTable, model: str) -> bool:
    enough = poses.distinct >= UNKNOWNS[model] + _SPARE[model]
    if model == "diagonal":  # six positions are what it is for
        enough = poses.distinct >= UNKNOWNS[model]
    return enough and bool(amplification(model, _one_each(poses)).max() < (_LARGEST if model == "cubic" else _WELL))


def _one_each(poses: PoseTable) -> Array:
    """Directions, one for each distinct pose."""
    _, first = np.unique(poses.groups, return_index=True)
    return np.asarray(poses.directions[first])


def _refuse_untold(poses: PoseTable, model: str, most: float) -> None:
    unknowns = UNKNOWNS[model]
    simpler = {"cubic": ' or use model "full"', "full": ' or use model "diagonal"', "diagonal": ""}[model]
    if poses.distinct < unknowns:
        raise InputError(
            f'{poses.distinct} usable poses are too few for the {unknowns} unknowns of model "{model}"; put the sensor '
            f"down in more different poses{simpler}"
        )
    spread = amplification(model, _one_each(poses))
    weak = [name for name, value in zip(names_of(model), spread, strict=True) if value > most]
    if weak:
        raise InputError(
            f"{poses.distinct} usable poses do not tell {', '.join(weak)}, of the {unknowns} unknowns of model "
            f'"{model}": they point too much the same way; put each axis up, down and level{simpler}'
        )
