"""The heading of the multiplicative Kalman filter: its sigma after a reading has set it, and the test whether it is
wrong.
"""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.orientation.mekf.layout import (
    AIMED_P,
    BESIDE,
    BESIDE_T,
    BIAS_START2,
    GATE2,
    LOST_S,
    MAG_DISTURBANCE2,
    MAG_DISTURBANCE_S,
    MAG_WHITE2,
    REFERENCE_T,
    STEEP2,
)
from strapdown.kernels.orientation.mekf.update import P, forget_place, learn_north
from strapdown.kernels.orientation.start import LEVEL, SEEN
from strapdown.kernels.orientation.state import DECLINATION, Q
from strapdown.kernels.rotation import rotate

ANY_HEADING = math.pi**2 / 3.0  # rad2, of a heading that may be anything


@internal
def aimed(state, settings, mx, my, mz, dt):
    """The heading has just been taken from this reading: with the inclination's error in it."""
    mx, my, mz = rotate(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], mx, my, mz)
    state[AIMED_P] = state[P] + state[P + 7]
    level2 = max(mx * mx + my * my, 1e-12)
    forget_place(state, settings[MAG_DISTURBANCE2])
    steep = mz / math.sqrt(level2)
    state[STEEP2] = steep * steep
    hx, hy = -steep * math.sin(settings[DECLINATION]), -steep * math.cos(settings[DECLINATION])
    learn_north(state, hx, hy, settings[MAG_WHITE2] / dt / level2, 0.0)


@internal
def judge_heading(state, settings, off, passed):
    """Fields that are believed may point further from north for long, in the mean, than the disturbance and the
    heading's variance explain. Then the heading is wrong by as much.
    """
    state[BESIDE] += passed / (settings[MAG_DISTURBANCE_S] + passed) * (off - state[BESIDE])
    beside2 = state[BESIDE] * state[BESIDE]
    if beside2 <= settings[GATE2] * (state[P + 14] + settings[MAG_DISTURBANCE2]):
        state[BESIDE_T] = 0.0
        return
    state[BESIDE_T] += passed
    if state[BESIDE_T] > settings[LOST_S]:
        state[P + 14], state[BESIDE_T] = max(state[P + 14], min(beside2, ANY_HEADING)), 0.0
        for i in range(3):  # in that time as much may have been learned as bias
            state[P + 21 + 7 * i] += min(beside2 / (settings[LOST_S] * settings[LOST_S]), settings[BIAS_START2])


@internal
def any_heading(state, settings):
    """The next magnetometer reading gives heading and field."""
    for i in range(6):
        state[P + 12 + i] = 0.0
        state[P + 2 + 6 * i] = 0.0
    forget_place(state, settings[MAG_DISTURBANCE2])
    state[SEEN], state[P + 14], state[REFERENCE_T], state[AIMED_P] = LEVEL, ANY_HEADING, 0.0, 0.0
