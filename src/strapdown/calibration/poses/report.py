"""Report of a calibration by positions: corrections with verdict, notes, and undetermined parameters."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from strapdown.calibration.calibration import VERDICTS, Correction, Found
from strapdown.calibration.poses.accelerometer_fit import CROSS, Fitted, PoseTable
from strapdown.calibration.poses.gyroscope_fit import TurnsFit
from strapdown.calibration.poses.limits import limits_of
from strapdown.calibration.poses.session_drift import SessionDrift
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

_MG = 9.80665e-3  # m/s2
_GOOD_MG, _USABLE_MG = 2.0, 10.0  # expected in a new attitude
_GOOD_MATRIX, _USABLE_MATRIX = 2e-3, 1e-2  # sigma of the gyroscope's matrix
_GOOD_TURN, _USABLE_TURN = np.radians(0.3), np.radians(2.0)
_GOOD_DRIFT = np.radians(0.1)  # rad/s, of the gyroscope's bias over the session
_TURN_REMEDIES = {
    "movement": "the turns scatter more than noise explains: hold it still in each pose, and turn it smoothly",
    "poses": "the turns limit it: turn it by 90 deg or more about each of its axes, more often",
}
_ESTIMATED = (
    "the part's noise is not known; drift was estimated from the scatter of the poses: for parts with strong flicker "
    "standard deviations of biases may be too small by up to 2; name the part"
)


def rms(values: Array) -> float:
    """Rms of the determined values; inf if none is."""
    told = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(told**2))) if len(told) else float("inf")


def accelerometer_correction(
    recording: Recording, poses: PoseTable, fitted: Fitted, notes: tuple[str, ...], part: Triad | None
) -> Correction:
    """Correction of the accelerometer from a fit to poses.

    part: the part of the accelerometer, None if it is not known.
    """
    said, undetermined, checked = list(notes), list[str](), dict[str, Any]()
    left_out = rms(fitted.left_out) / _MG
    verdict = "good"
    if fitted.freedom < 1:
        verdict = "usable"
        said.append("there are as many unknowns as poses: nothing checks the result; add poses")
    elif not np.isfinite(left_out):
        verdict = "usable"
        said.append("no pose can be excluded without losing an unknown, so none checks the result; add poses")
    else:
        limits = limits_of(poses, fitted)
        expected = left_out if limits is None else limits.expected / _MG
        if expected > _GOOD_MG:
            verdict = "usable" if expected <= _USABLE_MG else "poor"
            why = "" if limits is None else f"; {limits.remedy}"
            said.append(f"new attitudes are expected to be off by {expected:.2g} mg; good are {_GOOD_MG:g}{why}")
        elif fitted.misfit > 0.5 * _MG:
            verdict = "usable"
            why = "the poses scatter" if limits is None else limits.remedy
            said.append(f"{why} ({fitted.misfit / _MG:.2g} mg beyond the noise)")
        checked = {"left_out_rms_m_s2": left_out * _MG, "expected_m_s2": expected * _MG}
        checked |= {} if limits is None else {"limited_by": limits.limit}
    if part is None:
        said.append(_ESTIMATED)
    if fitted.model == "diagonal":
        # two cross terms act on an axis, each with gravity's part along the other: a third of g^2 on the average; half
        # of their squares is a rotation of the axes
        left = CROSS * np.sqrt(1.0 / 3.0) * poses.gravity / _MG
        said.append(
            f"cross-coupling as data sheets allow it (2 %) leaves about {left:.0f} mg per axis between the axes"
        )
        undetermined.append("matrix xy, xz, yz: cross-coupling assumed 0, it needs 9 or more poses between the axes")
    if fitted.model in ("diagonal", "full", "cubic"):
        undetermined.append(
            "rotation of the three axes together: gravity alone does not show it, the matrix is taken symmetric"
        )
    if fitted.model != "cubic":
        undetermined.append(f"cubic: assumed 0{_secant(part, poses.gravity)}")
    return Correction(
        "m/s2",
        _found(
            recording,
            poses,
            None if fitted.freedom < 1 else rms(fitted.after),
            verdict,
            said,
            undetermined,
            part is not None,
            {"model": fitted.model, **checked},
        ),
        matrix=fitted.matrix,
        bias=fitted.bias,
        cubic=fitted.cubic,
        sigma=_beyond_session(fitted.sigma, poses.session),
        range_c=_range_c(recording),
    )


def _beyond_session(sigma: Mapping[str, Array], drift: SessionDrift | None) -> dict[str, Array]:
    """Standard deviations with the drift in that of the bias, which is used after the session."""
    if drift is None:
        return dict(sigma)
    return {**sigma, "bias": np.sqrt(sigma["bias"] ** 2 + drift.bias_variance)}


def _secant(part: Triad | None, gravity: float) -> str:
    """A straight line through +-1 g of a nonlinear part: y - x = a (3 x - 4 x^3 / R^2), R the range."""
    if part is None or part.full_scale is None or not max(part.nonlinearity) > 0.0:
        return ", so the scale is that of the straight line over +-1 g"
    bend = 8.0 / np.sqrt(27.0) * max(part.nonlinearity) * gravity * (gravity / part.full_scale) ** 2
    return (
        f", so the scale is that of the straight line over +-1 g; the part's nonlinearity changes it by up to "
        f"{bend / _MG:.1f} mg between"
    )


def gyroscope_correction(
    recording: Recording, poses: PoseTable, fitted: Fitted, turns: TurnsFit, noise_given: bool
) -> Correction:
    """residual_rms is that of the rates at rest; the error at the end of the turns is stated next to it, in rad."""
    said, verdict, limit = list(turns.notes), "good", "noise" if turns.missing is None else "poses"
    found, sigma = turns.gyroscope, _beyond_session(turns.sigma, turns.drift)
    after = rms(turns.after[turns.used]) if turns.used.any() else float("inf")
    scale = bool(np.isfinite(np.diag(sigma["matrix"])).all())
    if turns.contradicts:
        verdict = "poor"
        said.append(f"only the offset was found: {turns.missing}")
    elif turns.missing is not None:
        verdict = "usable"
        said.append(f"only {'offset and scale were' if scale else 'the offset was'} found: {turns.missing}")
    if scale:
        worst = float(sigma["matrix"][np.isfinite(sigma["matrix"])].max())
        if worst > _GOOD_MATRIX or after > _GOOD_TURN:
            grade = "usable" if worst <= _USABLE_MATRIX and after <= _USABLE_TURN else "poor"
            verdict = max(verdict, grade, key=VERDICTS.index)
            limit = "movement" if turns.misfit > 0.0 else "poses"
            said.append(
                f"the matrix is known to {worst:.2g} and turns end {np.degrees(after):.2g} deg off; "
                f"good are {_GOOD_MATRIX:g} and {np.degrees(_GOOD_TURN):.2g} deg; {_TURN_REMEDIES[limit]}"
            )
    unsteady = float(np.max(np.abs(turns.drift.change))) if turns.drift is not None and turns.drift.named else 0.0
    if unsteady > _GOOD_DRIFT:  # the note on the drift has its size
        verdict, limit = max(verdict, "usable", key=VERDICTS.index), "drift"
    if not noise_given:
        said.append(_ESTIMATED)
    assert poses.rates is not None
    at_rest = poses.rates - found.bias - fitted.force @ found.g_sensitivity.T
    more = {"turn_error_rms_rad": after} if np.isfinite(after) else {}
    return Correction(
        "rad/s",
        _found(
            recording,
            poses,
            rms(at_rest),
            verdict,
            said,
            turns.undetermined,
            noise_given,
            {"turns": int(turns.used.sum()), "limited_by": limit, **more},
        ),
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
    residual: float | None,
    verdict: str,
    notes: list[str],
    undetermined: tuple[str, ...] | list[str],
    noise_given: bool,
    more: Mapping[str, Any],
) -> Found:
    data: dict[str, Any] = {
        "samples": len(recording),
        "duration_s": float(recording.t[-1] - recording.t[0]),
        "poses": len(poses),
        "distinct_poses": poses.distinct,
        "gravity_m_s2": poses.gravity,
        "noise": "given" if noise_given else "estimated from the log",
        **more,
    }
    if recording.temperature is not None:
        data["temperature_c"] = float(recording.temperature.mean())
    return Found("positions", data, None, residual, verdict, tuple(notes), tuple(undetermined))


def _range_c(recording: Recording) -> tuple[float, float] | None:
    if recording.temperature is None:
        return None
    return float(recording.temperature.min()), float(recording.temperature.max())
