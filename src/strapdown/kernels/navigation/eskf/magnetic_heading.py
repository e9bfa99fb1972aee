"""The azimuth of the magnetic field as a measurement of the heading."""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.dead_reckoning import rotate
from strapdown.kernels.navigation.eskf.layout import (
    BIAS_M,
    COLUMNS,
    COVARIANCE,
    DIP,
    FIELD,
    HEADING,
    MAG_BIAS,
    NIS,
    PHI_N,
    REJECTED,
    S_DECLINATION,
    S_DIP,
    S_DIP_TOL,
    S_FIELD,
    S_FIELD_TOL,
    S_MAG_R,
    UNKNOWN_DIP,
    H,
    Q,
)
from strapdown.kernels.navigation.eskf.updates import NOT_USED, only


@internal
def heading(x, s, mag):
    """Azimuth of the horizontal field, clockwise from north, against the declination. A field without the Earth's
    strength and dip is not used. The magnetic heading must not change the tilt. Where the tilt is wrong, the azimuth is
    wrong by its part across the field times the tangent of the dip. This is taken as noise.
    """
    mx, my, mz = rotate(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], mag[0], mag[1], mag[2])
    flat2 = mx * mx + my * my
    good = flat2 > 0.0
    known = s[S_FIELD] if s[S_FIELD] > 0.0 else x[FIELD]
    known_dip = s[S_DIP] if s[S_DIP] < UNKNOWN_DIP else x[DIP]
    if good and known > 0.0 and known_dip < UNKNOWN_DIP:
        strength, dip = math.sqrt(flat2 + mz * mz), math.atan2(-mz, math.sqrt(flat2))
        good = abs(strength - known) <= s[S_FIELD_TOL] * known and abs(dip - known_dip) <= s[S_DIP_TOL]
    if not good:
        x[NIS + HEADING] = 0.0
        x[REJECTED] += float(1 << HEADING)
        return NOT_USED
    e = math.atan2(mx, my) - s[S_DECLINATION] - x[BIAS_M]
    e -= 2.0 * math.pi * math.floor(e / (2.0 * math.pi) + 0.5)
    only(x, not_constant(MAG_BIAS))
    x[H + PHI_N + 2] = 1.0
    tilt = x[COVARIANCE + PHI_N * (COLUMNS + 1)] + x[COVARIANCE + (PHI_N + 1) * (COLUMNS + 1)]
    return True, 0.0, s[S_MAG_R] + tilt * mz * mz / flat2, e
