"""The ellipsoid on which the readings of a turned sensor lie: centre, symmetric matrix, and their dependence on the
data.

A triad that reads y = A x + h of a vector x of constant length, turned all about, draws an ellipsoid. The centre of the
ellipsoid is h, and C (y - h) has length 1 for the symmetric C with C^2 = (A A^T)^-1 / |x|^2. A rotation remains
undetermined; nothing in the ellipsoid shows it.

Start: a quadric is fitted algebraically to many small drawn subsets. The one with the least median distance is used, so
that gross errors do not decide. Then the distances along the normal are reduced with redescending weights (Tukey 1960),
whose scale comes from the median distance. The distances are free of the bias of curvature, and their gradients are
taken at the foot point. So the estimate is unbiased to second order in the noise.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.calibration import ellipsoid as kernel
from strapdown.types import Array

PARAMETERS = 9  # centre x y z, matrix xx yy zz xy xz yz
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
CUTOFF = 6.0  # sigmas at which a reading loses all weight; 99 % efficient on Gaussian noise
_MAD = 1.4826  # median absolute distance to standard deviation, Gaussian
_SUBSETS, _SUBSET = 50, 20  # with 10 % gross errors six of them are clean
_THIN = 20_000  # readings for the first rounds
_ENDS = (4.0, 96.0)  # percentiles between which the data are taken to lie: 8 % may be gross errors far away
_VOXELS = 12  # per axis and width of the data
_CROWD = 3.0  # times the median number of readings in a voxel: more count as so many
_LEAST_CROWD = 10.0
_FLAT = 0.05  # least to largest spread: below it the readings lie in a plane
_BLURRED = 0.25  # scatter as a part of the radius: beyond it there is no surface
_MOST_GROSS = 0.25  # of the readings: beyond it they do not lie on one ellipsoid
LEAST_READINGS = 50


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """|matrix (y - centre)| = 1. centre (unit of the readings), matrix (3x3, symmetric, 1/unit).

    distance (n,): distance of each reading along the normal, outside positive (unit).
    sigma: robust standard deviation of the distances.
    weight (n,): weight of each reading for its place and its distance, 0 for gross errors.
    slope, scores, gains, bent: how the solution depends on its data (kernels/calibration/ellipsoid.py), in parameters
        of readings that are shifted by `origin` and divided by `length`.
    """

    centre: Array
    matrix: Array
    distance: Array
    sigma: float
    weight: Array
    origin: Array
    length: float
    slope: Array
    scores: Array
    gains: Array
    bent: Array

    @property
    def parameters(self) -> Array:
        """Parameters for the shifted and scaled readings, as slope and scores use them."""
        return np.concatenate([(self.centre - self.origin) / self.length, packed(self.matrix * self.length)])

    @property
    def units(self) -> Array:
        """(9,): factors from the fit's own parameters to centre and matrix in the unit of the readings."""
        return np.array([self.length] * 3 + [1.0 / self.length] * 6)

    @property
    def shift_by_bend(self) -> Array:
        """(9, 3): change of centre and matrix by the nonlinearity of each axis, in the readings' unit."""
        return np.asarray(-self.units[:, None] * np.linalg.solve(self.slope, self.bent))

    def of_parameters(self, p: Array) -> tuple[Array, Array]:
        """Centre and matrix in the unit of the readings."""
        return self.origin + self.length * p[:3], unpacked(p[3:]) / self.length


def packed(matrix: Array) -> Array:
    """Elements xx yy zz xy xz yz of a symmetric matrix."""
    return np.array([matrix[pair] for pair in PAIRS])


def unpacked(six: Array) -> Array:
    m = np.empty((3, 3))
    for value, (i, j) in zip(six, PAIRS, strict=True):
        m[i, j] = m[j, i] = value
    return m


def fit_ellipsoid(readings: Array, block: NDArray[np.int64], cubic: Array | None = None) -> Ellipsoid:
    """Readings (n, 3) of one unit.

    block (n,): number of the interval of time of each reading, rising from 0.

    cubic (n, 3): possible nonlinearity of each axis at each reading, in the unit; used for the covariance.
    """
    n = len(readings)
    if n < LEAST_READINGS:
        raise InputError(f"{n} readings are too few for an ellipsoid; give at least {LEAST_READINGS}, turned all about")
    low, high = np.percentile(readings[:: max(1, n // _THIN)], _ENDS, axis=0)
    origin, length = 0.5 * (low + high), float(np.max(high - low)) / 2.0
    if not length > 0.0:
        raise InputError("the readings do not change; turn the sensor all about while it records")
    y = _ready((readings - origin) / length)
    place = place_weights(y)
    few = np.arange(0, n, max(1, n // _THIN))
    spread, _ = principal_spread(readings)
    if spread[0] < _FLAT * spread[2]:
        raise InputError("the readings lie in a plane, which no single ellipsoid fits; turn the sensor about more axes")
    h, c, scale = _refined(_ready(y[few]), _ready(place[few]), *_start(y, place), rounds=30)
    h, c, scale = _refined(y, place, h, c, scale, rounds=3)
    radius = float(np.linalg.det(c)) ** (-1.0 / 3.0)
    if not scale < _BLURRED * radius:
        raise InputError(
            f"the readings scatter by {100.0 * scale / radius:.0f} % of their radius around the best ellipsoid; "
            "turn the sensor all about, slowly, away from iron and currents"
        )
    d = np.empty(n)
    kernel.distances(y, h, c, scale * scale, d)
    gross = float(np.mean(np.abs(d) >= CUTOFF * scale))
    if gross > _MOST_GROSS:
        raise InputError(
            f"{100.0 * gross:.0f} % of the readings lie far from the best ellipsoid; record again, away from iron and "
            "currents that do not move with the sensor"
        )
    blocks = int(block[-1]) + 1
    slope, bent = np.empty((PARAMETERS, PARAMETERS)), np.empty((PARAMETERS, 3))
    scores, gains = np.empty((blocks, PARAMETERS)), np.empty((blocks, PARAMETERS, 3))
    cubes = np.zeros((n, 3)) if cubic is None else cubic / length
    kernel.influence(
        *(y, place, h, c, _ready(d), CUTOFF * scale, _ready(block)),
        *(_ready(cubes), slope, scores, gains, bent),
    )
    weight = place * np.clip(1.0 - (d / (CUTOFF * scale)) ** 2, 0.0, None) ** 2
    return Ellipsoid(
        *(origin + length * h, c / length, d * length, scale * length, weight, origin, length),
        *(slope, scores, gains, bent),
    )


def principal_spread(readings: Array) -> tuple[Array, Array]:
    """Standard deviations (3,) along the principal directions, rising, and these directions (columns).

    Places have equal weight, however long the sensor stayed there; readings far outside have none.
    """
    some = readings[:: max(1, len(readings) // _THIN)]
    low, high = np.percentile(some, _ENDS, axis=0)
    y = (some - 0.5 * (low + high)) / max(float(np.max(high - low)) / 2.0, 1e-300)
    sane = place_weights(y) * (np.abs(y).max(axis=1) < 2.0)
    mean = sane @ some / sane.sum()
    values, directions = np.linalg.eigh((some - mean).T @ (sane[:, None] * (some - mean)) / sane.sum())
    return np.sqrt(np.maximum(values, 0.0)), directions


def place_weights(y: Array) -> Array:
    """Weight 1 for readings whose neighbourhood is visited as often as others; less where the sensor was at rest for
    long.

    y: readings centred and scaled to about -1 to 1. An error that belongs to a place, such as a magnet nearby, must not
    gain weight with the time that the sensor was there.
    """
    inside = np.clip(np.floor((y + 1.5) * (_VOXELS / 2.0)), 0, 2 * _VOXELS - 1).astype(np.int64)
    key = (inside[:, 0] * 2 * _VOXELS + inside[:, 1]) * 2 * _VOXELS + inside[:, 2]
    count = np.bincount(key, minlength=(2 * _VOXELS) ** 3)
    crowd = max(_LEAST_CROWD, _CROWD * float(np.median(count[count > 0])))
    weight: Array = _ready(np.minimum(1.0, crowd / np.maximum(count, 1))[key])
    return weight


def _ready(x: Any) -> Any:
    """Contiguous and read-only, as the kernels are compiled."""
    x = np.ascontiguousarray(x)
    view = x.view()
    view.flags.writeable = False
    return view


def _start(y: Array, weight: Array) -> tuple[Array, Array, float]:
    """Centre, matrix and scale of the quadric with the least median distance. Candidates are fitted to subsets of the
    readings, and one to all.
    """
    rng = np.random.default_rng(20)  # any: it draws the subsets, the same for the same readings
    cumulated = np.cumsum(weight)
    some = np.searchsorted(cumulated, rng.uniform(0.0, cumulated[-1], 1000))
    sample = _ready(y[np.minimum(some, len(y) - 1)])
    moments = np.empty((10, 10))
    kernel.quadric_moments(y, weight, moments)
    candidates = [_quadric(moments)]
    ones = _ready(np.ones(_SUBSET))
    for _ in range(_SUBSETS):
        kernel.quadric_moments(_ready(sample[rng.integers(0, len(sample), _SUBSET)]), ones, moments)
        candidates.append(_quadric(moments))
    best, least = None, np.inf
    d = np.empty(len(sample))
    for candidate in candidates:
        if candidate is None:
            continue
        kernel.distances(sample, *candidate, 0.0, d)
        median = float(np.median(np.abs(d)))
        if median < least:
            best, least = candidate, median
    if best is None:
        raise InputError("no ellipsoid fits the readings; turn the sensor about all axes, away from iron and currents")
    return *best, max(_MAD * least, 1e-9)


def _quadric(moments: Array) -> tuple[Array, Array] | None:
    """The quadric of least algebraic error. If the result is no ellipsoid, the fit is repeated with that constraint
    (Li, Griffiths 2004).
    """
    v = np.linalg.eigh(moments)[1][:, 0]
    found = _centred(v)
    if found is not None:
        return found
    s11, s12, s22 = moments[:6, :6], moments[:6, 6:], moments[6:, 6:]
    if np.linalg.cond(s22) > 1e12:
        return None
    lower = np.linalg.solve(s22, s12.T)
    bound = np.diag([-1.0, -1.0, -1.0, -4.0, -4.0, -4.0])  # 4J - I^2 > 0: an ellipsoid
    bound[:3, :3] += 1.0 - np.eye(3)
    values, vectors = np.linalg.eig(np.linalg.solve(bound, s11 - s12 @ lower))
    upper = vectors[:, int(np.argmax(values.real))].real
    return _centred(np.concatenate([upper, -lower @ upper]))


def _centred(v: Array) -> tuple[Array, Array] | None:
    """Centre and symmetric matrix of the quadric v; None if it is no ellipsoid."""
    q = unpacked(v[:6])
    values, vectors = np.linalg.eigh(q)
    if values[0] * values[2] <= 0.0 or np.abs(values).min() < 1e-9 * np.abs(values).max():
        return None
    h = -np.linalg.solve(q, v[6:9])
    size = (h @ q @ h - v[9]) / values
    if size.min() <= 0.0 or not np.isfinite(size).all():
        return None
    c = (vectors / np.sqrt(size)) @ vectors.T
    return _ready(h), _ready(0.5 * (c + c.T))


def _refined(y: Array, weight: Array, h: Array, c: Array, scale: float, rounds: int) -> tuple[Array, Array, float]:
    """Least weighted distances; the scale follows from the median distance in every round."""
    d, matrix, side = np.empty(len(y)), np.empty((PARAMETERS, PARAMETERS)), np.empty(PARAMETERS)
    for _ in range(rounds):
        kernel.distances(y, h, c, scale * scale, d)
        scale = max(_MAD * float(np.median(np.abs(d))), 1e-9)
        kernel.normal_equations(y, weight, h, c, _ready(d), CUTOFF * scale, matrix, side)
        if np.linalg.cond(matrix) > 1e13:
            raise InputError("the readings do not tell all of the ellipsoid; turn the sensor about all axes")
        step = np.asarray(np.linalg.solve(matrix, side), dtype=np.float64)
        step /= max(1.0, float(np.abs(step).max()) / 0.3)  # far from the solution the distances are not straight
        h, c = _ready(h + step[:3]), _ready(c + unpacked(step[3:]))
        if np.linalg.eigvalsh(c)[0] <= 0.0:
            raise InputError("no ellipsoid fits the readings; turn the sensor about all axes, away from iron")
        if np.abs(step).max() < 0.01 * scale / np.sqrt(len(y)):  # a hundredth of the chance in any parameter
            break
    return h, c, scale
