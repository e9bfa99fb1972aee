"""Second-order Butterworth low-pass filters over blocks of numbers inside a filter's state, for steps of any length.

A block (first, n) begins at number `first`: COUNT, OFFSET, then n inputs, n outputs y, n slopes v = y'/w. Then come n
curvatures u = x - sqrt(2) v - y. In this form the memory means the same at every step length. Each step is the
trapezoidal rule over its own step, with the frequency warped as the bilinear transform does it. At equal steps this is
the discrete Butterworth filter of the textbooks. The first outputs are means of the inputs, until tau seconds have
passed (Laidig and Seel).
"""

import math

from numba import njit

from strapdown.kernels import rotation
from strapdown.kernels.jit import internal, python_of

COUNT = 0  # samples in the mean; -1: the mean is over and the filter runs
OFFSET = 1  # s, added to COUNT times the step to give the time that the mean has lasted
INPUT = 2
ROOT2 = math.sqrt(2.0)
_S1, _S2, _S3, _S4, _S5 = ((-1.0) ** n / math.factorial(2 * n + 1) for n in range(1, 6))
_C1, _C2, _C3, _C4, _C5, _C6 = ((-1.0) ** n / math.factorial(2 * n) for n in range(1, 7))


def block_size(n):
    return INPUT + 4 * n


# as calls, compiled once: inlined by numba they would be compiled anew wherever they are used
mul = internal(python_of(rotation.mul))
rotate = internal(python_of(rotation.rotate))


@internal
def lowpass_gains(tau, dt):
    """Gains (g, a) for a step dt (s); g is 0 where the step is too long for the filter, which then passes its input.

    tau is the time constant of the step response's envelope: the corner is at sqrt(2) / (2 pi tau).
    """
    if tau < 0.5 * dt:
        return 0.0, 1.0
    g = math.tan(dt / (ROOT2 * tau))
    return g, 1.0 / (1.0 + ROOT2 * g + g * g)


@njit(cache=True, inline="always")
def lowpass_one(x, y, v, u, g, a):
    """One step of one signal: new (y, v, u)."""
    reached_y = y + g * v
    v = a * (v + g * u + g * (x - reached_y))
    y = reached_y + g * v
    return y, v, x - ROOT2 * v - y


@internal
def lowpass(state, block, tau, dt, g, a):
    """Filter the inputs of a block into its outputs."""
    first, n = block
    x, y = first + INPUT, first + INPUT + n
    v, u = y + n, y + 2 * n
    count = state[first + COUNT]
    if count >= 0.0 or g == 0.0:  # the mean of the first samples; or the step is too long, and the mean is of one
        kept = 1.0 if count >= 0.0 else 0.0
        count = kept * count + 1.0
        over = kept == 0.0 or state[first + OFFSET] + count * dt >= tau
        state[first + COUNT] = -1.0 if over else count
        for j in range(n):
            total = kept * state[v + j] + state[x + j]
            state[y + j] = total / count
            state[v + j] = 0.0 if over else total
            state[u + j] = 0.0
    else:
        for j in range(n):
            state[y + j], state[v + j], state[u + j] = lowpass_one(
                state[x + j], state[y + j], state[v + j], state[u + j], g, a
            )


@internal
def lowpass_restart(state, block):
    """Forget all samples: the next output is the mean of the next inputs."""
    first, n = block
    state[first + COUNT], state[first + OFFSET] = 0.0, 0.0
    for j in range(n):
        state[first + INPUT + 2 * n + j] = 0.0


@internal
def lowpass_settle(state, block):
    """Set the filter as if the inputs had been constant for long."""
    first, n = block
    state[first + COUNT] = -1.0
    for j in range(n):
        at = first + INPUT + j
        state[at + n], state[at + 2 * n], state[at + 3 * n] = state[at], 0.0, 0.0


@internal
def lowpass_new_step(state, block, before, dt):
    """Keep the elapsed time of a mean when the step changes from `before` to dt."""
    first = block[0]
    if state[first + COUNT] > 0.0:
        state[first + OFFSET] += state[first + COUNT] * (before - dt)


@internal
def usual_step(dt):
    """A step without the roundoff of the time stamps of which it is the difference. This works for steps of whole
    microseconds, and of rates of whole millihertz. Times added up from it then reach a limit at the intended sample.
    """
    micros = dt * 1e6
    whole = math.floor(micros + 0.5)
    if abs(micros - whole) <= 1e-9 * micros:
        return whole / 1e6
    millihertz = 1e3 / dt
    whole = math.floor(millihertz + 0.5)
    if abs(millihertz - whole) <= 1e-9 * millihertz:
        return 1.0 / (whole / 1e3)
    return dt


@internal
def unit_again(w, x, y, z):
    """A quaternion whose length differs from 1 by roundoff, normalised: the first two terms of the root are then
    exact.
    """
    k = 1.5 - 0.5 * (w * w + x * x + y * y + z * z)
    return k * w, k * x, k * y, k * z


@internal
def turned(w, x, y, z, rx, ry, rz):
    """The attitude turned further by the rotation vector r (rad), expressed in its own frame."""
    angle2 = rx * rx + ry * ry + rz * rz
    if angle2 < 0.25:  # the next terms are h^14 / 14! < 5e-20
        h2 = 0.25 * angle2
        c = 1.0 + h2 * (_C1 + h2 * (_C2 + h2 * (_C3 + h2 * (_C4 + h2 * (_C5 + h2 * _C6)))))
        k = 0.5 * (1.0 + h2 * (_S1 + h2 * (_S2 + h2 * (_S3 + h2 * (_S4 + h2 * _S5)))))
        w, x, y, z = mul(w, x, y, z, c, k * rx, k * ry, k * rz)
    else:
        tw, tx, ty, tz = rotation.exp(rx, ry, rz)
        w, x, y, z = mul(w, x, y, z, tw, tx, ty, tz)
    return unit_again(w, x, y, z)
