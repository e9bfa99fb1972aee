"""Compiles kernels for the arrays they get in use, or loads them from numba's cache.

Commands call this first, for the kernels they need, so that a user's first run says what it is doing instead of
standing still.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numba import boolean, float64, int64, types

from strapdown.kernels import frames, rotation
from strapdown.kernels.calibration import allan, ellipsoid
from strapdown.kernels.navigation import dead_reckoning as strapdown
from strapdown.kernels.navigation import ekf15, mechanisation, stop_detectors, stop_gain, stop_judge
from strapdown.kernels.navigation.eskf import filter as eskf
from strapdown.kernels.navigation.eskf import smoother as eskf_smoother
from strapdown.kernels.orientation import complementary, gyro, madgwick, mahony, mahony_lanes, paper_b
from strapdown.kernels.orientation.lodestar import filter as lodestar
from strapdown.kernels.orientation.lodestar import smoother as lodestar_smoother
from strapdown.kernels.orientation.mekf import filter as mekf
from strapdown.kernels.orientation.vqf import filter as vqf
from strapdown.kernels.orientation.vqf import smoother as vqf_smooth
from strapdown.kernels.sensors import chain_supply, draws, error_chain, live_chain, module

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
_COUNTS_IN2 = types.Array(int64, 2, "C", readonly=True)
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
    (live_chain.read_rows, (_IN1, _OUT1, _OUT2, _IN1, _IN2, _IN2, _IN1, _OUT2, _OUT2)),
    (draws.draw_normals, (_RNG, _OUT1)),
    (draws.draw_uniforms, (_RNG, _OUT1)),
    (chain_supply.first_uneven, (_IN1, float64, float64)),
    (module.module_rows, (_IN1, _COUNTS_IN2, _OUT1, _OUT2, _IN1, _IN2, _IN2, _IN2, _IN1, _OUT2, _OUT3, _OUT2)),
    (
        error_chain.measure_rows,
        (_IN1, _OUT1, _OUT2, *6 * (_RNG,), _IN1, _IN2, _IN2, _IN1, _OUT1, _OUT2, _FLAGS_OUT2, _COUNTS_OUT1),
    ),
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
    (stop_judge.rows, (_OUT1, _IN1, _COUNTS1, _IN2, _IN2, _IN1, _COUNTS_OUT1, _OUT1, _OUT1, _OUT1)),
    (stop_gain.rest_rows, (_OUT1, _IN2, _IN1, float64, float64, float64, float64)),
    (eskf_smoother.backward_rows, (_OUT1, _OUT2, _OUT2, _OUT2, _OUT2, _OUT2)),
    # two processes begin at the two ends: what has parts in common stands together
    (lodestar.step, _STEP),
    (lodestar.rows, _ROWS),
    (lodestar_smoother.smooth_rows, _ROWS),
    (vqf.step, _STEP),
    (vqf.rows, _ROWS),
    (vqf_smooth.smooth_rows, _ROWS),
    *((kernel, _STEP) for kernel in (gyro.step, paper_b.step, complementary.step, mahony.step, madgwick.step)),
    *((kernel, _ROWS) for kernel in (gyro.rows, paper_b.rows, complementary.rows, mahony.rows, madgwick.rows)),
    (mahony_lanes.rows, (_OUT2, _IN2, _IN3, _IN3, _IN3, _IN2, _OUT3, _OUT3, _OUT2)),
    (mekf.step, _STEP),
    (mekf.rows, _ROWS),
)


_TAKEN = "STRAPDOWN_KERNELS_TAKEN"  # in the environment of a helping process: the folder of what is taken
_MOST_PROCESSES = 4
_HERE = "strapdown.kernels."

MOTION = ("rotation", "frames")  # what every command needs; a file or folder of kernels/, dots between names
ERRORS = ("sensors.module", "sensors.draws", "sensors.chain_supply")  # what a virtual module needs
TRIADS = ("sensors.error_chain", "sensors.chain_supply")  # for sensors without a module


def kernels_of(files: Sequence[str], live: bool = False) -> list[tuple[Any, Any]]:
    """The kernels of the named files or folders ("navigation.eskf"), each with its signature. live: with the steps
    that only live programs call; one that is called all the same is compiled then."""
    wanted = tuple(f"{_HERE}{file}." for file in files)
    found = [item for item in KERNELS if f"{item[0].__module__}.".startswith(wanted)]
    return [item for item in found if live or item[0].__name__ != "step"]


def compile_kernels(files: Sequence[str], live: bool = False) -> Iterator[bool]:
    """Make kernels ready one by one; yields for each whether it had to be compiled (False: found in the cache).

    If some are not in the cache other processes help, one for each further core, beginning at the other end. Who begins
    with a file of kernels takes it: its kernels have parts in common. The others find them in the cache.
    """
    kernels = kernels_of(files, live)
    missing = {kernel.__module__ for kernel, _ in kernels if not _in_cache(kernel)}
    count = min(os.cpu_count() or 1, _MOST_PROCESSES, len(missing)) - 1
    with ExitStack() as held:
        taken, helpers, later = Path(), [], []
        if count > 0 and _TAKEN not in os.environ:
            taken = Path(held.enter_context(TemporaryDirectory(prefix="strapdown-kernels-")))
            helpers = [_helper(files, live, taken) for _ in range(count)]
            held.callback(_end, helpers)
        for kernel, signature in kernels:
            if helpers and kernel.__module__ in missing and not _take(taken, kernel):
                later.append((kernel, signature))
                continue
            yield _made(kernel, signature)
        for process in helpers:
            process.wait()
        for kernel, signature in later:
            _made(kernel, signature)  # from the cache, or here if its process failed
            yield True


def _made(kernel: Any, signature: Any) -> bool:
    before = sum(kernel.stats.cache_misses.values())
    if kernel._can_compile:  # else it is settled, and ready
        kernel.compile(signature)
    return sum(kernel.stats.cache_misses.values()) > before


def _in_cache(kernel: Any) -> bool:
    """Has numba an index of it on disk? It need not be of this version: then it is compiled all the same."""
    return Path(kernel._cache._cache_file._index_path).is_file()


def _take(taken: Path, kernel: Any) -> bool:
    """Is the kernel's file ours to compile? It is if we took it already, or nobody did."""
    mark = taken / kernel.__module__
    try:
        with mark.open("x") as file:
            file.write(str(os.getpid()))
        return True
    except FileExistsError:
        return mark.read_text() == str(os.getpid())


def _helper(files: Sequence[str], live: bool, taken: Path) -> "subprocess.Popen[bytes]":
    program = f"from strapdown.kernels.compiled import help_to_compile; help_to_compile({list(files)!r}, {live})"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, _TAKEN: str(taken)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _end(processes: "Sequence[subprocess.Popen[bytes]]") -> None:
    for process in processes:
        process.kill()
        process.wait()


def help_to_compile(files: Sequence[str], live: bool) -> None:
    """Compile, into the cache, what no other process has taken: files from the last to the first."""
    taken = Path(os.environ[_TAKEN])
    names = dict.fromkeys(kernel.__module__ for kernel, _ in reversed(kernels_of(files, live)))
    for name in names:
        for kernel, signature in kernels_of([name.removeprefix(_HERE)], live):
            if _in_cache(kernel) or not _take(taken, kernel):
                break
            kernel.compile(signature)


def compile_all() -> Iterator[bool]:
    """Make all kernels ready, those of live programs too."""
    return compile_kernels(sorted({kernel.__module__.removeprefix(_HERE) for kernel, _ in KERNELS}), live=True)


def settle(kernel: Any) -> None:
    """Keep a kernel to its listed signature, ready or made so now.

    Arrays may then be writable or not: without this numba compiles a kernel anew for every mixture of them.
    """
    if kernel._can_compile:
        for item, signature in KERNELS:
            if item is kernel:
                kernel.compile(signature)
                kernel.disable_compile()
