"""Sums over readings on an ellipsoid: one pass each, with no array of the problem's size except the residuals.

The ellipsoid is |C (y - h)| = 1 with a symmetric C. The order of its nine parameters is h_x, h_y, h_z, C_xx, C_yy,
C_zz, C_xy, C_xz, C_yz. Readings come centred and scaled to about 1, so that all sums are of one size.
"""

import math

import numpy as np

from strapdown.kernels.jit import internal, kernel, pointer, row


@kernel
def quadric_moments(y, weight, out):
    """Moments of the readings for the algebraic fit of a quadric.

    out (10, 10): weighted sum of m m^T with m the monomials of a quadric, x2 y2 z2 2xy 2xz 2yz 2x 2y 2z 1.
    """
    m = np.empty(10)
    out[:, :] = 0.0
    for k in range(len(y)):
        a, b, c = y[k, 0], y[k, 1], y[k, 2]
        m[0], m[1], m[2], m[3], m[4], m[5] = a * a, b * b, c * c, 2.0 * a * b, 2.0 * a * c, 2.0 * b * c
        m[6], m[7], m[8], m[9] = 2.0 * a, 2.0 * b, 2.0 * c, 1.0
        for i in range(10):
            t = weight[k] * m[i]
            for j in range(i + 1):
                out[i, j] += t * m[j]
    for i in range(10):
        for j in range(i):
            out[j, i] = out[i, j]


@kernel
def distances(y, h, c, variance, out):
    """Distances of the readings from the ellipsoid.

    out (n,): distance of each reading from the ellipsoid along its normal, to second order; outside is positive.

    Noise of this variance on every axis puts a reading on average outside of a curved surface, by half its variance
    times the curvature. This mean distance is subtracted.
    """
    m, p, trace = pointer(c), pointer(h), 0.0
    for i in range(9):
        trace += m[i] * m[i]
    for k in range(len(y)):
        z = row(y, k)
        zx, zy, zz = z[0] - p[0], z[1] - p[1], z[2] - p[2]
        wx = m[0] * zx + m[1] * zy + m[2] * zz
        wy = m[3] * zx + m[4] * zy + m[5] * zz
        wz = m[6] * zx + m[7] * zy + m[8] * zz
        r = math.sqrt(wx * wx + wy * wy + wz * wz) + 1e-300
        nx = (m[0] * wx + m[1] * wy + m[2] * wz) / r
        ny = (m[3] * wx + m[4] * wy + m[5] * wz) / r
        nz = (m[6] * wx + m[7] * wy + m[8] * wz) / r
        square = nx * nx + ny * ny + nz * nz
        out[k] = (r - 1.0 - 0.5 * variance * (trace - square)) / math.sqrt(square)


@internal
def _gradient(y, h, c, d, g, lean):
    """Gradient at the foot of reading y on the ellipsoid: g, the derivatives of the distance; lean, its unit normal.

    Noise moves the foot only along the surface, and the distance only across it. The product of both has zero mean, so
    sums of gradient times distance are without bias.
    """
    zx, zy, zz = y[0] - h[0], y[1] - h[1], y[2] - h[2]
    for step in range(2):
        if step == 1:
            zx, zy, zz = zx - d * lean[0], zy - d * lean[1], zz - d * lean[2]
        ux = c[0] * zx + c[1] * zy + c[2] * zz
        uy = c[3] * zx + c[4] * zy + c[5] * zz
        uz = c[6] * zx + c[7] * zy + c[8] * zz
        r = math.sqrt(ux * ux + uy * uy + uz * uz) + 1e-300
        ux, uy, uz = ux / r, uy / r, uz / r
        nx = c[0] * ux + c[1] * uy + c[2] * uz
        ny = c[3] * ux + c[4] * uy + c[5] * uz
        nz = c[6] * ux + c[7] * uy + c[8] * uz
        s = math.sqrt(nx * nx + ny * ny + nz * nz)
        lean[0], lean[1], lean[2] = nx / s, ny / s, nz / s
    g[0], g[1], g[2] = -lean[0], -lean[1], -lean[2]
    ux, uy, uz = ux / s, uy / s, uz / s
    g[3], g[4], g[5] = ux * zx, uy * zy, uz * zz
    g[6], g[7], g[8] = ux * zy + uy * zx, ux * zz + uz * zx, uy * zz + uz * zy


@kernel
def normal_equations(y, weight, h, c, d, cutoff, matrix, side):
    """Normal equations of one step of the fit.

    matrix (9, 9) and side (9,): equations of the step that reduces the distances d; Tukey's weights times `weight`.
    """
    work = np.empty(12)
    g, lean, centre, shape = pointer(work), pointer(work[9:]), pointer(h), pointer(c)
    matrix[:, :] = 0.0
    side[:] = 0.0
    for k in range(len(y)):
        t = d[k] / cutoff
        if t * t >= 1.0:
            continue
        omega = weight[k] * (1.0 - t * t) ** 2
        _gradient(row(y, k), centre, shape, d[k], g, lean)
        for i in range(9):
            a = omega * g[i]
            side[i] -= a * d[k]
            for j in range(i + 1):
                matrix[i, j] += a * g[j]
    for i in range(9):
        for j in range(i):
            matrix[j, i] = matrix[i, j]


@kernel
def influence(y, weight, h, c, d, cutoff, block, cubes, slope, scores, gains, bent):
    """Influence of the data on the solution.

    slope (9, 9): derivative of the sum of scores by the parameters.

    scores (blocks, 9): contributions of each block to the normal equations.
    gains (blocks, 9, 3): their derivative by a bias of each axis during the block.
    bent (9, 3): their derivative by a nonlinearity cubes (n, 3) of each axis.
    """
    work = np.empty(12)
    g, lean, centre, shape = pointer(work), pointer(work[9:]), pointer(h), pointer(c)
    slope[:, :] = 0.0
    scores[:, :] = 0.0
    gains[:, :, :] = 0.0
    bent[:, :] = 0.0
    for k in range(len(y)):
        t = d[k] / cutoff
        if t * t >= 1.0:
            continue
        b = block[k]
        keep = 1.0 - t * t
        omega = weight[k] * keep * keep
        steep = weight[k] * keep * (1.0 - 5.0 * t * t)  # derivative of omega d by d
        _gradient(row(y, k), centre, shape, d[k], g, lean)
        for i in range(9):
            scores[b, i] += omega * d[k] * g[i]
            a = steep * g[i]
            for j in range(i + 1):
                slope[i, j] += a * g[j]
            for j in range(3):
                gains[b, i, j] += a * lean[j]
                bent[i, j] += a * lean[j] * cubes[k, j]
    for i in range(9):
        for j in range(i):
            slope[j, i] = slope[i, j]
