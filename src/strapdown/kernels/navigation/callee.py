"""How functions that only kernels of this package call are compiled, and where numbers of flat arrays stand.

A callee has no wrapper for Python, and no file in the cache: the kernel that calls it is cached with it. Both would
cost more time at the first compilation than most callees themselves.
"""

from numba import config, njit, types
from numba.extending import intrinsic

from strapdown.kernels.jit import python_pointer

callee = njit(error_model="numpy", fastmath=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

if config.DISABLE_JIT:

    def offset(array, i):
        """Number i of a flat array and those behind it."""
        return python_pointer(array)[i:]

else:

    @intrinsic
    def offset(typing_context, array, i):
        """Pointer to number i of a flat array. Only for arrays that the caller holds: it keeps none alive."""

        def code(context, builder, signature, args):
            return builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])

        return types.CPointer(array.dtype)(array, types.intp), code
