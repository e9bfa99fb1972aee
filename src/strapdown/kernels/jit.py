"""Decorators of kernels, and arrays as the address of their first number.

An access `state[3]` to an array costs numba thirty lines of code, which LLVM removes again; to a pointer, three lines.
The machine code is the same. So functions that only kernels call take pointers.

With NUMBA_DISABLE_JIT=1 numba's decorators return the function unchanged, and pointers are numpy views. Kernels then
run as Python, slowly, and a debugger can step through them.
"""

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

from strapdown.kernels.callees import PIPELINE

try:
    from numba.core.options import DefaultOptions
except ImportError:  # numba has moved it; tests/kernels/test_numba.py reports that
    DefaultOptions = object

# fastmath is set everywhere: else numba takes it from the first caller that is compiled, and the last bit of a result
# would depend on which that was
EXACT: dict[str, object] = {"cache": True, "error_model": "numpy", "fastmath": False}
# called from Python; without numba's wrapper for callers in C, which takes longer to compile than many functions do
kernel = njit(**EXACT, no_cfunc_wrapper=True)
# the cache has callees as a part of the kernels that call them
_BARE = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PIPELINE}
internal = njit(**_BARE, fastmath=False)  # called by kernels only
internal_fused = njit(**_BARE, fastmath={"contract"})  # with products and sums fused
inlined = njit(**_BARE, fastmath=False, forceinline=True)  # for a few lines of arithmetic
inlined_fused = njit(**_BARE, forceinline=True, fastmath={"contract"})  # inlined and fused
# For live steps: without counting references to the arrays, a sixth of a step. The option's name is private to numba:
# a version that lacks it counts.
UNCOUNTED = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
live = njit(**EXACT, no_cfunc_wrapper=True, **UNCOUNTED)
live_unlocked = njit(**EXACT, no_cfunc_wrapper=True, nogil=True, **UNCOUNTED)  # and without the interpreter's lock
internal_uncounted = njit(**_BARE, fastmath=False, **UNCOUNTED)  # called by live steps; it must not allocate


def python_of(kernel):
    """The Python function that a kernel is compiled from."""
    return getattr(kernel, "py_func", kernel)


@njit(cache=True, inline="always")
def three_each(gyr, acc, mag):
    """Whether live readings have three numbers each; mag may be empty."""
    return len(gyr) == 3 and len(acc) == 3 and (len(mag) == 3 or len(mag) == 0)


@intrinsic
def _pointer(typing_context, array):
    def code(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), code


@intrinsic
def _row(typing_context, array, i):
    def code(context, builder, signature, args):
        table = context.make_array(signature.args[0])(context, builder, args[0])
        columns = builder.extract_value(table.shape, 1)
        return builder.gep(table.data, [builder.mul(args[1], columns)])

    return types.CPointer(array.dtype)(array, types.intp), code


@intrinsic
def _offset(typing_context, array, i):
    def code(context, builder, signature, args):
        return builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])

    return types.CPointer(array.dtype)(array, types.intp), code


@intrinsic(prefer_literal=True)
def _space(typing_context, count):
    def code(context, builder, signature, args):
        with builder.goto_entry_block():
            size = context.get_constant(types.intp, count.literal_value)
            return builder.alloca(context.get_value_type(types.float64), size=size)

    return types.CPointer(types.float64)(count), code


@intrinsic
def _not_constant(typing_context, number):
    def code(context, builder, signature, args):
        return args[0]

    kind = types.UniTuple(types.intp, len(number)) if isinstance(number, types.BaseTuple) else types.intp
    return kind(kind), code


def python_pointer(array):
    """The address of the first number of an array in C order. The caller must keep the array alive.

    Indices count from there. Indices are never negative, and may go past the end of a row.
    """
    if not array.flags.c_contiguous:
        raise ValueError("a kernel takes the address of an array that is not in C order")
    return array.reshape(-1)


def python_row(array, i):
    """The address of row i of a table in C order; see pointer."""
    return python_pointer(array)[i * array.shape[1] :]


def python_offset(array, i):
    """The address of number i of a flat array; see pointer."""
    return python_pointer(array)[i:]


def python_space(count):
    """Space for a constant number of numbers, until the kernel returns; it costs no time. At most some 100 kB."""
    return np.empty(count)


def python_not_constant(number):
    """An integer, or a tuple of them, as a value. numba compiles a callee again for every constant it is passed."""
    return number


if config.DISABLE_JIT:
    pointer, row, offset, not_constant = python_pointer, python_row, python_offset, python_not_constant
    space = python_space
else:
    pointer, row, offset, not_constant = _pointer, _row, _offset, _not_constant
    space = _space
