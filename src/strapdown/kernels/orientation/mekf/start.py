"""Sigma of the first attitude of the multiplicative Kalman filter.

The first reading of the accelerometer differs from gravity by the acceleration of the motion, whose strength is then
unknown. The norm of the first reading shows some of the acceleration, and the readings of the next seconds show more.
The covariance grows by as much as the first reading was worse than assumed. Otherwise the correction of a wrong
attitude would be learned as bias.
"""

from strapdown.kernels.jit import internal
from strapdown.kernels.orientation.mekf.heading import ANY_HEADING, aimed
from strapdown.kernels.orientation.mekf.layout import (
    ACC_WHITE2,
    AIMED_P,
    ATTITUDE_START2,
    BIAS_START2,
    GRAVITY,
    MAG_DISTURBANCE2,
    MOTION_START2,
    ROUGH2,
    START2,
)
from strapdown.kernels.orientation.mekf.motion import NEVER
from strapdown.kernels.orientation.mekf.update import P, forget_place
from strapdown.kernels.orientation.state import USE_MAG

START_SPAN = 2.0  # of the motion's assumed time: for that long the start is held against what is seen
ANY_TILT = 1.0  # rad2, of an inclination that may be anything


@internal
def begin_covariance(state, settings, given, force, has_mag, mx, my, mz, dt):
    """Covariance after the first sample, which gave the attitude if it was not given.

    force: norm of the first reading.
    """
    norm_off = force - settings[GRAVITY]
    state[ROUGH2] = norm_off * norm_off
    state[START2] = NEVER if given else settings[MOTION_START2] + state[ROUGH2]
    tilt2 = min((settings[ACC_WHITE2] / dt + state[START2]) / (settings[GRAVITY] * settings[GRAVITY]), ANY_TILT)
    for i in range(3):
        state[P + 7 * i] = settings[ATTITUDE_START2] if given else (tilt2 if i < 2 else 0.0)
        state[P + 21 + 7 * i] = settings[BIAS_START2]
    forget_place(state, settings[MAG_DISTURBANCE2])
    if settings[USE_MAG] != 0.0 and not given:  # without magnetometer the heading counts from here
        state[P + 14] = ANY_HEADING
        if has_mag:
            aimed(state, settings, mx, my, mz, dt)


@internal
def doubt_start(state, settings, strong2):
    """Soon after the start the motion is found to be stronger than assumed. So the first reading was further from up,
    and a heading that used it is determined again.
    """
    more2 = strong2 - state[START2]
    if more2 <= 0.0:
        return
    state[START2] = strong2
    more2 /= settings[GRAVITY] * settings[GRAVITY]
    for i in range(2):
        state[P + 7 * i] = max(state[P + 7 * i], min(state[P + 7 * i] + more2, ANY_TILT))
    if state[AIMED_P] > 0.0:
        state[AIMED_P] = NEVER
