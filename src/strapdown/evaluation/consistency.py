"""Consistency of a filter: does its sigma agree with its errors? Squared errors in units of the filter's own covariance
are compared with chi-square bounds.

NEES is the normalised square of the state's error, NIS that of the innovation. In a consistent filter both have the
mean k (the number of components). Above the bounds the stated sigma is too small, below them too large. Innovations of
a correct filter are independent, so the NIS of one run may be averaged over its samples. State errors are correlated in
time. So the NEES is averaged over independent runs at the same time, and only that average has chi-square bounds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.types import Array

THREE_SIGMA_SHARE = 0.9973002039367398  # of a normal distribution inside three standard deviations


def normalised_squares(error: ArrayLike, covariance: ArrayLike) -> Array:
    """Normalised square error' P^-1 error for every sample: errors (..., k), covariances (..., k, k). For a state error
    it is the NEES, for an innovation the NIS.
    """
    e, p = np.asarray(error, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if e.ndim < 1 or p.shape != (*e.shape, e.shape[-1]):
        raise InputError(f"errors have shape {e.shape} and covariances {p.shape}; expected (..., k) and (..., k, k)")
    try:
        root = np.linalg.cholesky(p)
    except np.linalg.LinAlgError:
        raise InputError(
            f"the covariance at sample {_first_singular(p)} is not positive definite; leave out components that the "
            "filter takes for exactly known"
        ) from None
    white = np.linalg.solve(root, e[..., None])[..., 0]
    return np.sum(white**2, axis=-1)


def _first_singular(p: Array) -> int:
    flat = p.reshape(-1, *p.shape[-2:])
    with np.errstate(invalid="ignore"):
        return int(np.argmax(~(np.linalg.eigvalsh(flat)[:, 0] > 0.0)))


def normalised_squares_from_sigma(error: ArrayLike, sigma: ArrayLike) -> Array:
    """Normalised squares from standard deviations alone, (..., k) each, as a Solution carries them.

    The mean of these squares is k too, whatever the correlations. With correlations they scatter more than chi-square,
    so the bounds are then too narrow. A component with error 0 and sigma 0 (the start) counts 0.
    """
    e, s = np.asarray(error, dtype=np.float64), np.asarray(sigma, dtype=np.float64)
    if e.shape != s.shape or e.ndim < 1:
        raise InputError(f"errors have shape {e.shape} and sigmas {s.shape}; they must be the same, (..., k)")
    ratio = np.full(e.shape, np.inf)
    np.divide(e, s, out=ratio, where=s > 0.0)
    ratio[(e == 0.0) & (s == 0.0)] = 0.0
    return np.sum(ratio**2, axis=-1)


def chi_square_bounds(degrees: int, averaged: int = 1, probability: float = 0.95) -> tuple[float, float]:
    """Bounds between which the average of so many independent chi-square numbers lies, with that probability
    (two-sided).
    """
    if degrees < 1 or averaged < 1 or not 0.0 < probability < 1.0:
        raise InputError(
            f"chi-square bounds of {degrees} degrees, {averaged} averaged, probability {probability:g} do not exist; "
            "give whole numbers from 1 and a probability between 0 and 1"
        )
    from scipy.special import gammaincinv  # quantiles without the second that scipy.stats takes to load

    half = 0.5 * degrees * averaged
    tail = 0.5 * (1.0 - probability)
    return float(2.0 * gammaincinv(half, tail) / averaged), float(2.0 * gammaincinv(half, 1.0 - tail) / averaged)


@dataclass(frozen=True)
class Consistency:
    """An average of normalised squares next to its bounds.

    averaged: number of independent numbers in it.

    share_inside: share of the single numbers (NIS) or of the averages at each time (NEES) that is inside its own
    bounds. In a consistent filter it is the probability.
    """

    mean: float
    degrees: int
    averaged: int
    low: float
    high: float
    probability: float
    share_inside: float

    @property
    def holds(self) -> bool:
        return self.low <= self.mean <= self.high

    @property
    def verdict(self) -> str:
        if self.holds:
            return "consistent"
        return "over-confident" if self.mean > self.high else "too timid"


def nis_consistency(nis: ArrayLike, degrees: int, probability: float = 0.95) -> Consistency:
    """Consistency of one run: nis (n,), one number for each innovation of this many components."""
    values = _filled(nis, 1, "NIS of one run")
    low, high = chi_square_bounds(degrees, len(values), probability)
    share = _share(values, chi_square_bounds(degrees, 1, probability))
    return Consistency(float(values.mean()), degrees, len(values), low, high, probability, share)


def nees_consistency(nees: ArrayLike, degrees: int, probability: float = 0.95) -> Consistency:
    """Consistency of many runs: nees (runs, times). The mean is over all numbers; its bounds are those of one time,
    averaged over the runs.

    Errors at neighbouring times of a run are nearly the same, so more times do not narrow the bounds.
    """
    values = _filled(nees, 2, "NEES of many runs")
    low, high = chi_square_bounds(degrees, len(values), probability)
    averages = values.mean(axis=0)
    return Consistency(
        float(averages.mean()), degrees, len(values), low, high, probability, _share(averages, (low, high))
    )


def share_inside(error: ArrayLike, sigma: ArrayLike, times_sigma: float = 3.0) -> float:
    """Share of the errors within this many of their own standard deviations; 0.9973 is right for 3."""
    e, s = np.asarray(error, dtype=np.float64), np.asarray(sigma, dtype=np.float64)
    if e.shape != s.shape or e.size == 0:
        raise InputError(f"errors have shape {e.shape} and sigmas {s.shape}; they must be the same and not empty")
    return float(np.mean(np.abs(e) <= times_sigma * s))


def _filled(x: ArrayLike, dimensions: int, what: str) -> Array:
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != dimensions or values.size == 0:
        raise InputError(f"{what} has shape {values.shape}; expected {'(n,)' if dimensions == 1 else '(runs, times)'}")
    if np.isnan(values).any():
        raise InputError(f"{what} has NaN among its numbers; leave out samples without an update")
    return values


def _share(values: NDArray[np.float64], bounds: tuple[float, float]) -> float:
    return float(np.mean((values >= bounds[0]) & (values <= bounds[1])))
