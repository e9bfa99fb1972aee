"""Rotation kernels against scipy's Rotation, arrays of a million."""

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.measure import interleaved
from strapdown import rotation

N = 1_000_000
TARGET = 5.0  # times as fast as scipy


def run() -> list[tuple[str, float, float]]:
    """(what, ns per item here, ns per item in scipy)."""
    rng = np.random.default_rng(1)
    q, p = (rotation.q_normalise(rng.normal(size=(N, 4))) for _ in range(2))
    v, r = rng.normal(size=(N, 3)), rng.normal(size=(N, 3))
    m = rotation.matrix(q)
    # scipy's objects are made outside the clock: only the operation itself is compared
    sq, sp = Rotation.from_quat(q, scalar_first=True), Rotation.from_quat(p, scalar_first=True)
    pairs = {
        "compose": (lambda: rotation.q_mul(q, p), lambda: sq * sp),
        "rotate vectors": (lambda: rotation.q_rotate(q, v), lambda: sq.apply(v)),
        "exp": (lambda: rotation.q_exp(r), lambda: Rotation.from_rotvec(r)),
        "log": (lambda: rotation.q_log(q), lambda: sq.as_rotvec()),
        "to matrix": (lambda: rotation.matrix(q), lambda: sq.as_matrix()),
        "from matrix": (lambda: rotation.q_from_matrix(m), lambda: Rotation.from_matrix(m)),
        "to Euler ZYX": (lambda: rotation.euler_from_q(q), lambda: sq.as_euler("ZYX")),
    }
    rows = []
    for name, (ours, theirs) in pairs.items():
        ours(), theirs()  # compiled, pages touched
        best = interleaved({"ours": ours, "scipy": theirs}, rounds=4)
        rows.append((name, best["ours"] / N * 1e9, best["scipy"] / N * 1e9))
    return rows
