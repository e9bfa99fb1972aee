"""The engine's own C functions for kernels that make many steps in one call (kernels/engine_calls.py).

The C functions of the engine end the process when they run out of memory; those of its Python package raise instead. So
kernels call them only where the engine has far more memory than it has ever used.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numba import config
from numpy.typing import NDArray

from strapdown.kernels.engine_calls import ADDRESSES, DATA, END_STEP, FORWARD, LINKS, MODEL, REFRESH

Addresses = NDArray[np.int64]

_END_STEP = {mujoco.mj_Euler: "mj_Euler", mujoco.mj_implicit: "mj_implicit"}  # rk4 takes other arguments
_CALLED = {FORWARD: "mj_forward", REFRESH: "mj_forwardSkip", LINKS: "mj_rnePostConstraint"}
_LEAST_BYTES = 1 << 20  # of memory: a user's file may set less than the engine's own default of many MB
_TIMES_USED = 16  # memory over the most that was ever used

# for a call that makes no steps
NO_ENGINE = np.zeros(ADDRESSES, np.int64)
_NOTHING, _NO_ROWS, _NOWHERE = np.zeros(0), np.zeros((0, 1)), np.zeros(0, np.int64)
NOT_STEPPED = (
    *(_NOTHING, _NOTHING, 0.0, _NOTHING, _NOTHING),
    *(_NOWHERE, _NOWHERE, *5 * (_NO_ROWS,), _NOTHING, _NO_ROWS, _NO_ROWS, np.zeros((0, 0, 0)), _NO_ROWS),
)


@cache
def _library() -> Any:
    """The engine that Python has loaded; None if it is not found."""
    folder = Path(mujoco.__file__).parent
    for path in sorted(folder.glob("*mujoco*")):
        if path.is_file() and any(part in path.name for part in (".so", ".dylib", ".dll")):
            try:
                found = ctypes.CDLL(str(path))
                found.mj_forward  # noqa: B018 - AttributeError if it has none
            except (OSError, AttributeError):
                continue
            return found
    return None


def addresses_of(model: Any, data: Any, end_step: Any) -> Addresses | None:
    """Addresses of the functions of a step, of the model and of the data. Addresses of the engine's functions. None:
    steps use the Python package.
    """
    library = None if config.DISABLE_JIT or end_step not in _END_STEP else _library()
    if library is None:
        return None
    found = np.zeros(ADDRESSES, np.int64)
    try:
        found[MODEL], found[DATA] = model._address, data._address
        for column, name in {**_CALLED, END_STEP: _END_STEP[end_step]}.items():
            found[column] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except (AttributeError, TypeError):  # another version of the engine
        return None
    return found


def ample_use(data: Any) -> int:
    """Number of bytes: as long as the engine has never used more, it cannot run out of memory in the coming steps. -1:
    it can.
    """
    return data.narena // _TIMES_USED if data.narena >= _LEAST_BYTES else -1
