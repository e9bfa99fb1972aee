"""Covariances of means of a log: white noise, bias instability and random walk as covariances of blocks.

Averaging removes white noise, but not drift: neighbouring means have nearly the same error. So a fit to means needs
their whole covariance, both for its weights and for a correct sigma of its result.
"""

import math
from dataclasses import dataclass

import numpy as np

from strapdown.calibration.temperature.rest_blocks import Blocks
from strapdown.errors import InputError
from strapdown.sensors.chain.numbers import SAMPLES_IN_BAND
from strapdown.sensors.triad import Triad, instability_processes
from strapdown.types import Array

BAND_S = (1.0, 1000.0)  # of an instability whose band is not known; it ends with the log if that is longer
_RATIOS = np.geomspace(0.03, 1e4, 45)  # of variances in a block: drift against white noise; every part drifts a little
_LEAST_BLOCKS = 8  # above the number of parameters: below it nothing is known of the noise


@dataclass(frozen=True, eq=False)
class Fitted:
    """Least squares with correlated noise.

    values (p,), covariance (p, p), left (m,): data less fit.
    """

    values: Array
    covariance: Array
    left: Array

    @property
    def sigma(self) -> Array:
        return np.sqrt(np.diag(self.covariance))


def least_squares(y: Array, design: Array, covariance: Array) -> Fitted:
    """Best linear unbiased estimate of y = design @ values + noise with this covariance."""
    root = np.linalg.cholesky(covariance)
    x = np.linalg.solve(root, np.column_stack([design, y]))
    x, white_y = x[:, :-1], x[:, -1]
    size = np.sqrt(np.einsum("ij,ij->j", x, x))
    q, r = np.linalg.qr(x / size)
    inverse = np.linalg.inv(r) / size[:, None]
    values = inverse @ (q.T @ white_y)
    return Fitted(values, inverse @ inverse.T, y - design @ values)


def known_covariance(blocks: Blocks, triad: Triad, axis: int) -> Array:
    """Covariance of the means of one axis of a sensor with known noise constants."""
    total = np.diag(triad.white[axis] ** 2 / blocks.width_s)
    if triad.resolution > 0.0:  # rounding errors of single samples, as if independent
        total += np.diag(triad.resolution**2 / 12.0 * blocks.step_s / blocks.width_s)
    if triad.quantisation[axis] > 0.0:
        total += np.diag(2.0 * (triad.quantisation[axis] / blocks.width_s) ** 2)
    if triad.instability[axis] > 0.0:
        total += triad.instability[axis] ** 2 * instability_covariance(blocks, triad.instability_band_s)
    if triad.walk[axis] > 0.0:
        total += triad.walk[axis] ** 2 * walk_covariance(blocks)
    if not np.diag(total).all():
        raise InputError("the noise constants given are zero; give those of the part, or none to estimate them")
    return total


def instability_covariance(blocks: Blocks, band_s: tuple[float, float] = BAND_S) -> Array:
    """Covariance for B = 1: the sum of Gauss-Markov processes of virtual sensors (triad.instability_processes), block
    means.
    """
    low, high = max(band_s[0], SAMPLES_IN_BAND * blocks.step_s), band_s[1]
    w = blocks.width_s
    apart = np.maximum(np.abs(blocks.t[:, None] - blocks.t) - 0.5 * (w[:, None] + w), 0.0)  # end to next start
    total = np.zeros_like(apart)
    for tau, deviation in zip(*instability_processes(low, max(high, 2.0 * low)), strict=True):
        x = w / tau
        share = -np.expm1(-x) / x  # of a process known at the block's edge that its mean still has
        part = share[:, None] * share * np.exp(-apart / tau)
        np.fill_diagonal(part, 2.0 / x * (1.0 - share))
        total += deviation**2 * part
    return total


def walk_covariance(blocks: Blocks) -> Array:
    """Covariance for K = 1: a random walk from zero at the start of the recording."""
    t, w = blocks.t, blocks.width_s
    total = np.minimum(t[:, None], t)
    np.fill_diagonal(total, np.maximum(t - w / 6.0, w / 3.0))
    return total


def estimated_covariances(blocks: Blocks, y: Array, design: Array) -> list[Array]:
    """Covariances of the means y (m, axes), axis by axis, estimated from their residuals as white noise and a drift.

    The drift is an instability or a random walk, whichever is likelier. The likelihood is that of the residuals
    (restricted likelihood), so drift that the fit absorbs is not counted as small noise. A log too short to show drift
    does not prove that there is none. So the covariance is the mean over all ratios of drift to white noise, weighted
    by likelihood.
    """
    m, p = design.shape
    if m < p + _LEAST_BLOCKS:
        raise InputError(
            f"{blocks.samples} still samples are too few for the noise and {p} parameters; rest longer, or "
            "give the noise constants of the part"
        )
    per_width = 1.0 / blocks.width_s
    band = (BAND_S[0], max(BAND_S[1], float(blocks.t[-1])))
    drifts = [_normed(instability_covariance(blocks, band), per_width), _normed(walk_covariance(blocks), per_width)]
    root = np.sqrt(per_width)
    free = np.linalg.qr(design / root[:, None], mode="complete")[0][:, p:]
    own_axes = [np.linalg.eigh(free.T @ (drift / np.outer(root, root)) @ free) for drift in drifts]
    rest = free.T @ (y / root[:, None])
    looked = [[_likelihoods((axes.T @ column) ** 2, power) for power, axes in own_axes] for column in rest.T]
    # one ratio for all axes, which are made alike: three times the data for what is hardest to tell
    weights = np.sum([[likelihood for likelihood, _ in axis] for axis in looked], axis=0)
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    found = []
    for axis in looked:
        scales = np.array([scale for _, scale in axis]) * weights
        white = np.diag(per_width * scales.sum())
        found.append(white + sum(float(size) * drift for size, drift in zip(scales @ _RATIOS, drifts, strict=True)))
    return found


def _normed(drift: Array, per_width: Array) -> Array:
    """A covariance scaled to the mean variance that white noise of N = 1 has in the blocks."""
    middle = drift - drift.mean(axis=0) - drift.mean(axis=1)[:, None] + drift.mean()  # the mean level shows in no log
    return drift * (per_width.mean() / max(float(np.mean(np.diag(middle))), 1e-300))


def _likelihoods(squares: Array, power: Array) -> tuple[Array, Array]:
    """(restricted log likelihood, square of the white noise N) for each ratio of drift to white noise.

    squares: squares of the residuals in the drift's own axes.
    power: variance of the drift in these axes.
    """
    variance = 1.0 + _RATIOS[:, None] * np.maximum(power, 0.0)
    scale = np.maximum(np.mean(squares / variance, axis=1), 1e-300)
    return -0.5 * (len(squares) * np.log(scale) + np.log(variance).sum(axis=1)), scale


def mean_sigma(covariance: Array, weights: Array) -> float:
    """Sigma of the weighted mean of blocks."""
    share = weights / weights.sum()
    return math.sqrt(float(share @ covariance @ share))
