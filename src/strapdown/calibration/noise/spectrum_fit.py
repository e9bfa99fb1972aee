"""Maximum likelihood of a sum of noise processes, in the cosine transform of a log.

The transform's coefficients are independent, each with the variance that the processes give it together. The
independence is exact for white noise and random walk, and nearly so for the others. Unlike points of an Allan curve
they need no covariance between neighbours, and every sample is used once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.fft import dct
from scipy.optimize import nnls

from strapdown.types import Array

_SINGLE = 64  # lowest coefficients, taken one by one; a ramp lives there
_BIN_RATIO = 1.05  # the others in bins this wide, in which no process changes by more than 10 %
_MODEL_ERROR = 0.02  # of the power: no real spectrum is flat to better, so no bin counts for more than 2 / 0.02^2


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Bins of the spectrum.

    power: mean squared coefficients.
    k: their mean number.
    freedom: how many.
    weight: how many count.
    """

    k: Array
    power: Array
    freedom: Array
    weight: Array
    coefficient: Array  # with its sign, of the single ones; 0 for bins
    ramp: Array  # what a drift of 1 per second adds to it
    samples: int
    step: float

    def below(self, k: float) -> "Spectrum":
        """Only the coefficients up to number k."""
        rows = self.k <= k
        arrays = ("k", "power", "freedom", "weight", "coefficient", "ramp")
        return replace(self, **{name: getattr(self, name)[rows] for name in arrays})

    def residual_power(self, ramp: float) -> Array:
        """Power without a drift of that slope."""
        return self.power - 2.0 * ramp * self.ramp * self.coefficient + (ramp * self.ramp) ** 2


def spectrum(readings: Array, step: float) -> Spectrum:
    """The cosine transform of one axis, without its mean."""
    n = len(readings)
    c = dct(readings - readings.mean(), norm="ortho")[1:]
    single = min(_SINGLE, n - 1)
    edges = [single]
    while edges[-1] < n - 1:
        edges.append(min(n - 1, max(edges[-1] + 1, int(edges[-1] * _BIN_RATIO))))
    starts = np.array(edges[:-1], dtype=np.int64)
    freedom = np.concatenate([np.ones(single), np.diff(edges)])
    bins = np.add.reduceat(c**2, starts) / np.diff(edges) if len(starts) else np.empty(0)
    k = np.concatenate([np.arange(1.0, single + 1), 0.5 * (starts + 1 + np.array(edges[1:]))])
    zeros = np.zeros(len(starts))
    # transform of the straight line t: its even coefficients are zero, the odd fall with 1/k^2
    low = np.arange(1, single + 1)
    half = 0.5 * np.pi * low / n
    line = -step * np.sqrt(2.0 / n) * (low % 2) * np.cos(half) / (2.0 * np.sin(half) ** 2)
    return Spectrum(
        k,
        np.concatenate([c[:single] ** 2, bins]),
        freedom,
        freedom / (1.0 + 0.5 * _MODEL_ERROR**2 * freedom),
        np.concatenate([c[:single], zeros]),
        np.concatenate([line, zeros]),
        n,
        step,
    )


@dataclass(frozen=True, eq=False)
class Likely:
    """The most likely constants.

    squares: squares of each process.
    deviance: -2 log likelihood.
    total: variances.
    """

    squares: dict[str, float]
    ramp: float
    ramp_sigma: float
    deviance: float
    total: Array


def most_likely(spec: Spectrum, shapes: Mapping[str, Array], ramp: bool, fixed: Array | None = None) -> Likely:
    """Squares >= 0 of the processes with these shapes, added to a fixed part; with a drift if `ramp`.

    Iterated least squares with the weights of the previous fit, until the likelihood no longer changes.
    """
    names = list(shapes)
    base = np.zeros_like(spec.k) if fixed is None else fixed
    a = np.column_stack([shapes[name] for name in names]) if names else np.empty((len(spec.k), 0))
    # a start at which every process matters somewhere
    squares = np.array([np.median(spec.power / shapes[name]) for name in names]) / max(1, len(names))
    slope, sigma = 0.0, 0.0
    best = np.inf
    tiny = 1e-30 * spec.power.max()

    def deviance(total: Array, slope: float) -> float:
        return float(np.sum(spec.weight * (np.log(total) + spec.residual_power(slope) / total)))

    for _ in range(200):
        total = np.maximum(base + a @ squares, tiny)
        if ramp:
            information = np.sum(spec.ramp**2 / total)
            slope, sigma = float(np.sum(spec.ramp * spec.coefficient / total) / information), information**-0.5
        before = deviance(total, slope)
        if names:
            w = np.sqrt(spec.weight) / total
            scaled = a * w[:, None]
            length = np.maximum(np.linalg.norm(scaled, axis=0), 1e-300)
            found = nnls(scaled / length, (spec.residual_power(slope) - base) * w)[0] / length
            stride = 1.0
            while stride > 1e-4:
                trial = squares + stride * (found - squares)
                after = deviance(np.maximum(base + a @ trial, tiny), slope)
                if after <= before:
                    squares = trial
                    break
                stride *= 0.5
        still = best - before
        best = min(best, before)
        if 0.0 <= still < 1e-5 * len(spec.k):  # far below the 1 that would matter
            break
    return Likely(dict(zip(names, squares.tolist(), strict=True)), slope, float(sigma), best, total)


def sigmas(spec: Spectrum, total: Array, gradients: Mapping[str, Array]) -> dict[str, float]:
    """Standard deviations of parameters, given how each changes the log of the variances.

    The weights are below the degrees of freedom (model error), the scatter is not: hence the sandwich estimator.
    """
    g = np.column_stack(list(gradients.values()))
    scale = np.maximum(np.linalg.norm(g, axis=0), 1e-300)
    g = g / scale
    bread = np.linalg.pinv(0.5 * g.T @ (g * spec.weight[:, None]))
    filling = 0.5 * g.T @ (g * (spec.weight**2 / spec.freedom)[:, None])
    found = np.sqrt(np.maximum(np.diag(bread @ filling @ bread), 0.0)) / scale
    return dict(zip(gradients, found.tolist(), strict=True))
