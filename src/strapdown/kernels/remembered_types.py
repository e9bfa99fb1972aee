"""numba's answers on plain arithmetic, remembered: what is the type of `float + float`?

For every operator in a kernel, numba asks all functions that were ever registered for it, arrays and strings too. The
kernels of a demo ask 18 000 times for about 200 different answers. To remember them saves a fifth of the compilation.
"""

import operator
from collections.abc import Callable
from functools import wraps
from typing import Any

from numba import types

BaseFunction: Any = None
try:
    from numba.core.types import functions

    BaseFunction = functions.BaseFunction
except (ImportError, AttributeError):  # numba has moved it; tests/kernels/test_numba.py reports that
    pass
PLAIN = (types.Number, types.Boolean, types.CPointer, types.Array)

# their answer depends on the types alone: numba compiles no function in order to give it
OPERATORS = frozenset(each for each in vars(operator).values() if callable(each)) | {bool}

_answers: dict[tuple[int, Any], tuple[Any, Any]] = {}  # with the function type, so that its id stays its own


def remember_types() -> None:
    """Let numba remember, in this process, from now on."""
    if BaseFunction is not None and not hasattr(BaseFunction.get_call_type, "__wrapped__"):
        BaseFunction.get_call_type = _remembered(BaseFunction.get_call_type)


def _remembered(asked: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(asked)
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or self.typing_key not in OPERATORS:
            return asked(self, context, args, kws)
        key = (id(self), args)
        if key not in _answers:
            answer = asked(self, context, args, kws)
            if not all(isinstance(each, PLAIN) for each in args):
                return answer
            _answers[key] = (answer, self)
        return _answers[key][0]

    return get_call_type
