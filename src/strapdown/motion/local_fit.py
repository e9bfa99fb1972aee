"""First and second derivatives of recorded samples, each from a few neighbours.

The fit is local on purpose: a switch (a force that begins, a contact) disturbs only its neighbours. The neighbours are
chosen sample by sample from the data, by comparing differences of rising order. A smooth motion becomes smaller from
each even difference to the next, by (w h)^2 at frequency w and step h. Jitter and switches become larger.

    sixth difference below half the fourth   smooth           polynomial through 7 samples
    sixth below the fourth                   just resolved    polynomial through 5 samples
    fourth above twice the second            only jitter      smoothing spline of 5 samples
    else                                     rough, a switch  parabola through 3 samples

In samples per cycle the limits are at 9, 6 and 4. Jitter of sigma s gives second derivatives of sigma
3.5, 3.1, 0.5 and 2.4 s / h^2 in this order. So exact polynomials of many samples are for smooth motion. Where the
second differences only change sign from sample to sample, no acceleration is resolved, and an average is the better
estimate. Its second derivative is that of the least-squares parabola of 5 samples. Value and first derivative are then
those of the cubic B-spline with the same second derivative. At all samples they belong to one smooth curve. So readings
between samples are as good as at them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

# bounds on ratios of squared differences: sixth to fourth, sixth to fourth, fourth to second
_SMOOTH, _RESOLVED, _JITTER = 0.25, 1.0, 4.0
_EQUAL_STEPS = 1e-9  # steps equal to this fraction are equal: a clock that sums up roundoff is not a motion
_CHART_RADIUS = 2.5  # a stencil stays this near (rad): the logarithm of a rotation folds at pi


@dataclass(frozen=True)
class Stencil:
    """A polynomial over some neighbours: through them, or closest to them where its degree is less."""

    samples: int
    degree: int

    def rows(self, n: int) -> Rows:
        """Row numbers (n, samples) about each of n rows, moved inward at the ends."""
        start = np.clip(np.arange(n) - self.samples // 2, 0, n - self.samples)
        return start[:, None] + np.arange(self.samples)

    def weights(self, s: Array) -> Array:
        """(n, 2, samples): weights @ values at s (n, samples) are the first two derivatives at s = 0."""
        powers = s[:, :, None] ** np.arange(self.degree + 1)
        if self.degree == self.samples - 1:
            coefficients = np.linalg.inv(powers)
        else:
            transposed = powers.transpose(0, 2, 1)
            coefficients = np.linalg.solve(transposed @ powers, transposed)
        return coefficients[:, 1:3] * np.array([[1.0], [2.0]])

    def noise_gain(self) -> Array:
        """Sigma of the two derivatives in the middle of equal steps of 1, for samples of sigma 1."""
        s = np.arange(float(self.samples))[None] - self.samples // 2
        return np.linalg.norm(self.weights(s)[0], axis=1)

    def derivatives(self, t: Array, seen: Array, first_seen: Rows) -> Array:
        """(n, 2, 3): first and second derivative at every row.

        seen (n, m, 3): m rows from first_seen (n,) on, relative to each row; they contain the stencil.
        """
        rows = self.rows(len(t))
        step = (t[rows[:, -1]] - t[rows[:, 0]]) / (self.samples - 1)
        s = (t[rows] - t[:, None]) / step[:, None]
        weights = np.empty((len(t), 2, self.samples))
        grid = np.rint(s)
        equal = np.abs(s - grid).max(axis=1) < _EQUAL_STEPS
        if equal.any():  # a few patterns only: the middle, and one for each place near an end
            place = np.arange(len(t)) - rows[:, 0]
            whole = np.arange(float(self.samples))
            weights[equal] = self.weights(whole - whole[:, None])[place[equal]]
        if not equal.all():
            weights[~equal] = self.weights(s[~equal])
        values = np.take_along_axis(seen, (rows - first_seen[:, None])[:, :, None], axis=1)
        return weights @ values / np.stack([step, step**2], axis=1)[:, :, None]


THREE, FIVE, SEVEN, FITTED = Stencil(3, 2), Stencil(5, 4), Stencil(7, 6), Stencil(5, 2)
SHORTEST_PIECE = 5


# value and derivatives at its knots of the cubic B-spline whose coefficients are (2 a + 3 b + 2 c) / 7 of three samples
_SPLINE = np.array(
    [
        [2.0 / 42.0, 11.0 / 42.0, 16.0 / 42.0, 11.0 / 42.0, 2.0 / 42.0],
        [-2.0 / 14.0, -3.0 / 14.0, 0.0, 3.0 / 14.0, 2.0 / 14.0],
        [2.0 / 7.0, -1.0 / 7.0, -2.0 / 7.0, -1.0 / 7.0, 2.0 / 7.0],
    ]
)


@dataclass(frozen=True)
class Local:
    """Values at every sample (n, 3) and their derivatives. The value is 0 (the sample itself) except where there is
    only jitter.

    noise_gain (n, 2): sigma of first derivative times h and second times h^2, for jitter of sigma 1.
    """

    value: Array
    first: Array
    second: Array
    noise_gain: Array


def local_derivatives(t: Array, values: Callable[[Rows], Array], reach: Array) -> Local:
    """Derivatives at every sample of a piece without gaps (n >= SHORTEST_PIECE).

    values(rows) gives the samples of the rows (n, m) relative to each of the n samples, (n, m, 3), in a chart where the
    sample itself is 0. reach (n - 1) is the distance from each sample to the next in that chart.
    """
    if len(t) < SEVEN.samples:  # too short to tell jitter from motion
        rows = THREE.rows(len(t))
        three = THREE.derivatives(t, values(rows), rows[:, 0])
        return Local(np.zeros_like(three[:, 0]), three[:, 0], three[:, 1], np.tile(THREE.noise_gain(), (len(t), 1)))
    rows = SEVEN.rows(len(t))
    seen = values(rows)
    three, five, seven, fitted = (stencil.derivatives(t, seen, rows[:, 0]) for stencil in (THREE, FIVE, SEVEN, FITTED))
    # stencils of neighbouring order differ by 1/12 of the fourth and 1/90 of the sixth difference
    second = _local_mean_square(three[:, 1], 5)  # five of them are what three fourth differences are made of
    fourth = _local_mean_square(12.0 * (five[:, 1] - three[:, 1]), 3)
    sixth = _local_mean_square(90.0 * (seven[:, 1] - five[:, 1]), 3)
    near_5, near_7 = (_reach(reach, stencil) < _CHART_RADIUS for stencil in (FIVE, SEVEN))
    resolved = sixth <= _RESOLVED * fourth
    use_seven = (sixth <= _SMOOTH * fourth) & near_7
    use_five = resolved & near_5 & ~use_seven
    use_fitted = ~resolved & (fourth > _JITTER * second) & near_5
    use_fitted = _filled(use_fitted, second) & near_5
    best, gain = three, np.tile(THREE.noise_gain(), (len(t), 1))
    for use, other, stencil in ((use_seven, seven, SEVEN), (use_five, five, FIVE), (use_fitted, fitted, FITTED)):
        best = np.where(use[:, None, None], other, best)
        gain[use] = stencil.noise_gain()
    averaged = _averaged(t, seen[:, 1:6], rows[:, 1:6])
    use_averaged = use_fitted.copy()
    use_averaged[:3] = use_averaged[-3:] = False  # there the rows are moved inward
    best = np.concatenate([np.zeros_like(best[:, :1]), best], axis=1)
    best = np.where(use_averaged[:, None, None], averaged, best)
    gain[use_averaged] = np.linalg.norm(_SPLINE[1:], axis=1)
    return Local(best[:, 0], best[:, 1], best[:, 2], gain)


def _averaged(t: Array, seen: Array, rows: Rows) -> Array:
    """(n, 3, 3): value, first and second derivative of the smoothing spline.

    Samples and times are both smoothed along the count of samples, so steps need not be equal.
    """
    x = np.einsum("jm,kmi->kji", _SPLINE, seen)
    late, pace, bend = ((t[rows] - t[:, None]) @ _SPLINE.T).T[:, :, None]
    first = x[:, 1] / pace
    second = (x[:, 2] - first * bend) / pace**2
    return np.stack([x[:, 0] - first * late + 0.5 * second * late**2, first, second], axis=1)


def _local_mean_square(x: Array, samples: int) -> Array:
    """Squared length of x (n, 3), averaged over some samples about each.

    The three samples at each end take the value of the fourth. Stencils moved inward would have other error terms than
    the ones they are to measure.
    """
    padded = np.pad(np.einsum("ki,ki->k", x, x)[3:-3], samples // 2, mode="edge")
    return np.pad(np.convolve(padded, np.full(samples, 1.0 / samples), mode="valid"), 3, mode="edge")


def _filled(chosen: NDArray[np.bool_], second: Array) -> NDArray[np.bool_]:
    """Also true where most of its nine neighbours are, and the second differences are similar.

    In pure jitter single samples look smooth by chance; a switch in jitter is clearly larger.
    """
    around = _sum_of_nine(chosen.astype(np.float64))
    usual = _sum_of_nine(np.where(chosen, second, 0.0)) / np.maximum(around, 1.0)
    return chosen | ((around > 4.5) & (second < 4.0 * usual))


def _sum_of_nine(x: Array) -> Array:
    """Sum over each sample and the four on either side; mode "same" would give nine sums for a shorter x."""
    return np.convolve(x, np.ones(9))[4 : 4 + len(x)]


def _reach(reach: Array, stencil: Stencil) -> Array:
    """The longest way from each sample to an end of its stencil."""
    way = np.concatenate([[0.0], np.cumsum(reach)])
    rows = stencil.rows(len(way))
    return np.maximum(way - way[rows[:, 0]], way[rows[:, -1]] - way)
