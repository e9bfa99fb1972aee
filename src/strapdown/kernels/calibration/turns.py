"""The turn between two poses at rest, by integrating corrected rates, and its dependence on each part of the
correction.

A small change dw of the rate turns the attitude by phi = integral of C dw dt, expressed in the frame of the start. C
takes a vector from the body to that frame. Every unknown changes the corrected rate of an axis by a factor that is
integrated here together with C. The factor is the readings (the matrix), 1 (the bias), the force (g-sensitivity), or
the rate cubed.
"""

import numpy as np

from strapdown.kernels.jit import internal, kernel
from strapdown.kernels.rotation import exp, mul

BY_MATRIX, BY_ONE, BY_FORCE, BY_CUBE = 0, 3, 4, 7  # first of the sums of an axis
SUMS = 8


@internal
def _rate(gyr, force, i, bias, g_matrix, matrix, v, w):
    """Sample i: reading v without offset, and rate w before its cubic term."""
    for a in range(3):
        v[a] = gyr[i, a] - bias[a]
        for b in range(3):
            v[a] -= g_matrix[a, b] * force[i, b]
    for a in range(3):
        w[a] = matrix[a, 0] * v[0] + matrix[a, 1] * v[1] + matrix[a, 2] * v[2]


@kernel
def turn_rows(t, gyr, force, starts, ends, bias, g_matrix, matrix, cubic, q_out, sums):
    """For each turn from row starts[k] to row ends[k]: its quaternion (start from end), and the sums (3, 3, 8).

    Second order: the rate is linear between samples, with the term that the turning of its axis adds, at any spacing of
    the samples. sums[k, :, a, :] are vectors in the frame of the start, for axis a of the gyroscope.
    """
    v, w, last = np.empty(3), np.empty(3), np.empty(3)
    inner = np.empty((3, SUMS))
    for k in range(len(starts)):
        qw, qx, qy, qz = 1.0, 0.0, 0.0, 0.0
        sums[k] = 0.0
        for i in range(starts[k], ends[k] + 1):
            _rate(gyr, force, i, bias, g_matrix, matrix, v, w)
            before = t[i] - t[i - 1] if i > starts[k] else 0.0
            after = t[i + 1] - t[i] if i < ends[k] else 0.0
            share = 0.5 * (before + after)  # trapezoids
            for a in range(3):
                gain = share * (1.0 + 3.0 * cubic[a] * w[a] * w[a])
                inner[a, 0], inner[a, 1], inner[a, 2] = gain * v[0], gain * v[1], gain * v[2]
                inner[a, 3] = gain
                inner[a, 4], inner[a, 5], inner[a, 6] = gain * force[i, 0], gain * force[i, 1], gain * force[i, 2]
                inner[a, 7] = share * w[a] * w[a] * w[a]
            for a in range(3):
                w[a] += cubic[a] * w[a] * w[a] * w[a]
            if i > starts[k]:
                h, h2 = 0.5 * before, before * before / 12.0
                turn = exp(
                    h * (last[0] + w[0]) + h2 * (last[1] * w[2] - last[2] * w[1]),
                    h * (last[1] + w[1]) + h2 * (last[2] * w[0] - last[0] * w[2]),
                    h * (last[2] + w[2]) + h2 * (last[0] * w[1] - last[1] * w[0]),
                )
                qw, qx, qy, qz = mul(qw, qx, qy, qz, turn[0], turn[1], turn[2], turn[3])
            last[0], last[1], last[2] = w[0], w[1], w[2]
            # columns of C: where the body's axes point at this sample
            c00, c10, c20 = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qw * qz), 2.0 * (qx * qz - qw * qy)
            c01, c11, c21 = 2.0 * (qx * qy - qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz + qw * qx)
            c02, c12, c22 = 2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
            for s in range(SUMS):
                sums[k, 0, 0, s] += c00 * inner[0, s]
                sums[k, 1, 0, s] += c10 * inner[0, s]
                sums[k, 2, 0, s] += c20 * inner[0, s]
                sums[k, 0, 1, s] += c01 * inner[1, s]
                sums[k, 1, 1, s] += c11 * inner[1, s]
                sums[k, 2, 1, s] += c21 * inner[1, s]
                sums[k, 0, 2, s] += c02 * inner[2, s]
                sums[k, 1, 2, s] += c12 * inner[2, s]
                sums[k, 2, 2, s] += c22 * inner[2, s]
        q_out[k, 0], q_out[k, 1], q_out[k, 2], q_out[k, 3] = qw, qx, qy, qz
