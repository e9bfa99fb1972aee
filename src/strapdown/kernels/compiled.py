"""The kernels that the API calls, each with the types that it is called with; compiled, or loaded from numba's cache.

Commands call compile_kernels first, for the kernels they need, so that a first run can show its progress.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from numba import boolean, config, float64, int64, types, uint8, uint16

from strapdown.kernels import frames, mounts, rotation, whitening
from strapdown.kernels.calibration import allan, ellipsoid, turns
from strapdown.kernels.compiling import compile_each, compile_one, requested_files
from strapdown.kernels.devices import frames as device_frames
from strapdown.kernels.environment import control, low_pass
from strapdown.kernels.motion import vibration
from strapdown.kernels.navigation import dead_reckoning as strapdown
from strapdown.kernels.navigation import ekf15, mechanisation, stop_detectors, stop_forward, stop_judge, stop_segments
from strapdown.kernels.navigation.eskf import filter as eskf
from strapdown.kernels.navigation.eskf import smoother as eskf_smoother
from strapdown.kernels.orientation import complementary, gyro, madgwick, mahony, mahony_lanes, paper_b, start
from strapdown.kernels.orientation.lodestar import filter as lodestar
from strapdown.kernels.orientation.lodestar import smoother as lodestar_smoother
from strapdown.kernels.orientation.mekf import filter as mekf
from strapdown.kernels.orientation.vqf import filter as vqf
from strapdown.kernels.orientation.vqf import smoother as vqf_smooth
from strapdown.kernels.sensors import chain_supply, draws, live_chain
from strapdown.kernels.vehicles import coaxial, memory, rotors, wheels

_IN1 = types.Array(float64, 1, "C", readonly=True)
_IN2 = types.Array(float64, 2, "C", readonly=True)
_IN3 = types.Array(float64, 3, "C", readonly=True)
_COUNTS1 = types.Array(int64, 1, "C", readonly=True)
_OUT1 = types.Array(float64, 1, "C")
_OUT2 = types.Array(float64, 2, "C")
_OUT3 = types.Array(float64, 3, "C")
_OUT4 = types.Array(float64, 4, "C")
_COUNTS_OUT1 = types.Array(int64, 1, "C")
_FLAGS_OUT2 = types.Array(boolean, 2, "C")
_RNG = types.npy_rng
_COUNTS_IN2 = types.Array(int64, 2, "C", readonly=True)
_COUNTS_OUT2 = types.Array(int64, 2, "C")
_FLAGS_OUT1 = types.Array(boolean, 1, "C")
_FLAGS_IN1 = types.Array(boolean, 1, "C", readonly=True)
_BYTES_IN1 = types.Array(uint8, 1, "C", readonly=True)
_BYTES_OUT1 = types.Array(uint8, 1, "C")
_BYTES_OUT2 = types.Array(uint8, 2, "C")
_WORDS_IN1 = types.Array(uint16, 1, "C", readonly=True)

# of every orientation filter: its step, and its loop over rows
_STEP = (_OUT1, _IN1, _IN1, _IN1, _IN1, float64)
_ROWS = (_OUT1, _IN1, _IN1, _IN2, _IN2, _IN2, _FLAGS_IN1, _OUT2, _OUT2, _OUT2, _OUT1)

KERNELS = (
    (
        device_frames.decode,
        (_BYTES_IN1, _BYTES_OUT1, _COUNTS_OUT1, _WORDS_IN1, _BYTES_IN1, int64, _BYTES_OUT2, _COUNTS_OUT1),
    ),
    (allan.allan_variances, (_IN2, _COUNTS1, _OUT2)),
    (ellipsoid.quadric_moments, (_IN2, _IN1, _OUT2)),
    (ellipsoid.distances, (_IN2, _IN1, _IN2, float64, _OUT1)),
    (ellipsoid.normal_equations, (_IN2, _IN1, _IN1, _IN2, _IN1, float64, _OUT2, _OUT1)),
    (
        ellipsoid.influence,
        (_IN2, _IN1, _IN1, _IN2, _IN1, float64, _COUNTS1, _IN2, _OUT2, _OUT2, _OUT3, _OUT2),
    ),
    (
        turns.turn_rows,
        (_IN1, _IN2, _IN2, _COUNTS1, _COUNTS1, _IN1, _IN2, _IN2, _IN1, _OUT2, _OUT4),
    ),
    (whitening.factor, (_OUT2,)),
    (whitening.whiten, (_OUT2, _OUT2)),
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
    (mounts.read_mounts, (_COUNTS1, _COUNTS1, _OUT2, _OUT2, _OUT2, _OUT2, _OUT2, _IN1, _IN2, _IN2, _OUT2)),
    (mounts.all_within, (_OUT1, _OUT1, float64)),
    (
        vibration.felt_rows,
        (_OUT3, int64, int64, float64, _OUT1, _IN2, _IN2, _OUT1, int64, _IN1, _OUT2, _OUT2, _OUT2),
    ),
    (control.attitude_rate, (_IN1, _IN1, float64, float64, float64, _IN1, _OUT1)),
    (control.rate_torque, (_IN1, _IN1, _IN1, float64, _IN1, _OUT1)),
    (control.velocity_tilt, (_IN1, _IN1, _IN1, _IN1, float64, _IN1, _OUT1)),
    (control.mix, (float64, _IN1, _IN2, _OUT1)),
    (low_pass.low_pass, (_IN1, _IN1, float64, _OUT1)),
    (low_pass.second_order, (_IN1, _IN1, _IN1, *5 * (float64,), _OUT1, _OUT1, _OUT1)),
    (live_chain.read_rows, (_IN1, _COUNTS_IN2, _OUT1, _OUT2, _IN1, _IN2, _IN2, _IN2, _IN1, _OUT2)),
    (live_chain.take_apart, (_OUT2, int64, int64, int64, _OUT1, _OUT2, _FLAGS_OUT2, _COUNTS_OUT1)),
    (draws.draw_normals, (_RNG, _OUT1)),
    (draws.draw_uniforms, (_RNG, _OUT1)),
    (chain_supply.first_uneven, (_IN1, float64, float64)),
    (strapdown.dead_reckon, (_IN1, _IN2, _IN2, _IN1, _OUT2, _OUT2, _OUT2)),
    (strapdown.dead_reckon_increments, (_IN1, _IN2, _IN2, _IN1, _IN1, _IN1, _IN1, _OUT2, _OUT2, _OUT2)),
    (mechanisation.increments_of_points_rows, (_IN1, _IN2, _IN2, _OUT2, _OUT2)),
    (mechanisation.increments_of_means_rows, (_IN1, _IN2, _IN2, _OUT2, _OUT2)),
    (ekf15.rows, (_OUT1, _IN1, _COUNTS1, _IN1, _IN1, _IN1, _IN1, _OUT1, _OUT1, _COUNTS_OUT1, _OUT1)),
    (ekf15.deviations, (_OUT1, _OUT1)),
    (
        eskf.rows,
        (_OUT1, _IN1, _COUNTS1, _IN1, _IN1, _IN1, _IN1, _IN1, _OUT1, _OUT1, _OUT1, _COUNTS_OUT1, _OUT1, _OUT1),
    ),
    (
        stop_detectors.rows,
        (_OUT1, _IN1, _IN1, _IN1, _IN1, int64, _OUT1, _OUT1, types.Array(boolean, 1, "C")),
    ),
    (stop_judge.rows, (_OUT1, _IN1, _COUNTS1, _IN1, _IN1, _IN1, _COUNTS_OUT1, _OUT1)),
    (stop_forward.rows, (_OUT1, _IN1, _COUNTS1, _IN1, _IN1, _IN1, _IN1, _IN1, _COUNTS_OUT1, _OUT1, _OUT1)),
    (stop_segments.turned_back, (_IN2, _IN2, _IN1, _IN1, _OUT2, _OUT2, _OUT1)),
    (stop_segments.cut, (_IN2, _IN1, _FLAGS_IN1, float64, int64, _COUNTS_OUT1)),
    (stop_segments.chain, (_IN2, _IN1, int64, int64, _FLAGS_OUT1)),
    (eskf_smoother.backward_rows, (_OUT1, _OUT2, _OUT2, _OUT2, _OUT2, _OUT2)),
    (start.attitude_from, (*6 * (float64,), boolean, float64)),
    # two processes begin at the two ends: what has parts in common stands together
    (lodestar.step, _STEP),
    (lodestar.rows, _ROWS),
    (lodestar_smoother.smooth_rows, _ROWS),
    (vqf.step, _STEP),
    (vqf.rows, _ROWS),
    (vqf_smooth.smooth_rows, _ROWS),
    *((kernel, _STEP) for kernel in (gyro.step, paper_b.step, complementary.step, mahony.step, madgwick.step)),
    *((kernel, _ROWS) for kernel in (gyro.rows, paper_b.rows, complementary.rows, mahony.rows, madgwick.rows)),
    (mahony_lanes.rows, (_OUT2, _IN1, _IN2, _IN3, _IN3, _IN3, _IN2, _OUT3, _OUT3, _OUT2)),
    (mekf.step, _STEP),
    (mekf.rows, _ROWS),
    (memory.settle, (_OUT1, int64, _OUT1, _OUT1, float64)),
    (
        rotors.rotor_steps,
        (
            *(_COUNTS1, int64, _OUT1, _IN2, _IN1, _OUT1, _OUT1, _OUT1, float64),
            *(_OUT1, _OUT1, float64, _OUT1, _OUT1),
            *(_COUNTS1, _COUNTS1, *5 * (_OUT2,), _IN1, _IN2, _IN2, _OUT3, _OUT2),
        ),
    ),
    (coaxial.coaxial_forces, (_OUT1, _IN1, _OUT1, _OUT1, float64, _OUT1)),
    (wheels.wheel_torques, (_OUT1, _IN2, _OUT1, float64, _OUT1)),
    (wheels.settle_wheels, (_OUT1, _IN2, _OUT1, _OUT1, float64)),
)


_HERE = "strapdown.kernels."

MOTION = ("rotation",)  # what every command needs; a file or folder of kernels/, dots between names
ENGINES = ("frames",)  # what logs of an engine need
ERRORS = ("sensors",)  # what virtual sensors need

_fixed: set[Any] = set()  # kernels that accept their listed signature only


def kernels_of(files: Sequence[str], live: bool = False) -> list[tuple[Any, Any]]:
    """The kernels of the named files or folders ("navigation.eskf"), each with its signature.

    live: including the steps that only live programs call; without it they are compiled at their first call.
    """
    wanted = tuple(f"{_HERE}{file}." for file in files)
    found = [item for item in KERNELS if f"{item[0].__module__}.".startswith(wanted)]
    return [item for item in found if live or item[0].__name__ != "step"]


def compile_kernels(files: Sequence[str], live: bool = False, helped: bool = True) -> Iterator[bool]:
    """Compile or load kernels; yields for each whether it had to be compiled (False: it was in the cache).

    helped: compile on all cores, which takes less time and more work: each process imports numba, and some callees are
    compiled in several of them.
    """
    if config.DISABLE_JIT:
        return
    kernels = [item for item in kernels_of(files, live) if item[0] not in _fixed]

    def request(modules: list[str]) -> str:
        return f"{','.join(module.removeprefix(_HERE) for module in modules)} {'live' if live else ''}"

    yield from compile_each(kernels, request, helped)


def help_to_compile() -> None:
    """Body of a helper process: compile files of kernels, into the cache, as the parent process asks for them."""
    for request in requested_files():
        files, _, live = request.partition(" ")
        for kernel, signature in kernels_of(files.split(","), live == "live"):
            compile_one(kernel, signature)


def compile_all() -> Iterator[bool]:
    """Compile or load all kernels, those of live programs too."""
    return compile_kernels(sorted({kernel.__module__.removeprefix(_HERE) for kernel, _ in KERNELS}), live=True)


def fix_signature(kernel: Any) -> None:
    """Compile or load a kernel, and let it accept its listed signature only.

    The kernel then takes writable arrays where read-only ones are listed. Without this numba would compile it again for
    every mixture of the two.
    """
    if kernel in _fixed or config.DISABLE_JIT:
        return
    for item, signature in KERNELS:
        if item is kernel:
            compile_one(kernel, signature)
            kernel.disable_compile()
            _fixed.add(kernel)
