"""How a machine shakes: the variance of its readings within the last second, beyond the sensor's own noise."""

from strapdown.kernels.jit import internal
from strapdown.kernels.navigation.eskf.layout import (
    BEFORE_ACC,
    BEFORE_GYR,
    CALM_ACC,
    CALM_GYR,
    IN_A_ROW,
    IN_STOP_S,
    LAST_ACC,
    LAST_GYR,
    SHAKE_A,
    SHAKE_G,
)

CALM_S = 0.5  # slower than engines turn
SHAKES = 1.5  # of the sensor's own variance: a second of its noise reads up to 1.3


@internal
def shaken(known, seen):
    """Variance of a step: that of the sensor, or that of the machine's vibration where this is clearly larger."""
    return seen if seen > SHAKES * known else known


@internal
def follow_shaking(x, gyr, acc, h, stop):
    """Variance of a reading within the last second. Second differences pass changes from sample to sample and suppress
    the motion of the machine. For white noise they have six times the variance. At a stop there is no motion to
    suppress: an engine that runs slowly shows in the readings against their mean.
    """
    if h <= 0.0:
        return
    rate2_stop, force2_stop = calm(x, gyr, acc, h) if stop else (0.0, 0.0)
    if x[IN_A_ROW] >= 2.0:
        rate2 = force2 = 0.0
        for j in range(3):
            rate2 += (gyr[j] - 2.0 * x[LAST_GYR + j] + x[BEFORE_GYR + j]) ** 2
            force2 += (acc[j] - 2.0 * x[LAST_ACC + j] + x[BEFORE_ACC + j]) ** 2
        share = max(min(h, 1.0), 1.0 / (x[IN_A_ROW] - 1.0))
        rate2, force2 = max(rate2, 6.0 * rate2_stop), max(force2, 6.0 * force2_stop)
        x[SHAKE_G] += share * (rate2 / 18.0 - x[SHAKE_G])
        x[SHAKE_A] += share * (force2 / 18.0 - x[SHAKE_A])
    for j in range(3):
        x[BEFORE_GYR + j], x[BEFORE_ACC + j] = x[LAST_GYR + j], x[LAST_ACC + j]
    x[IN_A_ROW] += 1.0


@internal
def calm(x, gyr, acc, h):
    """Squares of the readings of a stop against their mean over CALM_S; 0 while the mean is of too few."""
    share = 1.0 if x[IN_STOP_S] == 0.0 else max(min(h / CALM_S, 1.0), h / (x[IN_STOP_S] + h))
    rate2 = force2 = 0.0
    for j in range(3):
        rate, force = gyr[j] - x[CALM_GYR + j], acc[j] - x[CALM_ACC + j]
        x[CALM_GYR + j] += share * rate
        x[CALM_ACC + j] += share * force
        rate2 += rate * rate
        force2 += force * force
    return (rate2, force2) if x[IN_STOP_S] > 0.2 * CALM_S else (0.0, 0.0)
