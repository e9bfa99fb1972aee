"""Methods of a virtual accelerometer or gyroscope to compute its reading from the motion: the exact one, paper A's, and
others.

Every method works on the motion of the sensor's frame s at the sensor's own sample times, T apart. Specific force is
f_s = R_sn (a_n - g_n): +g on z when level at rest, 0 in free fall. Each method knows its own error from the motion
(`error_bound`, leading term). So a run can state when it leaves the method's range of validity.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.errors import InputError
from strapdown.rotation import euler_from_q, q_conj, q_log, q_mul, q_rotate
from strapdown.types import Motion

Array = NDArray[np.float64]

ACCELEROMETER, GYROSCOPE = "accelerometer", "gyroscope"


@dataclass(frozen=True)
class Sight:
    """Input of a method: the frame's motion, gravity (m/s2), and the proof mass if there is one."""

    motion: Motion
    gravity: float
    force_s: Array | None = None  # N, on the proof mass, frame s
    mass_kg: float | None = None
    joint_frequency_hz: float | None = None  # of a soft proof mass; None: rigid
    damping_ratio: float = 0.0
    unexplained: Array | None = None  # m/s2: what the source itself leaves in doubt; None: nothing
    turn_per_step: Array | None = None  # rad: largest turn in a physics step since the sample before
    about: Mapping[str, Any] = field(default_factory=dict)  # what a recording states of its source

    def dt(self) -> Array:
        return np.diff(self.motion.t)[:, None]

    def specific_force_s(self) -> Array:
        return self.motion.specific_force_b(self.gravity)  # the motion is that of frame s


@dataclass(frozen=True)
class Method:
    """`reading` and `error_bound` give one row for each sample but the first `before` and the last `after` ones."""

    name: str
    instrument: str
    reading: Callable[[Sight], Array]
    error_bound: Callable[[Sight], Array]
    before: int
    after: int
    stamp: str  # what instant a reading belongs to
    validity: str


def _norm(x: Array) -> Array:
    return np.linalg.norm(x, axis=-1)


def _turns(q: Array) -> Array:
    """Rotation vector of every step; the same numbers in the frame at its start and at its end."""
    return q_log(q_mul(q_conj(q[:-1]), q[1:]))


def _unresolved(s: Sight, signal: Array) -> Array:
    """The whole signal at samples more than a quarter turn after the previous one, where differences are meaningless.

    The leading terms do not show this: a whole turn per sample looks like rest.
    """
    turn = s.dt()[:, 0] * _norm(s.motion.w_nb_b[1:])
    return np.where(turn > np.pi / 2.0, _norm(signal[1:]), 0.0)


def _velocity_difference(s: Sight) -> Array:
    a_n = np.diff(s.motion.v_n, axis=0) / s.dt()
    return q_rotate(q_conj(s.motion.q_nb[1:]), a_n - gravity_vector(s.gravity))


def _velocity_difference_error(s: Sight) -> Array:
    """The mean over the step belongs to its middle: T/2 times the change of acceleration."""
    return np.maximum(0.5 * _norm(np.diff(s.motion.a_n, axis=0)), _unresolved(s, s.motion.a_n))


def _central_difference(s: Sight) -> Array:
    v_mid = np.diff(s.motion.p_n, axis=0) / s.dt()
    a_n = np.diff(v_mid, axis=0) / (0.5 * (s.dt()[1:] + s.dt()[:-1]))
    return q_rotate(q_conj(s.motion.q_nb[1:-1]), a_n - gravity_vector(s.gravity))


def _central_difference_error(s: Sight) -> Array:
    """T^2/12 times the second derivative of acceleration."""
    return np.maximum(_norm(np.diff(s.motion.a_n, 2, axis=0)) / 12.0, _unresolved(s, s.motion.a_n)[:-1])


def _euler_increment(s: Sight) -> Array:
    step = q_mul(q_conj(s.motion.q_nb[:-1]), s.motion.q_nb[1:])
    return np.stack(euler_from_q(step), axis=-1) / s.dt()  # (phi, theta, psi) are about x, y, z: errata 2


def _euler_increment_error(s: Sight) -> Array:
    """Half a step of lag, and the order of the three turns: T/2 times the products of two rates."""
    w = s.motion.w_nb_b[1:]
    products = np.stack([w[:, 1] * w[:, 2], w[:, 0] * w[:, 2], w[:, 0] * w[:, 1]], axis=-1)
    error = 0.5 * _norm(np.diff(s.motion.w_nb_b, axis=0)) + 0.5 * s.dt()[:, 0] * _norm(products)
    return np.maximum(error, _unresolved(s, s.motion.w_nb_b))


def _rotation_log(s: Sight) -> Array:
    turns = _turns(s.motion.q_nb)  # both neighbours' turns are expressed in the middle frame
    return (turns[1:] + turns[:-1]) / (s.dt()[1:] + s.dt()[:-1])


def _rotation_log_error(s: Sight) -> Array:
    """T^2/6 times the third derivative of the rotation vector relative to the middle: w'' + (w x w')/2."""
    m = s.motion
    coning = _norm(np.cross(m.w_nb_b, m.dw_nb_b)[1:-1])
    error = _norm(np.diff(m.w_nb_b, 2, axis=0)) / 6.0 + s.dt()[1:, 0] ** 2 * coning / 12.0
    return np.maximum(error, _unresolved(s, m.w_nb_b)[:-1])


def _proof_mass(s: Sight) -> Array:
    if s.force_s is None or s.mass_kg is None:
        raise InputError(
            "proof-mass needs a mass in a physics engine; use it on a robot, or another method on this motion"
        )
    return s.force_s / s.mass_kg


def _proof_mass_error(s: Sight) -> Array:
    """The mass moves by x on a soft joint, x'' + 2 zeta w0 x' + w0^2 x = -f, and its force has an error of m x''.

    In frame n, where slow turning does not act on the joint, which is equal in all directions. Nothing moves on a rigid
    joint.
    """
    if s.joint_frequency_hz is None or len(s.motion) < 2:
        return np.zeros(len(s.motion))
    from scipy.signal import lsim

    w0 = 2.0 * np.pi * s.joint_frequency_hz
    spring = np.array([[-(w0**2), -2.0 * s.damping_ratio * w0]])
    joint = np.vstack([[[0.0, 1.0]], spring]), np.array([[0.0], [-1.0]]), spring, np.array([[-1.0]])
    g_n = gravity_vector(s.gravity)
    f_n, hangs_n = s.motion.a_n - g_n, g_n / w0**2  # it begins at rest, as it hangs
    t = np.arange(len(f_n)) * np.mean(s.dt())
    return _norm(np.stack([lsim(joint, f_n[:, i], t, X0=[hangs_n[i], 0.0])[1] for i in range(3)], axis=-1))


def _source_error(s: Sight) -> Array:
    """An exact reading is as good as the motion: the error is what the source's integrator leaves unexplained."""
    return np.zeros(len(s.motion)) if s.unexplained is None else s.unexplained


def _no_error(s: Sight) -> Array:
    return np.zeros(len(s.motion))


# "exact" stands for two methods, one per instrument, under one name
_EXACT = "value at the time stamp"
_EXACT_RANGE = "any motion the source resolves: acceleration and change of velocity agree within the allowed error, "
_EXACT_RANGE += "and at most 0.25 rad of turn per physics step"
_MEAN_BEFORE = "mean over the step that ends at the time stamp"
EXACT_ACCELEROMETER = Method("exact", ACCELEROMETER, Sight.specific_force_s, _source_error, 0, 0, _EXACT, _EXACT_RANGE)
EXACT_GYROSCOPE = Method("exact", GYROSCOPE, lambda s: s.motion.w_nb_b, _no_error, 0, 0, _EXACT, _EXACT_RANGE)

METHODS = (
    EXACT_ACCELEROMETER,
    EXACT_GYROSCOPE,
    Method(
        "velocity-difference",
        ACCELEROMETER,
        _velocity_difference,
        _velocity_difference_error,
        1,
        0,
        _MEAN_BEFORE,
        "slow motion: T/2 |da/dt| within the allowed error (paper A)",
    ),
    Method(
        "central-difference",
        ACCELEROMETER,
        _central_difference,
        _central_difference_error,
        1,
        1,
        _EXACT,
        "smooth motion: T^2/12 |d2a/dt2| within the allowed error",
    ),
    Method(
        "proof-mass",
        ACCELEROMETER,
        _proof_mass,
        _proof_mass_error,
        0,
        0,
        _EXACT,
        "rigid: any smooth motion; soft joint: what its spring and damper swing by within the allowed error",
    ),
    Method(
        "euler-increment",
        GYROSCOPE,
        _euler_increment,
        _euler_increment_error,
        1,
        0,
        _MEAN_BEFORE,
        "turning about one axis at a steady rate: T/2 (|dw/dt| + |w_i w_j|) within the allowed error (paper A)",
    ),
    Method(
        "rotation-log",
        GYROSCOPE,
        _rotation_log,
        _rotation_log_error,
        1,
        1,
        _EXACT,
        "smooth motion: T^2/6 |d2w/dt2| + T^2/12 |w x dw/dt| within the allowed error",
    ),
)
METHOD_NAMES = tuple(dict.fromkeys(m.name for m in METHODS))


def choose(names: tuple[str, ...], where: str) -> tuple[Method, Method]:
    """The accelerometer's and the gyroscope's method from a list of names; an instrument that is not named uses the
    exact one.
    """
    chosen = {ACCELEROMETER: EXACT_ACCELEROMETER, GYROSCOPE: EXACT_GYROSCOPE}
    taken: dict[str, str] = {}
    for name in names:
        matching = [m for m in METHODS if m.name == name]
        if not matching:
            raise InputError(f'{where}: method "{name}" is not known; valid names: {", ".join(METHOD_NAMES)}')
        if name == "exact":
            continue
        instrument = matching[0].instrument
        if instrument in taken:
            raise InputError(
                f'{where}: methods "{taken[instrument]}" and "{name}" are both for the {instrument}; keep one'
            )
        chosen[instrument], taken[instrument] = matching[0], name
    return chosen[ACCELEROMETER], chosen[GYROSCOPE]
