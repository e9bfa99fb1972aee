"""What functions are made of that only kernels call: no door for Python, and arrays as the address of their numbers.

For every `state[3]` of an array numba writes some thirty lines that LLVM takes out again; for that of a pointer, three.
What is left is the same arithmetic.
"""

from numba import njit, types
from numba.extending import intrinsic

# wrappers for Python take longer to compile than many a function does
# fastmath is set, or numba would take it from the first caller, and the last bit would depend on who that was
inner = njit(cache=True, error_model="numpy", fastmath=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
# for chains of arithmetic: one with the caller, products and sums fused
woven = njit(
    cache=True,
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    forceinline=True,
    fastmath={"contract"},
)
# for live steps: numba keeps no count of who holds their arrays, which Python's call would make and drop every time
live = njit(cache=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)


@njit(cache=True, inline="always")
def three_each(gyr, acc, mag):
    """Have live readings three numbers each? mag may be empty."""
    return len(gyr) == 3 and len(acc) == 3 and (len(mag) == 3 or len(mag) == 0)


@intrinsic
def pointer(typing_context, array):
    """Where the numbers of an array in C order begin. Only for arrays that the caller holds: it keeps none alive."""

    def code(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), code


@intrinsic
def row(typing_context, array, i):
    """Where row i of a table in C order begins; as pointer."""

    def code(context, builder, signature, args):
        table = context.make_array(signature.args[0])(context, builder, args[0])
        columns = builder.extract_value(table.shape, 1)
        return builder.gep(table.data, [builder.mul(args[1], columns)])

    return types.CPointer(array.dtype)(array, types.intp), code


@intrinsic
def plain(typing_context, number):
    """A whole number, or some, without a type of their own: numba compiles a callee anew for every constant else."""

    def code(context, builder, signature, args):
        return args[0]

    kind = types.UniTuple(types.intp, len(number)) if isinstance(number, types.BaseTuple) else types.intp
    return kind(kind), code
