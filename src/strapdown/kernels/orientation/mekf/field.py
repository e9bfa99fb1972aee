"""Which magnetic field the multiplicative Kalman filter believes, and how far its north may be off.

Iron near the sensor changes norm and dip of the field as much as its direction about the vertical. So the squares of
what norm and dip differ by, averaged over the time in which a disturbance is correlated, are the variance of north.
"""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.orientation.mekf.layout import (
    DIP_OFF,
    IRON2,
    MAG_DISTURBANCE_S,
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
TURNS2 = 0.12  # (rad/s)^2, 20 deg/s: iron on the part shows in a field while the sensor turns


@internal
def judge_field(state, settings, norm, dip, level, passed_turn2, passed):
    """Whether this field differs too much from the reference.

    level: squared part of the field that is level.
    """
    if state[REFERENCE_T] < LEAST_REFERENCE_S:
        state[IRON2] = 0.0
        return False
    norm_off, dip_off = norm / max(state[REFERENCE_NORM], 1e-12) - 1.0, dip - state[REFERENCE_DIP]
    iron2 = 0.5 * (norm_off * norm_off + dip_off * dip_off) / max(level, 1e-12)
    state[IRON2] = iron2
    if abs(norm_off) <= settings[NORM_OFF] and abs(dip_off) <= settings[DIP_OFF]:
        return False
    norm_off, dip_off = norm - state[OTHER_NORM], dip - state[OTHER_DIP]
    if abs(norm_off) > settings[NORM_OFF] * state[OTHER_NORM] or abs(dip_off) > settings[DIP_OFF]:
        state[OTHER_NORM], state[OTHER_DIP], state[OTHER_T] = norm, dip, 0.0
        return True
    k = min(passed / settings[REFERENCE_S], 1.0)
    state[OTHER_NORM] += k * norm_off
    state[OTHER_DIP] += k * dip_off
    if passed_turn2 > TURNS2:
        state[OTHER_T] += passed
    return True


@internal
def follow_field(state, settings, norm, dip, passed):
    """The reference is the mean of the first fields, then follows slowly."""
    state[OTHER_T] = 0.0
    state[REFERENCE_T] += passed
    k = max(1.0 - math.exp(-passed / settings[REFERENCE_S]), passed / state[REFERENCE_T])
    state[REFERENCE_NORM] += k * (norm - state[REFERENCE_NORM])
    state[REFERENCE_DIP] += k * (dip - state[REFERENCE_DIP])
