"""Overlapping Allan deviation, and its confidence band.

The band is that of a chi-square variable. The equivalent degrees of freedom of the band are those of the overlapping
estimator for the noise in the log. The degrees of freedom are computed from the covariances of the second differences
(as Greenhall and Riley 2003 do for pure power laws). So a mixture of noises needs no decision on "the" type.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strapdown.calibration.noise.model import Noise
from strapdown.errors import InputError
from strapdown.kernels.calibration import allan as kernel
from strapdown.types import Array

PER_DECADE = 10
_LEAST_PAIRS = 3  # the longest averaging time fits three times into the log
_LAGS_PER_TIME = 32  # covariances are smooth on the scale of the averaging time
_TIMES_OF_LAG = 8  # beyond 8 averaging times they are below 1e-3 for every noise


@dataclass(frozen=True, eq=False)
class Allan:
    """Allan deviation of several axes (m, axes), in the unit of the readings, at the times tau_s (m,)."""

    tau_s: Array
    deviation: Array
    step_s: float
    samples: int

    @property
    def factors(self) -> Array:
        """Samples per averaging time."""
        return np.round(self.tau_s / self.step_s)


@dataclass(frozen=True, eq=False)
class Band:
    """Band in which the true Allan deviation lies with the given probability.

    freedom: equivalent degrees of freedom. (m,) each.
    """

    low: Array
    high: Array
    freedom: Array
    probability: float


def averaging_factors(samples: int, per_decade: int = PER_DECADE) -> Array:
    """Whole numbers of samples, evenly spaced in the logarithm, from 1 to a third of the log."""
    most = samples // _LEAST_PAIRS
    if most < 1:
        raise InputError(f"{samples} samples are too few for an Allan deviation; give at least {_LEAST_PAIRS}")
    count = int(np.log10(most) * per_decade) + 2
    return np.unique(np.round(np.geomspace(1, most, count)).astype(np.int64))


def allan_deviation(readings: ArrayLike, step_s: float, per_decade: int = PER_DECADE) -> Allan:
    """Overlapping Allan deviation of readings (n, axes) or (n,), sampled every step_s seconds."""
    values = np.asarray(readings, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if not np.isfinite(values).all():
        raise InputError("the readings are not finite; drop or fill these samples first")
    if not step_s > 0.0:
        raise InputError(f"step_s is {step_s}; give the time between samples, above 0")
    factors = averaging_factors(len(values), per_decade)
    out = np.empty((len(factors), values.shape[1]))
    kernel.allan_variances(np.ascontiguousarray(values.T), factors, out)
    return Allan(factors * step_s, np.sqrt(out), step_s, len(values))


def equivalent_freedom(curve: Allan, noise: Noise) -> Array:
    """Equivalent degrees of freedom of each point of a curve, for one axis with this noise."""
    return np.array([_freedom(int(m), curve.samples, curve.step_s, noise) for m in curve.factors])


def _freedom(m: int, samples: int, step: float, noise: Noise) -> float:
    """2 (mean)^2 / variance of the mean of `count` squared, correlated second differences."""
    count = samples + 1 - 2 * m
    stride = max(1, m // _LAGS_PER_TIME)
    lags = np.arange(0.0, min(count, _TIMES_OF_LAG * m + 64), stride)
    cov = noise.difference_covariance(lags * step, m * step)
    pairs = (count - lags) * np.where(lags == 0, 1.0, 2.0) * np.where(lags == 0, 1.0, stride)
    pairs[0] += (stride - 1) * count  # trapezoid: half a stride on either side of zero
    squares, crossed, power = pairs @ cov**2, pairs @ cov, cov[0]
    if noise.quantisation > 0.0:  # correlated at lags 0, m, 2m only
        for lag, spike in zip((0, m, 2 * m), noise.quantisation_covariance(m * step), strict=True):
            if lag < count:
                at = float(np.interp(lag, lags, cov))
                weight = count if lag == 0 else 2.0 * (count - lag)
                squares += weight * (2.0 * at * spike + spike**2)
                crossed += weight * spike
        power += noise.quantisation_covariance(m * step)[0]
    drift2 = (noise.ramp * m * step) ** 2  # a ramp adds a constant to every difference
    variance = 2.0 * squares + 4.0 * drift2 * crossed
    return float(np.clip(2.0 * (count * (power + drift2)) ** 2 / variance, 1.0, 2.0 * count)) if variance > 0 else 1.0


def confidence_band(curve: Allan, axis: int, noise: Noise, probability: float = 0.95) -> Band:
    """Band in which the true Allan deviation of an axis lies, given the noise that was found."""
    from scipy.special import gammaincinv  # quantiles of chi2 without the second that scipy.stats takes to load

    freedom = equivalent_freedom(curve, noise)
    tail = (1.0 - probability) / 2.0
    deviation = curve.deviation[:, axis]
    low, high = (deviation * np.sqrt(freedom / (2.0 * gammaincinv(0.5 * freedom, part))) for part in (1.0 - tail, tail))
    return Band(low, high, freedom, probability)
