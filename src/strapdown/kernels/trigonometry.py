"""Half angles and the arc tangent without branches, so that loops over them run several items at a time.

The library's own functions have branches and process one item at a time. These functions agree with them to a few units
in the last place (tests). The arc tangent's polynomials are those of Cephes' atan.c (Moshier 1984). Their arithmetic is
neither fused nor reordered, so they give the same bits whether a loop or a single step calls them.
"""

import math

from strapdown.kernels.jit import internal_fused

LARGEST_ANGLE = 2.0 * math.pi  # rad; up to here the series below reach the last digit


_S = tuple((-1.0) ** n / math.factorial(2 * n + 1) for n in range(12))
_C = tuple((-1.0) ** n / math.factorial(2 * n) for n in range(12))


@internal_fused
def half_angle(angle2):
    """cos(a/2) and sin(a/2)/a for the square of an angle a from 0 to LARGEST_ANGLE.

    cos h and sin(h)/h are power series in z = h^2. At h = a/4 <= pi/2 twelve terms are enough (the next is 2e-18). The
    double angle leads to a/2 without a root, a division or a special case at 0.
    """
    z = angle2 * 0.0625
    s = _S[0] + z * (
        _S[1]
        + z
        * (
            _S[2]
            + z
            * (
                _S[3]
                + z
                * (
                    _S[4]
                    + z * (_S[5] + z * (_S[6] + z * (_S[7] + z * (_S[8] + z * (_S[9] + z * (_S[10] + z * _S[11]))))))
                )
            )
        )
    )
    c = _C[0] + z * (
        _C[1]
        + z
        * (
            _C[2]
            + z
            * (
                _C[3]
                + z
                * (
                    _C[4]
                    + z * (_C[5] + z * (_C[6] + z * (_C[7] + z * (_C[8] + z * (_C[9] + z * (_C[10] + z * _C[11]))))))
                )
            )
        )
    )
    return 1.0 - 2.0 * z * s * s, 0.5 * s * c


@internal_fused
def arc_tangent(y, x):
    """atan2(y, x); 0 where both are 0."""
    ay, ax = abs(y), abs(x)
    steep = ay > ax
    low, high = (ax if steep else ay), (ay if steep else ax)
    high = 1.0 if high == 0.0 else high
    # above tan(pi/8) measure from pi/4: atan(low/high) = pi/4 + atan((low - high)/(low + high))
    near = low > 0.41421356237309503 * high
    t = (low - high if near else low) / (low + high if near else high)
    z = t * t
    p = (
        (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z - 7.500855792314704667340e1) * z)
        - 1.228866684490136173410e2
    ) * z - 6.485021904942025371773e1
    q = (
        (((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z + 4.328810604912902668951e2) * z
        + 4.853903996359136964868e2
    ) * z + 1.945506571482613964425e2
    angle = t + t * (z * p / q)
    # pi/4 and pi/2 carry what their first 53 bits leave out
    angle = 0.25 * math.pi + (angle + 3.061616997868383e-17) if near else angle
    angle = 0.5 * math.pi - (angle - 6.123233995736766e-17) if steep else angle
    angle = math.pi - (angle - 1.2246467991473532e-16) if x < 0.0 else angle
    return -angle if y < 0.0 else angle
