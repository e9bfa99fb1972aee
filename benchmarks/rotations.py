"""Rotation kernels against scipy's Rotation, arrays of a million."""

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.measure import interleaved
from strapdown import rotation
from strapdown.kernels import rotation as kernel

N = 1_000_000
TARGET = 5.0  # times as fast as scipy


def run() -> list[tuple[str, float, float, float]]:
    """(what, ns per item of the kernel into memory at hand, of the call that makes a new array, of scipy)."""
    rng = np.random.default_rng(1)
    q, p = (rotation.q_normalise(rng.normal(size=(N, 4))) for _ in range(2))
    v, r = rng.normal(size=(N, 3)), rng.normal(size=(N, 3))
    m = rotation.matrix(q)
    scipy_v, scipy_r, scipy_m = v.copy(), r.copy(), m.copy()
    for array in (q, p, v, r, m):
        array.flags.writeable = False  # the kernels are compiled for locked input, scipy refuses it
    out3, out4, out9 = np.zeros((N, 3)), np.zeros((N, 4)), np.zeros((N, 3, 3))
    # scipy's objects are made outside the clock: only the operation itself is compared
    sq, sp = Rotation.from_quat(q, scalar_first=True), Rotation.from_quat(p, scalar_first=True)
    rivals = {
        "compose": (lambda: kernel.mul_rows(q, p, out4), lambda: rotation.q_mul(q, p), lambda: sq * sp),
        "rotate vectors": (
            lambda: kernel.rotate_rows(q, v, out3),
            lambda: rotation.q_rotate(q, v),
            lambda: sq.apply(scipy_v),
        ),
        "exp": (lambda: kernel.exp_rows(r, out4), lambda: rotation.q_exp(r), lambda: Rotation.from_rotvec(scipy_r)),
        "log": (lambda: kernel.log_rows(q, out3), lambda: rotation.q_log(q), lambda: sq.as_rotvec()),
        "to matrix": (lambda: kernel.matrix_rows(q, out9), lambda: rotation.matrix(q), lambda: sq.as_matrix()),
        "from matrix": (
            lambda: kernel.from_matrix_rows(m, out4),
            lambda: rotation.q_from_matrix(m),
            lambda: Rotation.from_matrix(scipy_m),
        ),
        "to Euler ZYX": (
            lambda: kernel.euler_rows(q, out3),
            lambda: rotation.euler_from_q(q),
            lambda: sq.as_euler("ZYX"),
        ),
    }
    rows = []
    for name, (into, new, scipy) in rivals.items():
        into(), new(), scipy()  # compiled, pages touched
        best = interleaved({"into": into, "new": new, "scipy": scipy}, rounds=4)
        rows.append((name, *(best[key] / N * 1e9 for key in ("into", "new", "scipy"))))
    return rows
