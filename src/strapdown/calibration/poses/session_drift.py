"""Drift of a bias during the session, found from its poses: a straight line in time, and a random walk.

A sensor that warms up while it is put down in its poses has another bias in the last pose than in the first. Without a
term for it the fit explains the drift by scale and axes, and two halves of the session disagree. A drift that is too
small to be seen may still be there. So its size is not a yes or no: each size counts by its likelihood.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.types import Array

LEAST_FREEDOM = 6  # residuals beyond the unknowns: three slopes, and as many that check them
NAMED = 0.05  # probability that there is no straight line, below which it is named and taken off
_SMALLEST, _LARGEST = 0.5, 30.0  # of a drift, in sigmas of a pose by known noise, and in rms of the residuals
_COUNT = 13  # sizes between them, in equal ratios; none at all is one more, as likely as each before the data are seen


@dataclass(frozen=True, eq=False)
class SessionDrift:
    """Drift of the three axes of an instrument; its mean over the poses is in the bias.

    middle_s (n,): times of the poses.
    change (3,): change along a straight line from the first pose to the last, in the unit of the reading.
    change_variance (3, 3): its covariance; line: variance of the change of any axis before it is known.
    walk: variance of a random walk after the whole session.
    line_probability: probability that there is a straight line.
    likeliest: variances of line, walk and other noise that are the likeliest together.
    """

    middle_s: Array
    change: Array
    change_variance: Array
    line: float
    walk: float
    line_probability: float
    likeliest: tuple[float, float, float]

    @property
    def named(self) -> bool:
        return 1.0 - self.line_probability < NAMED

    @property
    def bias_variance(self) -> Array:
        """Variance of each bias by its drift: two sessions of this length, one after the other, then differ by one
        sigma. Their means differ by the whole change, or by two thirds of the walk's variance.
        """
        return np.asarray(0.5 * (self.change**2 + np.diag(self.change_variance)) + self.walk / 3.0)

    def taken_off(self, t: Array) -> Array:
        """What is subtracted from readings at the times t, (n, 3)."""
        return np.outer(_line(t, self.middle_s), self.change if self.named else np.zeros(3))

    def before(self, t: Array) -> Array:
        """Covariance of readings by drift before any of it is known, (3, n, n): for weights and sigmas of a fit."""
        line = _line(t, self.middle_s)
        each = self.walk * _walks(t, self.middle_s) + self.line * np.outer(line, line)
        return np.asarray(np.broadcast_to(each, (3, *each.shape)))

    def after(self, t: Array) -> Array:
        """Covariance of readings by what is left of the drift when it is taken off, (3, n, n)."""
        line = _line(t, self.middle_s)
        left = np.diag(self.change_variance) + (0.0 if self.named else self.change**2)
        return np.asarray(self.walk * _walks(t, self.middle_s) + left[:, None, None] * np.outer(line, line))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of a fit without drift, one for each pose (n,), and how they come about.

    design (n, p): derivatives by the unknowns.
    axes (n, 3): derivatives by the reading of each axis.
    known (n, n): covariance by all noise that is known; other (n, n): shape of further noise, whose size is not known.
    """

    values: Array
    design: Array
    axes: Array
    known: Array
    other: Array


def session_drift(middle_s: Array, residuals: Sequence[Residuals]) -> SessionDrift | None:
    """Drift that independent sets of residuals of poses at these times show; None if there are too few of them."""
    sets = [_Free.of(each, middle_s) for each in residuals]
    count, lines = sum(len(each.values) for each in sets), np.vstack([each.lines for each in sets])
    if count < LEAST_FREEDOM or np.linalg.matrix_rank(lines, tol=1e-6) < 3:
        return None
    noise = np.mean([np.mean(np.diag(each.known)) for each in residuals])
    most = _LARGEST * max(1.0, float(np.sqrt(sum(float(each.values @ each.values) for each in sets) / count)))
    sizes = noise * np.concatenate([[0.0], np.geomspace(_SMALLEST, most, _COUNT)]) ** 2
    weights = _weights(sets, sizes)
    line, walk, other = (float(np.sum(weights * each)) for each in np.meshgrid(*3 * [sizes], indexing="ij"))
    best = np.unravel_index(int(np.argmax(weights)), weights.shape)
    likeliest = float(sizes[best[0]]), float(sizes[best[1]]), float(sizes[best[2]])
    information, told = np.eye(3) / max(line, 1e-300), np.zeros(3)
    for each in sets:
        covariance = np.eye(len(each.values)) + walk * each.walk + other * each.other
        solved = np.linalg.solve(covariance, np.column_stack([each.lines, each.values]))
        information += each.lines.T @ solved[:, :3]
        told += each.lines.T @ solved[:, 3]
    variance: Array = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return SessionDrift(middle_s, variance @ told, variance, line, walk, 1.0 - float(weights[0].sum()), likeliest)


@dataclass(frozen=True, eq=False)
class _Free:
    """A set of residuals in units of their known noise, less what the unknowns of the fit explain.

    lines (m, 3): by a straight line of each axis; walk, other (m, m): covariances by these, each of variance 1.
    """

    values: Array
    lines: Array
    walk: Array
    other: Array

    @classmethod
    def of(cls, given: Residuals, middle_s: Array) -> "_Free":
        root = np.linalg.cholesky(given.known)
        u, size, _ = np.linalg.svd(np.linalg.solve(root, given.design), full_matrices=True)
        free = u[:, int((size > 1e-10 * size[0]).sum()) :].T @ np.linalg.inv(root)
        walk = (given.axes @ given.axes.T) * _walks(middle_s, middle_s)
        lines = given.axes * _line(middle_s, middle_s)[:, None]
        return cls(free @ given.values, free @ lines, free @ walk @ free.T, free @ given.other @ free.T)


def _line(t: Array, middle_s: Array) -> Array:
    return np.asarray((t - middle_s.mean()) / np.ptp(middle_s))


def _walks(t: Array, middle_s: Array) -> Array:
    """Covariance at the times t of a random walk over the session, of variance 1 at its end, less its mean."""
    begin = min(float(t.min()), float(middle_s.min()))
    t, poses = t - begin, middle_s - begin
    mean = np.minimum.outer(t, poses).mean(axis=1)
    walk = np.minimum.outer(t, t) - mean - mean[:, None] + np.minimum.outer(poses, poses).mean()
    return np.asarray(walk / np.ptp(middle_s))


def _weights(sets: Sequence[_Free], sizes: Array) -> NDArray[np.float64]:
    """Probability of each combination of variances (line, walk, other), by the likelihood of the residuals."""
    count = len(sizes)
    logs = np.zeros((count, count, count))
    for k, walk in enumerate(sizes):
        squares, spread = np.zeros(count), np.zeros(count)
        told, information = np.zeros((count, 3)), np.zeros((count, 3, 3))
        for each in sets:
            m = len(each.values)
            roots = np.linalg.cholesky(np.eye(m) + walk * each.walk + sizes[:, None, None] * each.other)
            rows = np.broadcast_to(np.column_stack([each.lines, each.values]), (count, m, 4))
            white = np.linalg.solve(roots, rows)
            lines, values = white[..., :3], white[..., 3]
            squares += np.sum(values**2, axis=1)
            spread += 2.0 * np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
            told += np.einsum("oma,om->oa", lines, values)
            information += np.einsum("oma,omb->oab", lines, lines)
        for i, line in enumerate(sizes):  # three lines: by the 3x3 matrix of what is known of them
            inner = np.eye(3) + line * information
            less = line * np.einsum("oa,oa->o", told, np.linalg.solve(inner, told[..., None])[..., 0])
            logs[i, k] += -0.5 * (squares - less + spread + np.linalg.slogdet(inner)[1])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
