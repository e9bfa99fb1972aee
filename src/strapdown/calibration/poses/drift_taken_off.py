"""The drift of a session in the fits of accelerometer and gyroscope: taken off where it is plain, in sigmas always."""

from dataclasses import replace

import numpy as np

from strapdown.calibration.poses.accelerometer_fit import Fitted, PoseTable, fit_model, residuals_of
from strapdown.calibration.poses.accelerometer_model import ELEMENTS
from strapdown.calibration.poses.gyroscope_fit import TurnsFit, fit_turns
from strapdown.calibration.poses.pose_noise import drift_covariances
from strapdown.calibration.poses.session_drift import Residuals, SessionDrift, session_drift
from strapdown.errors import InputError
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

_SHOWN = {"mg": 1e3 / 9.80665, "deg/s": 180.0 / np.pi}  # per unit of the readings


def with_drift(poses: PoseTable, fitted: Fitted) -> tuple[PoseTable, Fitted]:
    """Poses and fit with a drift of the bias. A fit with known directions, or without spare poses, stays as it is."""
    drifted, again, drift = poses, fitted, None
    # twice: the drift depends on the fit a little
    for last in (False, True) if fitted.model in ELEMENTS else ():
        left = residuals_of(drifted, again)
        back = np.sum(left.axes * (poses.readings - drifted.readings), axis=1)
        drift = session_drift(poses.middle_s, [replace(left, values=left.values + back)])
        if drift is None:
            return poses, fitted
        drifted = replace(poses, readings=poses.readings - drift.taken_off(poses.middle_s))
        again = fit_model(replace(drifted, session=drift), fitted.model, with_left_out=last)
    if drift is None:
        return poses, fitted
    return replace(drifted, session=drift), replace(again, before=fitted.before)


def rate_drift(poses: PoseTable, fitted: Fitted, noise: Triad | None) -> SessionDrift | None:
    """Drift of the gyroscope's bias, from its rates in the poses."""
    assert poses.rates is not None and poses.rates_white is not None
    n = len(poses)
    design = np.column_stack([np.ones(n), fitted.force]) if poses.distinct >= 6 else np.ones((n, 1))
    drift = np.zeros((3, n, n)) if noise is None else drift_covariances(noise, poses.from_s, poses.until_s)
    other = np.eye(n) if noise is not None else poses.unit_drift
    sets = []
    for a in range(3):
        values = poses.rates[:, a] - poses.rates[:, a].mean()
        known = np.diag(poses.rates_white[:, a] + 1e-18) + drift[a]
        axes = np.tile(np.eye(3)[a], (n, 1))
        sets.append(Residuals(values, design, axes, known, other / np.mean(np.diag(other))))
    return session_drift(poses.middle_s, sets)


def turns_with_drift(
    recording: Recording, poses: PoseTable, fitted: Fitted, noise: Triad | None
) -> tuple[TurnsFit, PoseTable]:
    """The gyroscope from the turns, and the poses, with the drift of its bias taken off both."""
    if recording.gyr_s is None or poses.rates is None:
        raise InputError("the log has no gyroscope; record it along with the accelerometer")
    drift = rate_drift(poses, fitted, noise)
    if drift is None:
        return fit_turns(recording, poses, fitted, noise), poses
    steady: Array = recording.gyr_s - drift.taken_off(recording.t)
    steady.flags.writeable = False
    poses = replace(poses, rates=poses.rates - drift.taken_off(poses.middle_s))
    turns = fit_turns(replace(recording, gyr_s=steady), poses, fitted, noise, drift)
    return replace(turns, drift=drift, notes=(*note_of(drift, "deg/s"), *turns.notes)), poses


def note_of(drift: SessionDrift | None, unit: str) -> tuple[str, ...]:
    """A note on a drift that is plain, in the given unit."""
    if drift is None or not drift.named:
        return ()
    change = ", ".join(f"{value * _SHOWN[unit]:.2g}" for value in drift.change)
    return (
        f"the bias drifted by {change} {unit} (x, y, z) during the session: a straight line in time is taken off, and "
        "the bias is that of the middle; let the sensor warm up first",
    )
