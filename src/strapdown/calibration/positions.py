"""Accelerometer and gyroscope from one log in which the sensor is put down in different poses.

The accelerometer from |f| = g in the poses (position_model), or from the known directions of a case that stands
squarely on its faces (squared); the gyroscope from its offset in the poses and from the turns between them (turns).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strapdown.calibration.calibration import Calibration, Correction, Found
from strapdown.calibration.position_fit import Fitted, PoseTable, fit_model, pose_table
from strapdown.calibration.position_model import UNKNOWNS, amplification, names_of
from strapdown.calibration.squared import fit_squared
from strapdown.calibration.static_log import smallest_step
from strapdown.calibration.still import Still, still_intervals
from strapdown.calibration.turns import TurnsFit, fit_turns
from strapdown.errors import InputError
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

MODELS = ("auto", "diagonal", "full", "cubic", "squared")
LEVEL_SIGMA_RAD = np.radians(0.2)  # a kitchen table and a case of plastic
_LARGEST, _WELL = 30.0, 5.0  # deviations of the unknowns per deviation of a pose: still told, told well
_SPARE = {"diagonal": 1, "full": 1, "cubic": 3}  # poses beyond the unknowns that "auto" asks for
_BETTER = 0.7  # left-out residuals with cubic terms against those without
_LIKE_GRAVITY = (0.7, 1.4)  # |reading| / g at rest of a sensor that reads m/s2
_AT_THE_END = 0.2  # of a pose's samples at the log's extreme reading
_LOOKED_AT = 5000  # samples for the size of a count
_MG = 9.80665e-3  # m/s2
_GOOD_MG, _USABLE_MG = 2.0, 10.0  # left-out residual
_GOOD_MATRIX, _USABLE_MATRIX = 2e-3, 1e-2  # deviation of the gyroscope's matrix
_GOOD_TURN, _USABLE_TURN = np.radians(0.3), np.radians(2.0)


@dataclass(frozen=True, eq=False)
class PositionsFit:
    """calibration, and the evidence: poses as taken, the accelerometer's fit, and the turns (None: no gyroscope).

    model: the one chosen. accelerometer.before, .after, .left_out: |f| - g of each pose, m/s2.
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

    gravity_m_s2: local gravity (strapdown.earth.gravity). model: "diagonal" (6 unknowns), "full" (9), "cubic" (12),
    "squared" (12; the case stood squarely on its faces, level to level_sigma_rad), or "auto": the richest that the
    poses tell well. noise: the part's noise constants by instrument, as of a catalogue part; without them the drift is
    told from the scatter of the poses. shortest_s: shortest pose.
    """
    if model not in MODELS:
        raise InputError(f'model "{model}" is not known; valid: {", ".join(MODELS)}')
    if not (np.isfinite(gravity_m_s2) and 9.7 < gravity_m_s2 < 9.9):
        raise InputError(f"gravity_m_s2 is {gravity_m_s2}; on Earth give 9.76 to 9.84 m/s2, by latitude and height")
    if not (np.isfinite(level_sigma_rad) and level_sigma_rad >= 0.0):
        raise InputError(f"level_sigma_rad is {level_sigma_rad}; give a number that is not negative")
    if recording.acc_s is None:
        raise InputError("the log has no accelerometer, from which poses are told; record it along")
    stills = still_intervals(recording, shortest_s=shortest_s)
    _check_unit(stills, gravity_m_s2)
    stills, notes = _not_saturated(recording, stills)
    given = {} if noise is None else noise
    poses = pose_table(recording, stills, gravity_m_s2, given.get("accelerometer"))
    fitted, more = _accelerometer(poses, model, level_sigma_rad)
    corrections = {"accelerometer": _accelerometer_correction(recording, poses, fitted, (*notes, *more))}
    turns = None
    if recording.gyr_s is not None:
        turns = fit_turns(recording, poses, fitted, given.get("gyroscope"))
        corrections["gyroscope"] = _gyroscope_correction(recording, poses, turns)
    return PositionsFit(Calibration(corrections), fitted.model, poses, fitted, turns)


def _check_unit(stills: tuple[Still, ...], gravity: float) -> None:
    sizes = [float(np.linalg.norm(s.acc_mean)) for s in stills if s.acc_mean is not None]
    size = float(np.median(sizes))
    if _LIKE_GRAVITY[0] < size / gravity < _LIKE_GRAVITY[1]:
        return
    guess = "they look like g" if 0.7 < size < 1.4 else "they look like raw counts"
    raise InputError(
        f"at rest the accelerometer reads {size:.5g} where gravity is {gravity:.4g} m/s2: {guess}; "
        "give unit and scale of its columns in the column mapping (docs/io.md)"
    )


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
    note = f"{lost} of {len(stills)} poses were left out: the accelerometer was at the end of its range"
    return tuple(good), (note,) if lost else ()


def _accelerometer(poses: PoseTable, model: str, level_sigma_rad: float) -> tuple[Fitted, tuple[str, ...]]:
    """The fit of the model asked for, or of the richest one that the poses tell well."""
    if poses.distinct == 1:
        alike = f"all {len(poses)} still poses point the same way (within 3 deg)"
        raise InputError(
            f"{alike if len(poses) > 1 else 'there is one usable still pose'}, which tells one number of the sensor; "
            "put it down in at least six different poses"
        )
    if model == "squared":
        return fit_squared(poses, level_sigma_rad), ()
    if model != "auto":
        _refuse_untold(poses, model, _LARGEST)
        return fit_model(poses, model), ()
    told = [m for m in ("diagonal", "full", "cubic") if _told_well(poses, m)]
    if not told:
        _refuse_untold(poses, "diagonal", _LARGEST)
        told = ["diagonal"]
    best, notes = fit_model(poses, told[-1] if told[-1] != "cubic" else "full"), []
    if told[-1] == "cubic":
        bent = fit_model(poses, "cubic")
        if _rms(bent.left_out) < _BETTER * _rms(best.left_out):
            best = bent
    if best.model == "diagonal":
        notes.append(
            f"{poses.distinct} usable poses tell the 6 unknowns of bias and scale, not the 9 with cross-coupling; "
            "more poses, also between the axes, tell them"
        )
    return best, tuple(notes)


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


def _rms(values: Array) -> float:
    told = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(told**2))) if len(told) else float("inf")


def _accelerometer_correction(
    recording: Recording, poses: PoseTable, fitted: Fitted, notes: tuple[str, ...]
) -> Correction:
    said, undetermined = list(notes), list[str]()
    left_out = _rms(fitted.left_out) / _MG
    verdict = "good"
    if fitted.freedom < 1:
        verdict = "usable"
        said.append("there are as many unknowns as poses: nothing checks the result; add poses")
    elif not np.isfinite(left_out):
        verdict = "usable"
        said.append("no pose can be left out without losing an unknown, so none checks the result; add poses")
    elif left_out > _GOOD_MG:
        verdict = "usable" if left_out <= _USABLE_MG else "poor"
        said.append(f"poses left out of the fit are off by {left_out:.2g} mg; good are {_GOOD_MG:g}")
    if fitted.misfit > 0.5 * _MG:
        said.append(f"the poses scatter by {fitted.misfit / _MG:.2g} mg beyond the noise: the model is too simple")
        verdict = max(verdict, "usable", key=("good", "usable", "poor").index)
    checked = {"left_out_rms_m_s2": left_out * _MG} if np.isfinite(left_out) else {}
    if fitted.model == "diagonal":
        undetermined.append("matrix xy, xz, yz: cross-coupling assumed 0, it needs 9 or more poses between the axes")
    if fitted.model in ("diagonal", "full", "cubic"):
        undetermined.append(
            "rotation of the three axes together: gravity alone does not show it, the matrix is taken symmetric"
        )
    if fitted.model != "cubic":
        undetermined.append("cubic: assumed 0")
    return Correction(
        "m/s2",
        _found(recording, poses, _rms(fitted.after), verdict, said, undetermined, model=fitted.model, **checked),
        matrix=fitted.matrix,
        bias=fitted.bias,
        cubic=fitted.cubic,
        sigma=fitted.sigma,
        range_c=_range_c(recording),
    )


def _gyroscope_correction(recording: Recording, poses: PoseTable, turns: TurnsFit) -> Correction:
    said, verdict = list(turns.notes), "good"
    after = _rms(turns.after[turns.used])
    if turns.missing is not None:
        verdict = "usable"
        said.append(f"only the offset was found: {turns.missing}")
    else:
        worst = float(turns.sigma["matrix"].max())
        if worst > _GOOD_MATRIX or after > _GOOD_TURN:
            verdict = "usable" if worst <= _USABLE_MATRIX and after <= _USABLE_TURN else "poor"
            said.append(
                f"the matrix is known to {worst:.2g} and turns end {np.degrees(after):.2g} deg off; "
                f"good are {_GOOD_MATRIX:g} and {np.degrees(_GOOD_TURN):.2g} deg"
            )
    found = turns.gyroscope
    sigma = dict(turns.sigma) | ({} if turns.missing is None else {"matrix": np.full((3, 3), np.inf)})
    return Correction(
        "rad/s",
        _found(recording, poses, after, verdict, said, turns.undetermined, turns=int(turns.used.sum())),
        matrix=found.matrix,
        bias=found.bias,
        cubic=found.cubic,
        g_sensitivity=found.g_sensitivity,
        sigma=sigma,
        range_c=_range_c(recording),
    )


def _found(
    recording: Recording,
    poses: PoseTable,
    residual: float,
    verdict: str,
    notes: list[str],
    undetermined: tuple[str, ...] | list[str],
    **more: Any,
) -> Found:
    data: dict[str, Any] = {
        "samples": len(recording),
        "duration_s": float(recording.t[-1] - recording.t[0]),
        "poses": len(poses),
        "distinct_poses": poses.distinct,
        "gravity_m_s2": poses.gravity,
        **more,
    }
    if recording.temperature is not None:
        data["temperature_c"] = float(recording.temperature.mean())
    return Found("positions", data, None, residual, verdict, tuple(notes), tuple(undetermined))


def _range_c(recording: Recording) -> tuple[float, float] | None:
    if recording.temperature is None:
        return None
    return float(recording.temperature.min()), float(recording.temperature.max())
