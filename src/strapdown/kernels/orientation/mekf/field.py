"""Which magnetic field the multiplicative Kalman filter believes, and how far its north may be off.

Iron turns a field about the vertical as far as it changes norm and dip, in the mean of its directions. So half the
sum of the squares of both, over the level part, is a variance of north. Beyond the limits a reading is rejected. A
field that stays the same while the sensor turns is not that of iron on the part. If it stays for longer than the
reference was seen, or for REFERENCE_S, the reference was of another place (after Laidig and Seel 2023).
"""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.orientation.mekf.layout import (
    DIP_OFF,
    NORM_OFF,
    OTHER_DIP,
    OTHER_NORM,
    OTHER_T,
    REFERENCE_DIP,
    REFERENCE_NORM,
    REFERENCE_S,
    REFERENCE_T,
)

LEAST_REFERENCE_S = 0.5  # before that the field is taken as it is
TURNS2 = 0.12  # (rad/s)^2, 20 deg/s: a sensor that turns less may lie next to iron


@internal
def judge_field(state, settings, norm, dip, level):
    """Whether this field differs too much from the reference, and the variance of its north by iron, rad2.

    level: squared part of the field that is level.
    """
    if state[REFERENCE_T] < LEAST_REFERENCE_S:
        return False, 0.0
    norm_off, dip_off = norm / max(state[REFERENCE_NORM], 1e-12) - 1.0, dip - state[REFERENCE_DIP]
    iron2 = 0.5 * (norm_off * norm_off + dip_off * dip_off) / level
    return abs(norm_off) > settings[NORM_OFF] or abs(dip_off) > settings[DIP_OFF], iron2


@internal
def follow_other(state, settings, norm, dip, turn2, passed):
    """Follow a field that differs from the reference. Returns True if it has stayed for long enough to replace it.

    turn2: squared turn rate, (rad/s)^2.
    """
    norm_off, dip_off = norm - state[OTHER_NORM], dip - state[OTHER_DIP]
    if abs(norm_off) > settings[NORM_OFF] * state[OTHER_NORM] or abs(dip_off) > settings[DIP_OFF]:
        state[OTHER_NORM], state[OTHER_DIP], state[OTHER_T] = norm, dip, 0.0
        return False
    k = min(passed / settings[REFERENCE_S], 1.0)
    state[OTHER_NORM] += k * norm_off
    state[OTHER_DIP] += k * dip_off
    if turn2 > TURNS2:
        state[OTHER_T] += passed
    return state[OTHER_T] > min(settings[REFERENCE_S], state[REFERENCE_T])


@internal
def follow_field(state, settings, norm, dip, passed):
    """The reference is the mean of the first fields, then follows slowly."""
    state[OTHER_T] = 0.0
    state[REFERENCE_T] += passed
    k = max(1.0 - math.exp(-passed / settings[REFERENCE_S]), passed / state[REFERENCE_T])
    state[REFERENCE_NORM] += k * (norm - state[REFERENCE_NORM])
    state[REFERENCE_DIP] += k * (dip - state[REFERENCE_DIP])
