"""Numerical kernels: numbers and arrays in, arrays out.

A kernel takes arrays and numbers, never strings; it never raises and never reads a clock. Kernels that the API calls
are listed with their signature in compiled.py. With NUMBA_DISABLE_JIT=1 kernels run as Python, and a debugger can step
through them. This is guaranteed if a kernel keeps to these rules:

- decorators are those of jit.py or numba's njit(cache=True, ...); every intrinsic, in jit.py, has a twin in Python;
- a pointer (jit.pointer, jit.row) is only indexed, with integers that are not negative;
- a divisor is not zero, a square root's argument not negative, an exponent small enough: compiled code yields inf
  or nan, Python raises;
- an index that was computed as a float goes through int(...).
"""

from pathlib import Path

from numba import config

if not config.DISABLE_JIT:
    from strapdown.kernels.cache import guard_cache, prepare_cache

    guard_cache()
    prepare_cache(Path(__file__).parent)
