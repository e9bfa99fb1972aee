"""What limits a calibration of the accelerometer by poses: noise, drift, poses, nonlinearity or movement."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.poses.accelerometer_fit import CROSS, Fitted, PoseTable, residuals_of
from strapdown.calibration.poses.accelerometer_model import ELEMENTS, UNKNOWNS, forces
from strapdown.types import Array

REMEDIES = {
    "noise": "noise limits it: rest longer in each pose",
    "drift": "drift limits it: let the sensor warm up first",
    "poses": "the poses limit it: put it down in more of them",
    "nonlinearity": 'nonlinearity limits it: put it down in 20 or more poses, for model "cubic"',
    "movement": "movement limits it: the poses scatter more than noise and drift do; put it down on something firm",
}
_BETTER = 0.7  # residuals with the cubic terms against those without, as for the choice of the model
_DIRECTIONS = 200  # over the sphere
_MOST_FLICKER = 9.80665e-3  # m/s2: 1 mg, five times that of any part of the catalogue; more is no flicker noise


@dataclass(frozen=True, eq=False)
class Limits:
    """Error of |f| in a new attitude by its causes, m/s2.

    expected: rms error of |f| in a new attitude: that of excluded poses, as if they lay no further from the others
        than directions all over the sphere do.
    causes: size of each cause; weakest: the pose direction that the others say least about, as "x up".
    """

    expected: float
    causes: dict[str, float]
    weakest: str

    @property
    def limit(self) -> str:
        return max(self.causes, key=lambda cause: self.causes[cause])

    @property
    def remedy(self) -> str:
        return REMEDIES[self.limit] + (f", most of all with {self.weakest}" if self.limit == "poses" else "")


def limits_of(poses: PoseTable, fitted: Fitted) -> Limits | None:
    """Limits of a fit by gravity alone; None for one with known directions, or if no pose can be excluded."""
    if fitted.model not in ELEMENTS or not np.isfinite(fitted.left_out).any():
        return None
    design = residuals_of(poses, fitted).design
    far = _leverages(design, poses.groups)
    told = np.isfinite(fitted.left_out) & np.isfinite(far)
    if not told.any():
        return None
    each = _rms(fitted.left_out[told] / np.sqrt(1.0 + far[told]))  # error of a pose by itself
    spread = _over_the_sphere(fitted.model, design)
    weakest = int(np.argmax(np.where(np.isfinite(far), far, np.inf)))
    # two cross terms that a diagonal model omits act on an axis, each with gravity's part along the other: |f| takes
    # 2 c n_a n_b of each, whose mean square over the sphere is 4 / 15
    cross = CROSS * np.sqrt(3.0 * 4.0 / 15.0) * poses.gravity if fitted.model == "diagonal" else 0.0
    bent = fitted.model != "cubic" and _bends(fitted, design)
    drift = _drift_to_come(poses, bent)
    return Limits(
        expected=float(np.sqrt(each**2 * (1.0 + spread) + drift + cross**2)),
        causes={
            "noise": float(np.sqrt(np.mean(poses.white))),
            "drift": float(np.sqrt(drift + _flicker(poses, fitted))),
            "poses": float(np.hypot(each * np.sqrt(spread) if spread > 1.0 else 0.0, cross)),
            "nonlinearity": each if bent else 0.0,
            "movement": 0.0 if bent else float(np.sqrt(fitted.misfit**2 + _scatter(poses, fitted))),
        },
        weakest=_up(poses.directions[weakest]),
    )


def _drift_to_come(poses: PoseTable, bent: bool) -> float:
    """Mean variance of a bias by the drift that is likeliest, if it goes on as long as the session.

    bent: nonlinearity explains the residuals, so that only a drift that is plain counts.
    """
    if poses.session is None or (bent and not poses.session.named):
        return 0.0
    line, walk, _ = poses.session.likeliest
    return float(np.mean(0.5 * poses.session.change**2 * (line > 0.0))) + (0.0 if bent else walk / 3.0)


def _flicker(poses: PoseTable, fitted: Fitted) -> float:
    """Mean variance of the poses by flicker noise and walk of the part, less what is common to all of them."""
    known = np.zeros((len(poses), len(poses))) if poses.drift is None else poses.drift.mean(axis=0)
    if poses.drift is None and fitted.flicker <= _MOST_FLICKER:
        known = fitted.flicker**2 * poses.unit_drift
    return float(np.mean(np.diag(known)) - np.mean(known))


def _scatter(poses: PoseTable, fitted: Fitted) -> float:
    """Variance of the poses that neither noise nor drift explain."""
    if poses.drift is None:
        return fitted.flicker**2 if fitted.flicker > _MOST_FLICKER else 0.0
    return 0.0 if poses.session is None else poses.session.likeliest[2]


def _leverages(design: Array, groups: NDArray[np.int64]) -> Array:
    """Variance of the prediction of each pose by those in other directions, for a variance 1 of a pose; inf: none."""
    out = np.full(len(design), np.inf)
    for group in range(int(groups.max()) + 1):
        gone = groups == group
        rest = design[~gone]
        if len(rest) and np.linalg.matrix_rank(rest, tol=1e-9) == design.shape[1]:
            inner = np.linalg.inv(rest.T @ rest)
            out[gone] = np.einsum("np,pq,nq->n", design[gone], inner, design[gone])
    return out


def _over_the_sphere(model: str, design: Array) -> float:
    """Mean variance of the prediction over all directions, for a variance 1 of each pose."""
    k = np.arange(_DIRECTIONS) + 0.5
    z, turn = 1.0 - 2.0 * k / _DIRECTIONS, np.pi * (3.0 - np.sqrt(5.0)) * k  # a spiral covers the sphere evenly
    up = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z])
    _, by_x, _ = forces(model, np.zeros(UNKNOWNS[model]), up, 1.0)
    rows = np.einsum("na,nap->np", up, by_x)
    inner = np.linalg.pinv(design.T @ design, rcond=1e-12)
    return float(np.mean(np.einsum("np,pq,nq->n", rows, inner, rows)))


def _bends(fitted: Fitted, design: Array) -> bool:
    """Whether cubic terms explain what is left, as far as the poses can tell."""
    n = fitted.force / np.linalg.norm(fitted.force, axis=1, keepdims=True)
    more = np.column_stack([design, n**4])
    freedom = len(n) - np.linalg.matrix_rank(more)
    if freedom < 1:
        return False
    found, *_ = np.linalg.lstsq(more, fitted.after, rcond=1e-10)
    left = np.sum((fitted.after - more @ found) ** 2) / freedom
    return bool(left < _BETTER**2 * np.sum(fitted.after**2) / max(fitted.freedom, 1))


def _up(direction: Array) -> str:
    axis = int(np.argmax(np.abs(direction)))
    return f"{'xyz'[axis]} {'up' if direction[axis] > 0.0 else 'down'}"


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
