"""Turns that contradict the poses: swapped axes, a flipped sign, a wrong unit or a wrong rate of the gyroscope."""

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.poses.gyroscope_model import (
    BIAS,
    DIAGONAL,
    MATRIX,
    UNKNOWNS,
    Gyroscope,
    TurnData,
    carried_past,
    estimate,
)
from strapdown.types import Array

NOT_TOLD = 0.05  # sigma of an element of the matrix: parts are better than that without any calibration
_ASTRAY = np.radians(5.0)  # rms with the scale found: cross-coupling carries gravity a few degrees past where it is
_NO_PART = 0.25  # off 1: no gyroscope is, a wrong unit or rate is
_SURE = 3.0  # sigmas


def contradicts(data: TurnData, found: Gyroscope, sigma: Array, start: Gyroscope) -> bool:
    """Whether the turns would determine the scale by their axes, but do not carry gravity from pose to pose."""
    if len(data.first) < 3:
        return False
    # a scale that the turns hardly tell may come out anywhere
    off = float((np.abs(found.matrix - np.eye(3)) - _SURE * sigma[MATRIX].reshape(3, 3)).max())
    astray = _astray(data, found) >= _ASTRAY or off >= _NO_PART
    return astray and would_tell(data, start, np.arange(UNKNOWNS, dtype=np.int64)[MATRIX][list(DIAGONAL)])


def would_tell(data: TurnData, start: Gyroscope, rows: NDArray[np.int64]) -> bool:
    """Whether geometry alone would determine the matrix, as if there were only noise."""
    free = np.zeros(UNKNOWNS, dtype=bool)
    free[BIAS], free[rows] = True, True
    _, covariance, _ = estimate(data, free, start, 0.0)
    return bool(np.sqrt(np.diag(covariance))[MATRIX].max() <= NOT_TOLD)


def contradiction(data: TurnData, start: Gyroscope) -> str:
    return (
        f"the turns contradict the poses by {np.degrees(_astray(data, start)):.0f} deg rms; check axes, signs, unit "
        "and rate of the gyroscope"
    )


def _astray(data: TurnData, at: Gyroscope) -> float:
    """Rms angle (rad) between gravity as rotated by the turns and as measured."""
    return float(np.sqrt(np.mean(carried_past(data, at) ** 2)))
