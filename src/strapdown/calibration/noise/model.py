"""Noise as a sum of the usual processes: its Allan variance, its spectrum, its covariances.

Convention of the whole product: white noise N has a two-sided density N^2. The integral of white noise after t seconds
has the sigma N sqrt(t), and its Allan deviation is N / sqrt(tau). Data sheets print the one-sided density N sqrt(2).
"""

from dataclasses import dataclass

import numpy as np

from strapdown.types import Array

FLOOR = float(np.sqrt(2.0 * np.log(2.0) / np.pi))  # 0.664: Allan deviation of flicker noise with B = 1
MARKOV_PEAK = 0.6174  # highest Allan deviation of a Gauss-Markov process of sigma 1, at 1.893 correlation times
MARKOV_PEAK_AT = 1.893


@dataclass(frozen=True)
class Noise:
    """Noise of one axis, in the unit u of its readings.

    white: N, u/sqrt(Hz).
    instability: B, u.
    walk: K, u/sqrt(s).
    quantisation: Q, u s.
    ramp: R, u/s, a steady drift.
    markov: sigma, u, of a Gauss-Markov process with the correlation time markov_s.
    """

    white: float = 0.0
    instability: float = 0.0
    walk: float = 0.0
    quantisation: float = 0.0
    ramp: float = 0.0
    markov: float = 0.0
    markov_s: float = 1.0

    def variances(self, tau: Array) -> dict[str, Array]:
        """Allan variance of each process, by name (IEEE 952-1997, annex C)."""
        x = tau / self.markov_s
        # the closed form cancels to x/3 for short times: its series is better there
        closed = 2.0 / x * (1.0 - (3.0 - 4.0 * np.exp(-x) + np.exp(-2.0 * x)) / (2.0 * x))
        return {
            "quantisation": 3.0 * self.quantisation**2 / tau**2,
            "white": self.white**2 / tau,
            "instability": np.full_like(tau, (FLOOR * self.instability) ** 2),
            "markov": self.markov**2 * np.where(x < 1e-3, 2.0 * x / 3.0, closed),
            "walk": self.walk**2 * tau / 3.0,
            "ramp": self.ramp**2 * tau**2 / 2.0,
        }

    def deviation(self, tau: Array) -> Array:
        """Allan deviation of the whole."""
        return np.sqrt(sum(self.variances(tau).values()))

    def difference_covariance(self, lag: Array, tau: float) -> Array:
        """Covariance of (x[2 tau] - 2 x[tau] + x[0]) / tau with the same a lag later; x is the integral of the reading.

        Without quantisation and ramp. Each process has a generalised covariance G of x, whose differences are used.
        """
        total = np.zeros_like(lag, dtype=np.float64)
        for shift, weight in ((-2, 1.0), (-1, -4.0), (0, 6.0), (1, -4.0), (2, 1.0)):
            total += weight * self._integral_covariance(np.abs(lag / tau + shift), tau)
        return total

    def _integral_covariance(self, h: Array, tau: float) -> Array:
        """G(h tau) / tau^2; constants and squares of h are omitted, as they vanish in the differences."""
        g = -0.5 * self.white**2 / tau * h + self.walk**2 * tau / 12.0 * h**3
        if self.instability > 0.0:
            g = g + self.instability**2 / (2.0 * np.pi) * h**2 * np.log(np.where(h > 0.0, h, 1.0))
        if self.markov > 0.0:
            x = self.markov_s / tau
            g = g - self.markov**2 * (x**2 * np.exp(-h / x) + x * h)
        return g

    def quantisation_covariance(self, tau: float) -> tuple[float, float, float]:
        """Covariance of the differences for quantisation, which is correlated at lags 0, tau and 2 tau only."""
        q2 = (self.quantisation / tau) ** 2
        return 6.0 * q2, -4.0 * q2, q2


def spectrum_shapes(k: Array, samples: int, step: float) -> dict[str, Array]:
    """Variance of the cosine-transform coefficients k of a log, for each process with its constant 1.

    Orthonormal DCT-II. White noise and random walk are exactly uncorrelated in it (the cosines are the eigenvectors of
    the random walk), flicker noise nearly so. The first coefficients of flicker noise are a little smaller than the
    density at their frequency.
    """
    frequency = k / (2.0 * samples * step)
    sine2 = 4.0 * np.sin(0.5 * np.pi * k / samples) ** 2
    low_end = np.where(k < 2, 0.7737, 1.0 - 2.0 / (np.pi**2 * k))  # computed: integral of |cosine's transform|^2 / f
    return {
        "white": np.full_like(frequency, 1.0 / step),
        "instability": low_end / (2.0 * np.pi * frequency * step),
        "walk": step * (1.0 / sine2 - 1.0 / 6.0),  # of its means over samples: K sqrt(tau / 3) from one sample on
        "quantisation": sine2 / step**2,
    }


def markov_shape(k: Array, samples: int, step: float, correlation_s: float) -> Array:
    """Spectrum of a sampled Gauss-Markov process of sigma 1."""
    keep = np.exp(-step / correlation_s)
    sine2 = 4.0 * np.sin(0.5 * np.pi * k / samples) ** 2
    return (1.0 - keep**2) / ((1.0 - keep) ** 2 + keep * sine2)
