"""A linear drift of the bias during the session, where the poses show one.

A sensor that warms up while it is put down in its poses has another bias in the last pose than in the first. Without a
term for it the fit explains the drift by scale and axes, and two halves of the session disagree.
"""

from dataclasses import replace

import numpy as np

from strapdown.calibration.poses.accelerometer_fit import Fitted, PoseTable, fit_model
from strapdown.calibration.poses.accelerometer_model import UNKNOWNS
from strapdown.calibration.poses.report import rms
from strapdown.types import Array

BETTER = 0.7  # left-out residuals with the drift against those without, as for cubic terms
SPARE = 3  # poses beyond the unknowns
MODELS = ("full", "cubic")  # what simpler ones leave is no drift
_MG = 9.80665e-3  # m/s2
_ROUNDS = 3


def without_drift(poses: PoseTable, fitted: Fitted) -> tuple[PoseTable, Fitted, tuple[str, ...]]:
    """Poses, their fit and a note. Where a drift makes excluded poses fit clearly better, it is subtracted from the
    readings. The bias is that of the session's middle, and half of the change, up to its end, is in its sigma.
    """
    if fitted.model not in MODELS or poses.distinct < UNKNOWNS[fitted.model] + 3 + SPARE:
        return poses, fitted, ()
    t = 0.5 * (poses.from_s + poses.until_s)
    away, slope, best, drifted = t - t.mean(), np.zeros(3), fitted, poses
    model, drift = _columns(fitted, away)
    if not _left_out(poses, fitted, np.hstack([drift, model])) < BETTER * _left_out(poses, fitted, model):
        return poses, fitted, ()
    for _ in range(_ROUNDS):
        model, drift = _columns(best, away)
        found, *_ = np.linalg.lstsq(np.hstack([drift, model]), best.after, rcond=1e-10)
        slope = slope + found[:3]
        drifted = replace(poses, readings=poses.readings - np.outer(away, slope))
        best = fit_model(drifted, fitted.model)
    changed = np.abs(slope) * float(np.ptp(t))
    sigma = {**best.sigma, "bias": np.hypot(best.sigma["bias"], 0.5 * changed)}
    note = (
        f"the bias drifted by {', '.join(f'{value / _MG:.2g}' for value in changed)} mg (x, y, z) during the session: "
        "a straight line in time is taken off, and the bias is that of the middle; let the sensor warm up first"
    )
    return drifted, replace(best, before=fitted.before, sigma=sigma), (note,)


def _columns(fitted: Fitted, away: Array) -> tuple[Array, Array]:
    """Change of |f| to first order by bias, scale, axes and cubic terms of the model (n, p), and by a drift (n, 3)."""
    n = fitted.force / np.linalg.norm(fitted.force, axis=1, keepdims=True)
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    model = [n, *(n[:, [a]] * n[:, [b]] for a, b in pairs), *([n**4] if fitted.model == "cubic" else [])]
    return np.hstack(model), n * away[:, None]


def _left_out(poses: PoseTable, fitted: Fitted, columns: Array) -> float:
    """Rms of |f| - g of poses by a fit without them and without all others in their direction."""
    out = np.full(len(poses), np.nan)
    for group in range(poses.distinct):
        gone = poses.groups == group
        found, _, rank, _ = np.linalg.lstsq(columns[~gone], fitted.after[~gone], rcond=1e-10)
        if rank == columns.shape[1]:
            out[gone] = fitted.after[gone] - columns[gone] @ found
    return rms(out)
