"""Degree of a curve against temperature: chosen by predicting excluded intervals of time.

Excluding single samples would keep their neighbours, which have the same drift, and every degree would look good. So
whole intervals are omitted, and they are predicted with the drift that the rest shows.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.noise.block_covariance import Fitted, least_squares
from strapdown.types import Array

FOLDS = 8
_SHOWS = 3.5  # sigmas: a power that shows less on every axis is omitted, whatever it did in cross-validation


def chosen_degree(
    means: Array, design: Callable[[int, int], Array], covariances: Sequence[Array], highest: int, fixed: int
) -> tuple[int, Array, list[Fitted]]:
    """The degree, the scores, and the fits of that degree by axis.

    The lowest degree that predicts as well as the best, on the axis that needs the most. "As well" means worse by less
    than the standard error of the difference, fold by fold. Then powers are removed that the fit does not show. means
    (m, 3) are in the order of time. The first `fixed` columns of design(degree, axis) are offsets. There are
    covariances for each axis.

    scores (highest + 1, 3): mean square error of prediction in units of its expected sigma: 1 for a model that is
        complete.
    """
    by_fold = np.empty((highest + 1, 3, FOLDS))
    for axis in range(3):
        whole = design(highest, axis)
        kept = [_columns(whole.shape[1], fixed, highest, degree) for degree in range(highest + 1)]
        by_fold[:, axis] = _left_out(
            means[:, axis], whole, np.asarray(np.linalg.inv(covariances[axis]), dtype=np.float64), kept
        )
    needed = 0
    for axis in range(3):
        worse = by_fold[:, axis] - by_fold[int(np.argmin(by_fold[:, axis].mean(axis=1))), axis]
        error = worse.std(axis=1, ddof=1) / np.sqrt(FOLDS)
        needed = max(needed, int(np.argmax(worse.mean(axis=1) <= error)))
    for degree in range(needed, -1, -1):
        fits = [least_squares(means[:, a], design(degree, a), covariances[a]) for a in range(3)]
        if degree == 0 or any(_shows(fit, fixed, degree) for fit in fits):
            break
    return degree, by_fold.mean(axis=2), fits


def _shows(fit: Fitted, fixed: int, degree: int) -> bool:
    """Whether the highest power, of the bias or of the scale, is well above its sigma."""
    highest = slice(fixed + degree - 1, None, degree)
    return bool((np.abs(fit.values[highest]) > _SHOWS * fit.sigma[highest]).any())


def _columns(count: int, fixed: int, highest: int, degree: int) -> NDArray[np.int64]:
    """Columns of the design of the highest degree that a lower degree has: the offsets and the lower powers."""
    power = (np.arange(count) - fixed) % max(highest, 1)
    return np.flatnonzero((np.arange(count) < fixed) | (power < degree))


def _left_out(y: Array, design: Array, precision: Array, kept: Sequence[NDArray[np.int64]]) -> Array:
    """Mean square error of prediction (degrees, folds), whitened by its expected covariance.

    precision: inverse covariance.

    With P = [[P_oo, P_or], [P_ro, P_rr]] the rest r alone has the precision P_rr - P_ro P_oo^-1 P_or. Given the errors
    e_r of the rest, the expected errors of the excluded o are -P_oo^-1 P_or e_r, with the precision P_oo.
    """
    found = np.zeros((len(kept), FOLDS))
    both = np.column_stack([design / np.linalg.norm(design, axis=0), y])
    edges = np.arange(FOLDS + 1) * len(y) // FOLDS
    for k, (first, last) in enumerate(pairwise(edges)):
        rest = np.r_[0:first, last : len(y)]
        p_oo = precision[first:last, first:last]
        across = precision[first:last][:, rest] @ both[rest]
        drifted = np.linalg.solve(p_oo, across)
        normal = both[rest].T @ (precision[np.ix_(rest, rest)] @ both[rest]) - across.T @ drifted
        shown = np.abs(both[rest]).max(axis=0) > 0.0
        # a pose that only this fold holds has no offset to be predicted with: its rows are passed over
        known = ~(np.abs(both[first:last][:, ~shown]) > 0.0).any(axis=1)
        error = (both[first:last] + drifted) * known[:, None]
        square = error.T @ p_oo @ error
        for degree, columns in enumerate(kept):
            use = columns[shown[columns]]
            values = np.append(-np.linalg.solve(normal[np.ix_(use, use)], normal[use, -1]), 1.0)
            use = np.append(use, len(normal) - 1)
            found[degree, k] = values @ square[np.ix_(use, use)] @ values / max(1, int(known.sum()))
    return found
