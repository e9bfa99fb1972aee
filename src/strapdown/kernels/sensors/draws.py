"""Random numbers that were drawn in advance."""

from numba import njit


@njit(cache=True, nogil=True)
def draw_normals(rng, out):
    """Standard normal numbers."""
    for k in range(len(out)):
        out[k] = rng.standard_normal()


@njit(cache=True, nogil=True)
def draw_uniforms(rng, out):
    """Numbers from 0 to 1."""
    for k in range(len(out)):
        out[k] = rng.random()
