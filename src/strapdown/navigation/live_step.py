"""What live steps of filters and stop detectors share: empty arrays, bits, and the error for a bad sample."""

from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.types import Sample

EMPTY = np.empty(0)  # read-only: a kernel's input that is not there
EMPTY.flags.writeable = False
NO_OUT, NO_COUNTS_OUT = np.empty(0), np.empty(0, dtype=np.int64)
BITS = [np.array([bits]) for bits in range(64)]  # of one live sample, as the kernels read them
for _each in BITS:
    _each.flags.writeable = False


def refuse_sample(sample: Any) -> InputError:
    """The error for a live sample whose readings do not fit."""
    if not isinstance(sample, Sample):
        return InputError(f"a live step was given a {type(sample).__name__}; give a strapdown.sample.Sample")
    for name in ("gyr_s", "acc_s", "mag_s"):
        given = getattr(sample, name)
        if given is None and name == "mag_s":
            continue
        if not isinstance(given, np.ndarray):
            had = f"of type {type(given).__name__}"
        elif given.shape != (3,) or given.dtype != np.float64:
            had = f"an array of {given.dtype} of shape {given.shape}"
        elif not given.flags.c_contiguous:
            had = "a strided array"
        else:
            continue
        return InputError(f"{name} of a live sample is {had}; give three doubles: np.array(..., dtype=float)")
    return InputError(f"a live sample of dt = {sample.dt!r} does not fit; give dt in s and readings of three doubles")
