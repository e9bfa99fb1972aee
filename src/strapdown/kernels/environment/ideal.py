"""What perfect instruments on one mount read at an instant, from the row of the plant."""

import math

from strapdown.kernels.jit import kernel
from strapdown.kernels.rotation import rotate

# numbers of the iron on a mount: hard iron (uT), soft iron (3 x 3 by rows)
HARD_IRON, SOFT_IRON, IRON = 0, 3, 12
_MU0_4PI = 0.1  # uT m / A: mu0 / (4 pi) in microtesla
_NEAREST = 1e-3  # m: a magnet has a size


@kernel
def ideal_rows(rows, iron, field_n, magnets, acc, gyr, mag):
    """Write acc (m/s2), gyr (rad/s) and mag (uT), frame s, from rows of the plant (live.PLANT_COLUMNS).

    field_n: uniform field (uT). magnets: one row for each, moment (A m2) and position (m), frame n. The iron
    of the mount acts on the field.
    """
    for i in range(len(rows)):
        bx, by, bz = field_n[0], field_n[1], field_n[2]
        for k in range(len(magnets)):
            mx, my, mz = magnets[k, 0], magnets[k, 1], magnets[k, 2]
            rx, ry, rz = rows[i, 0] - magnets[k, 3], rows[i, 1] - magnets[k, 4], rows[i, 2] - magnets[k, 5]
            r2 = max(rx * rx + ry * ry + rz * rz, _NEAREST * _NEAREST)
            r3 = r2 * math.sqrt(r2)
            along = 3.0 * (mx * rx + my * ry + mz * rz) / r2
            bx += _MU0_4PI * (along * rx - mx) / r3
            by += _MU0_4PI * (along * ry - my) / r3
            bz += _MU0_4PI * (along * rz - mz) / r3
        fx, fy, fz = rotate(rows[i, 3], -rows[i, 4], -rows[i, 5], -rows[i, 6], bx, by, bz)
        for k in range(3):
            s = SOFT_IRON + 3 * k
            mag[i, k] = iron[s] * fx + iron[s + 1] * fy + iron[s + 2] * fz + iron[HARD_IRON + k]
        for k in range(3):
            acc[i, k], gyr[i, k] = rows[i, 19 + k], rows[i, 13 + k]
