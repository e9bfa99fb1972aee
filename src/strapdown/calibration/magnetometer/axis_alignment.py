"""The rotation from a magnetometer's axes to an accelerometer's: the dip of the field is the same in every attitude.

At rest the accelerometer's unit vector a points up, and the field w (length 1) makes the same angle with it whatever
the attitude: a . R w = c, minus the sine of the dip. R is found with c, from starts at all 24 rotations that map axes
on axes, so that swapped and turned axes are found too. The equation does not distinguish R, c from -R, -c. So a
left-handed set of axes is only found where the sign of the dip is known.

Filters delay the two instruments differently. If the sensor turns one way, this looks like a rotation between them. So
the delay of the accelerometer behind the magnetometer is estimated too.
"""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.magnetometer.ellipsoid import CUTOFF, PAIRS
from strapdown.rotation import matrix, q_exp
from strapdown.types import Array

PARAMETERS = 5  # small rotation in the accelerometer's axes (rad), c, delay of the accelerometer (s)
DELAY = (0.0, 0.01)  # s: mean and sigma that are assumed for parts that are not known
_SLOW_RAD_S = 2.0  # the vertical turns at most so fast in the sensor
_NEAR_G = 0.05  # of g
_LAG_S = 0.4  # over which the turn is taken: single readings are noise
_LEAST = 100  # quasi-static readings
_TOLD = 0.01  # mean square of sin(angle between field and vertical) about the least determined axis
_CLEAR = 4.0  # the second best rotation leaves so many times the variance
_MAD = 1.4826
# e_i x v = _TURNS[i] @ v
_TURNS = np.array(
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]]
)


@dataclass(frozen=True, eq=False)
class Alignment:
    """v_accelerometer = rotation @ v_magnetometer.

    c: cosine of the angle between field and up, minus the sine of dip.

    delay_s: delay of the accelerometer behind the magnetometer.
    residual (m,): a . R w - c, of the readings used.
    sigma: robust standard deviation of the residual.
    slope (5, 5), scores (blocks, 5): as in an Ellipsoid.
    prior (5, 5): prior of the scores, from the known delay.
    by_field, by_up (5, 9): derivatives of the sum of scores by the parameters of the two ellipsoids.
    gains_field, gains_up (blocks, 5, 3): derivatives of the scores by biases of the two.
    bent_field, bent_up (5, 3): derivatives of the sum of scores by nonlinearities of the two.
    """

    rotation: Array
    c: float
    delay_s: float
    residual: Array
    sigma: float
    slope: Array
    scores: Array
    prior: Array
    by_field: Array
    by_up: Array
    gains_field: Array
    gains_up: Array
    bent_field: Array
    bent_up: Array

    @property
    def dip_rad(self) -> float:
        return float(-np.arcsin(np.clip(self.c, -1.0, 1.0)))


@dataclass(frozen=True, eq=False)
class Side:
    """One instrument: z (n, 3), readings without their centre; c (3, 3), symmetric, so that c z is a unit vector.

    cubic (n, 3): possible nonlinearity of the part at each reading.
    shift (9, 3): change of centre and c by that nonlinearity, for each axis.
    """

    z: Array
    c: Array
    cubic: Array
    shift: Array


def quasi_static(t: Array, acc_s: Array, at: NDArray[np.int64], near: float = _NEAR_G) -> NDArray[np.bool_]:
    """For samples `at`: whether specific force is near its usual length and turns slowly enough to be gravity."""
    length = np.linalg.norm(acc_s[at], axis=1)
    usual = float(np.median(length))
    turning = np.linalg.norm(rates(t, acc_s, at), axis=1)
    return np.asarray((np.abs(length - usual) < near * usual) & (turning < _SLOW_RAD_S * usual))


def rates(t: Array, values: Array, at: NDArray[np.int64]) -> Array:
    """Derivative by time at samples `at`, over 0.4 s. The reading itself is not used, so its noise is not in both."""
    reach = min(max(1, round(0.5 * _LAG_S / float(np.median(np.diff(t))))), (len(t) - 1) // 2)
    before, after = np.maximum(at - reach, 0), np.minimum(at + reach, len(t) - 1)
    return np.asarray((values[after] - values[before]) / (t[after] - t[before])[:, None])


def rate_sigma(t: Array, values: Array, at: NDArray[np.int64]) -> float:
    """Noise of such a derivative, by the second differences of single readings."""
    inner = at[(at > 0) & (at < len(t) - 1)]
    bent = values[inner + 1] - 2.0 * values[inner] + values[inner - 1]
    noise = _MAD * float(np.median(np.abs(bent))) / np.sqrt(6.0) if len(inner) else 0.0
    return float(noise * np.sqrt(2.0) / _LAG_S)


def axis_rotations() -> Array:
    """The 24 rotations that map axes on axes."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            m = np.zeros((3, 3))
            m[np.arange(3), order] = signs
            if np.linalg.det(m) > 0.0:
                found.append(m)
    return np.array(found)


def align_axes(
    field: Side,
    up: Side,
    up_rate: Array,
    rate_sigma: float,
    block: NDArray[np.int64],
    blocks: int,
    delay: tuple[float, float] = DELAY,
) -> Alignment | str:
    """The rotation from the magnetometer's to the accelerometer's axes, or the reason why the readings do not determine
    it.

    Both instruments are given as readings at the same quasi-static instants.

    up_rate (n, 3): derivative of up.z by time, with noise rate_sigma. block (n,), below blocks: the interval of time of
        each.
    delay: prior knowledge of the delay, mean and sigma in s.
    """
    if len(block) < _LEAST:
        return f"only {len(block)} quasi-static readings of the accelerometer, {_LEAST} are needed; turn it more slowly"
    w, a, rate = field.z @ field.c, up.z @ up.c, up_rate @ up.c
    # the derivative's noise is no turn, and would tell the delay to be zero: its part is taken out of the sums
    noise = (rate_sigma * float(np.cbrt(np.linalg.det(up.c)))) ** 2
    products = (a[:, :, None] * w[:, None, :]).reshape(-1, 9)
    covariance = np.cov(products.T)
    variances, ends = _descend(axis_rotations(), covariance)
    best, rotation = float(variances.min()), ends[int(np.argmin(variances))]
    others = variances[np.einsum("ij,kij->k", rotation, ends) < 1.0 + 2.0 * np.cos(np.radians(10.0))]
    rotation, c, delay_s, omega, steep, s, q, sigma = _refine(rotation, w, a, rate, delay, noise)
    slope = q.T @ (steep[:, None] * q)
    told = slope[:3, :3] - np.outer(slope[:3, 3], slope[:3, 3]) / slope[3, 3]
    known = (sigma / delay[1]) ** 2
    slope[4, 4] = max(slope[4, 4] - noise * steep.sum(), 0.0) + known
    prior = np.zeros((PARAMETERS, PARAMETERS))
    prior[4, 4] = known * sigma**2
    least = float(np.linalg.eigvalsh(told)[0]) / steep.sum()
    if least < _TOLD or (len(others) and not others.min() > _CLEAR * max(best, 1e-12)):
        return "the attitudes of the log do not tell the rotation between the two; tilt it to all sides"
    to_field, to_up = a @ rotation, w @ rotation.T  # derivatives of the residual by w and by a

    columns = [q]
    sums = []
    for side, by in ((field, to_field), (up, to_up)):
        by_z = by @ side.c
        by_c = np.stack([by[:, i] * side.z[:, j] + (by[:, j] * side.z[:, i] if i != j else 0.0) for i, j in PAIRS], 1)
        by_parameters, by_bend = np.column_stack([-by_z, by_c]), by_z * side.cubic
        gains = np.zeros((blocks, PARAMETERS, 3))
        np.add.at(gains, block, (steep[:, None] * q)[:, :, None] * by_z[:, None, :])
        sums.append(((steep[:, None] * q).T @ by_parameters, gains, (steep[:, None] * q).T @ by_bend))
        columns.append(by_bend + by_parameters @ side.shift)
    scores = np.zeros((blocks, PARAMETERS))
    np.add.at(scores, block, (omega * _unexplained(s, omega, np.column_stack(columns)))[:, None] * q)
    (by_field, gains_field, bent_field), (by_up, gains_up, bent_up) = sums
    return Alignment(
        *(rotation, c, delay_s, s, sigma, slope, scores, prior, by_field, by_up),
        *(gains_field, gains_up, bent_field, bent_up),
    )


def _unexplained(s: Array, omega: Array, columns: Array) -> Array:
    """Residuals without the effect of the nonlinearities, which are no noise and enter the covariance separately."""
    scale = np.sqrt(np.maximum(omega @ columns**2, 1e-300))
    columns = columns / scale
    normal = columns.T @ (omega[:, None] * columns)
    size = np.linalg.solve(normal + 1e-9 * np.eye(len(normal)), columns.T @ (omega * s))
    return np.asarray(s - columns @ size)


def _descend(rotations: Array, covariance: Array) -> tuple[Array, Array]:
    """Least variance of the scalar product of a and R w near each start R (k, 3, 3), and the R there."""
    damping = 1e-9 * np.trace(covariance) * np.eye(3)
    for _ in range(30):
        turned = (_TURNS @ rotations[:, None]).reshape(-1, 3, 9)  # derivatives of the elements of exp(phi) R by phi
        flat = rotations.reshape(-1, 9)
        gradient = np.einsum("kij,kj->ki", turned @ covariance, flat)
        hessian = turned @ covariance @ turned.transpose(0, 2, 1) + damping
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        step /= np.maximum(1.0, np.linalg.norm(step, axis=1, keepdims=True) / 0.5)
        rotations = matrix(q_exp(step)) @ rotations
        if np.abs(step).max() < 1e-4:  # a start for the weighted rounds
            break
    flat = rotations.reshape(-1, 9)
    return np.einsum("ki,ij,kj->k", flat, covariance, flat), rotations


def _refine(
    rotation: Array, w: Array, a: Array, rate: Array, delay: tuple[float, float], noise: float
) -> tuple[Array, float, float, Array, Array, Array, Array, float]:
    """Rotation, c, delay, weights, derivative of weight times residual, residuals, gradients, sigma."""
    c, delay_s = float(np.median(np.einsum("ij,ij->i", w @ rotation.T, a))), delay[0]
    for _ in range(30):
        field = w @ rotation.T
        now = a + delay_s * rate  # what the accelerometer will say when it has caught up
        s = np.einsum("ij,ij->i", field, now) - c
        sigma = max(_MAD * float(np.median(np.abs(s))), 1e-12)
        left = np.clip(1.0 - (s / (CUTOFF * sigma)) ** 2, 0.0, None)
        omega, steep = left**2, left * (5.0 * left - 4.0)
        q = np.column_stack([np.cross(field, now), -np.ones(len(w)), np.einsum("ij,ij->i", field, rate)])
        normal = q.T @ (omega[:, None] * q)
        side = -q.T @ (omega * s)
        known = (sigma / delay[1]) ** 2
        normal[4, 4] = max(normal[4, 4] - noise * omega.sum(), 0.0) + known
        side[4] -= known * (delay_s - delay[0])
        step = np.linalg.solve(normal + 1e-12 * np.trace(normal) * np.eye(PARAMETERS), side)
        if np.abs(step).max() < 1e-3 * sigma / np.sqrt(len(w)):
            break
        rotation, c, delay_s = matrix(q_exp(step[:3])) @ rotation, c + float(step[3]), delay_s + float(step[4])
    return rotation, c, delay_s, omega, steep, s, q, sigma
