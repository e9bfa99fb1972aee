"""Compiles kernels for the arrays they get in use, or loads them from numba's cache.

Commands call this first, for the kernels they need, so that a user's first run says what it is doing instead of
standing still.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numba import boolean, float64, int64, types

from strapdown.kernels import (
    allan,
    complementary,
    drift,
    ekf15,
    ellipsoid,
    error_chain,
    eskf,
    eskf_smoother,
    frames,
    gyro,
    lodestar,
    lodestar_smoother,
    madgwick,
    mahony,
    mahony_lanes,
    mechanisation,
    mekf,
    paper_b,
    rotation,
    stop_detectors,
    stop_judge,
    strapdown,
    vqf,
    vqf_smooth,
)

_IN1 = types.Array(float64, 1, "C", readonly=True)
_IN2 = types.Array(float64, 2, "C", readonly=True)
_IN3 = types.Array(float64, 3, "C", readonly=True)
_COUNTS1 = types.Array(int64, 1, "C", readonly=True)
_OUT1 = types.Array(float64, 1, "C")
_OUT2 = types.Array(float64, 2, "C")
_OUT3 = types.Array(float64, 3, "C")
_COUNTS_OUT1 = types.Array(int64, 1, "C")
_FLAGS_OUT2 = types.Array(boolean, 2, "C")
_RNG = types.npy_rng
_COUNTS_OUT2 = types.Array(int64, 2, "C")
_FLAGS_IN1 = types.Array(boolean, 1, "C", readonly=True)

# of every orientation filter: its step, and its loop over rows
_STEP = (_OUT1, _IN1, _IN1, _IN1, float64)
_ROWS = (_OUT1, _IN1, _IN2, _IN2, _IN2, _FLAGS_IN1, _OUT2, _OUT2, _OUT2, _OUT1)

KERNELS = (
    (allan.allan_variances, (_IN2, _COUNTS1, _OUT2)),
    (ellipsoid.quadric_moments, (_IN2, _IN1, _OUT2)),
    (ellipsoid.distances, (_IN2, _IN1, _IN2, float64, _OUT1)),
    (ellipsoid.normal_equations, (_IN2, _IN1, _IN1, _IN2, _IN1, float64, _OUT2, _OUT1)),
    (
        ellipsoid.influence,
        (_IN2, _IN1, _IN1, _IN2, _IN1, float64, _COUNTS1, _IN2, _OUT2, _OUT2, _OUT3, _OUT2),
    ),
    (rotation.mul_rows, (_IN2, _IN2, _OUT2)),
    (rotation.rotate_rows, (_IN2, _IN2, _OUT2)),
    (rotation.exp_rows, (_IN2, _OUT2)),
    (rotation.log_rows, (_IN2, _OUT2)),
    (rotation.euler_rows, (_IN2, _OUT2)),
    (rotation.slerp_rows, (_IN2, _IN2, _IN1, _OUT2)),
    (rotation.matrix_rows, (_IN2, _OUT3)),
    (rotation.from_matrix_rows, (_IN3, _OUT2)),
    (frames.mounted_rows, (_IN2, _IN1, _IN1, _IN1, _OUT2, _OUT2, _OUT2, _OUT2, _OUT2, _OUT2)),
    (frames.unexplained_rows, (_IN2, _IN1, _IN1, _OUT1, _OUT1)),
    (
        error_chain.measure_rows,
        (
            *(_IN2, _IN2, _IN1, _COUNTS1, int64, _IN1, _IN1, _IN2, _IN2, _IN1, _IN2, _IN2, boolean),
            *(_IN1, _RNG, _IN2, int64, _IN1, _RNG, float64, float64, _OUT2, _FLAGS_OUT2),
        ),
    ),
    (
        error_chain.arrival_rows,
        (_IN1, int64, float64, float64, _RNG, float64, _RNG, float64, _OUT1, _COUNTS_OUT1),
    ),
    (error_chain.first_bad_row, (_IN2,)),
    (error_chain.first_uneven, (_IN1, float64, float64)),
    (drift.drift_grid, (_COUNTS1, _IN1, _IN1, _IN1, _RNG, _IN1, _RNG, _OUT2)),
    (drift.matlab_drift_rows, (_IN1, _IN1, _IN1, _RNG, _IN1, _RNG, _OUT2)),
    (strapdown.dead_reckon, (_IN1, _IN2, _IN2, _IN1, _OUT2, _OUT2, _OUT2)),
    (strapdown.dead_reckon_increments, (_IN1, _IN2, _IN2, _IN1, _IN1, _IN1, _IN1, _OUT2, _OUT2, _OUT2)),
    (mechanisation.increments_of_points_rows, (_IN1, _IN2, _IN2, _OUT2, _OUT2)),
    (mechanisation.increments_of_means_rows, (_IN1, _IN2, _IN2, _OUT2, _OUT2)),
    (ekf15.step, (_OUT1, _IN1, int64, _IN1, _IN1, _IN1, float64)),
    (ekf15.rows, (_OUT1, _IN1, _COUNTS1, _IN2, _IN2, _IN2, _IN1, _OUT2, _OUT2, _COUNTS_OUT1, _OUT1)),
    (ekf15.deviations, (_OUT1, _OUT1)),
    (eskf.step, (_OUT1, _IN1, int64, _IN1, _IN1, _IN1, _IN1, float64, _OUT1)),
    (
        eskf.rows,
        (_OUT1, _IN1, _COUNTS1, _IN2, _IN2, _IN2, _IN2, _IN1, _OUT2, _OUT2, _OUT2, _COUNTS_OUT2, _OUT2, _OUT2),
    ),
    (stop_detectors.shoe_rows, (_IN2, _IN2, float64, float64, float64, int64, int64, _OUT1)),
    (stop_detectors.ared_rows, (_IN2, float64, int64, int64, _OUT1)),
    (stop_detectors.moving_variance_rows, (_IN2, float64, int64, int64, _OUT1)),
    (stop_detectors.magnitude_rows, (_IN2, float64, float64, int64, int64, _OUT1)),
    (
        stop_detectors.gait_threshold_rows,
        (_OUT1, _IN1, _IN1, float64, float64, float64, float64, _OUT1, types.Array(boolean, 1, "C")),
    ),
    (stop_judge.step, (_OUT1, _IN1, int64, _IN1, _IN1, float64)),
    (stop_judge.rows, (_OUT1, _IN1, _COUNTS1, _IN2, _IN2, _IN1, _COUNTS_OUT1, _OUT1, _OUT1)),
    (eskf_smoother.backward_rows, (_OUT1, _OUT2, _OUT2, _OUT2, _OUT2, _OUT2)),
    # the long ones to the front and the shared ones to the back: two processes meet in the middle (compile_kernels)
    (lodestar.step, _STEP),
    (lodestar.rows, _ROWS),
    (lodestar_smoother.smooth_rows, _ROWS),
    (mekf.step, _STEP),
    (mekf.rows, _ROWS),
    *((kernel, _STEP) for kernel in (gyro.step, paper_b.step, complementary.step, mahony.step, madgwick.step)),
    *((kernel, _ROWS) for kernel in (gyro.rows, paper_b.rows, complementary.rows, mahony.rows, madgwick.rows)),
    (mahony_lanes.rows, (_OUT2, _IN2, _IN3, _IN3, _IN3, _IN2, _OUT3, _OUT3, _OUT2)),
    (vqf.step, _STEP),
    (vqf.rows, _ROWS),
    (vqf_smooth.smooth_rows, _ROWS),
)


_ALONE = "STRAPDOWN_COMPILES_ALONE"  # in the environment: this process has no second one beside it

MOTION = ("rotation", "frames")  # what every command needs, by file of kernels/
ERRORS = ("error_chain", "drift")


def kernels_of(files: Sequence[str]) -> list[tuple[Any, Any]]:
    """The kernels of the named files, each with its signature."""
    return [item for item in KERNELS if item[0].__module__.rpartition(".")[2] in files]


def compile_kernels(files: Sequence[str]) -> Iterator[bool]:
    """Make kernels ready one by one; yields for each whether it had to be compiled (False: found in the cache).

    If some are not in the cache a second process begins with the last one, and both meet in the middle: what the other
    has compiled comes from the cache.
    """
    kernels = kernels_of(files)
    missing = sum(not _in_cache(kernel) for kernel, _ in kernels)
    other = _second_process(files) if missing > 1 and not os.environ.get(_ALONE) else None
    try:
        for kernel, signature in kernels:
            before = sum(kernel.stats.cache_misses.values())
            if kernel._can_compile:  # else it is settled, and ready
                kernel.compile(signature)
            yield sum(kernel.stats.cache_misses.values()) > before
    finally:
        if other is not None:
            other.kill()
            other.wait()


def _in_cache(kernel: Any) -> bool:
    """Has numba an index of it on disk? It need not be of this version: then it is compiled all the same."""
    return Path(kernel._cache._cache_file._index_path).is_file()


def _second_process(files: Sequence[str]) -> "subprocess.Popen[bytes]":
    program = f"from strapdown.kernels.compiled import compile_backward; compile_backward({list(files)!r})"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, _ALONE: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def compile_backward(files: Sequence[str]) -> None:
    """The kernels of the named files from the last to the first, into the cache."""
    for kernel, signature in reversed(kernels_of(files)):
        kernel.compile(signature)


def compile_all() -> Iterator[bool]:
    """Make all kernels ready."""
    return compile_kernels(sorted({kernel.__module__.rpartition(".")[2] for kernel, _ in KERNELS}))


def settle(kernel: Any) -> None:
    """Keep a kernel to its listed signature, ready or made so now.

    Arrays may then be writable or not: without this numba compiles a kernel anew for every mixture of them.
    """
    if kernel._can_compile:
        for item, signature in KERNELS:
            if item is kernel:
                kernel.compile(signature)
                kernel.disable_compile()
