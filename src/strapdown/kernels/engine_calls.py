"""Calls of a physics engine's own C functions from a kernel, by their addresses.

A step of the engine takes 2 us, and the Python code around it takes longer. A kernel that calls the engine itself makes
many steps without Python in between.

The engine reports errors by ending the process, unless its Python functions are used. So a caller must make sure that
there is no reason for one (engines/mujoco/direct.py).
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# columns of the addresses
END_STEP, FORWARD, REFRESH, LINKS, MODEL, DATA = range(6)
ADDRESSES = 6
_ADDRESS, _INT = ir.IntType(64), ir.IntType(32)


def _code(builder, address, arguments):
    function = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
    builder.call(builder.inttoptr(address, function.as_pointer()), arguments)


@intrinsic
def call(typing_context, address, model, data):
    """void function(model, data)."""

    def code(context, builder, signature, args):
        _code(builder, args[0], args[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


@intrinsic
def call_from_stage(typing_context, address, model, data, stage):
    """Call void function(model, data, int stage, int 1)."""

    def code(context, builder, signature, args):
        _code(builder, args[0], (*args[1:3], builder.trunc(args[3], _INT), _INT(1)))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), code
