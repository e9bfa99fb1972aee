"""Readings of perfect instruments on one mount at an instant, from the row of the plant."""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.rotation import rotate

# numbers of the iron on a mount: hard iron (uT), soft iron (3 x 3 by rows)
HARD_IRON, SOFT_IRON, IRON = 0, 3, 12
# numbers of what is around a mount: its iron, the uniform field (uT, frame n), how many magnets are fixed in frame n
# and how many the body carries, and their rows: moment (A m2), position (m)
FIELD, FIXED, CARRIED, MAGNETS, MAGNET = 12, 15, 16, 17, 6
_MU0_4PI = 0.1  # uT m / A: mu0 / (4 pi) in microtesla
_NEAREST = 1e-3  # m: a magnet has a size


@internal
def dipole(mx, my, mz, rx, ry, rz):
    """Field (uT) of a magnet at r (m) from it."""
    r2 = max(rx * rx + ry * ry + rz * rz, _NEAREST * _NEAREST)
    r3 = r2 * math.sqrt(r2)
    along = 3.0 * (mx * rx + my * ry + mz * rz) / r2
    return _MU0_4PI * (along * rx - mx) / r3, _MU0_4PI * (along * ry - my) / r3, _MU0_4PI * (along * rz - mz) / r3


@internal
def ideal_row(felt, body, iron, field_n, magnets, fixed, carried, acc, gyr, mag):
    """Write acc (m/s2), gyr (rad/s) and mag (uT), frame s, of one mount; all are addresses.

    felt: row of the mount (live.PLANT_COLUMNS).
    body: row of the body of the vehicle.
    field_n: uniform field (uT).
    magnets: rows of MAGNET numbers, `fixed` of them in frame n, then `carried` ones in the frame of the body, which
        move with it.

    The iron of the mount acts on the field.
    """
    bx, by, bz = field_n[0], field_n[1], field_n[2]
    for k in range(fixed + carried):
        m = k * MAGNET
        mx, my, mz, px, py, pz = (
            magnets[m],
            magnets[m + 1],
            magnets[m + 2],
            magnets[m + 3],
            magnets[m + 4],
            magnets[m + 5],
        )
        if k >= fixed:
            mx, my, mz = rotate(body[3], body[4], body[5], body[6], mx, my, mz)
            px, py, pz = rotate(body[3], body[4], body[5], body[6], px, py, pz)
            px, py, pz = body[0] + px, body[1] + py, body[2] + pz
        dx, dy, dz = dipole(mx, my, mz, felt[0] - px, felt[1] - py, felt[2] - pz)
        bx, by, bz = bx + dx, by + dy, bz + dz
    fx, fy, fz = rotate(felt[3], -felt[4], -felt[5], -felt[6], bx, by, bz)
    for k in range(3):
        s = SOFT_IRON + 3 * k
        mag[k] = iron[s] * fx + iron[s + 1] * fy + iron[s + 2] * fz + iron[HARD_IRON + k]
        acc[k], gyr[k] = felt[19 + k], felt[13 + k]
