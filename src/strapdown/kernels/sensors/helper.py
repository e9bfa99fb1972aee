"""How functions are compiled that only kernels call: without wrappers for Python, which take long to compile."""

from numba import njit

helper = njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
