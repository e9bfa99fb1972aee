"""Common part of the live steps of filters and stop detectors: empty arrays and bits."""

import numpy as np

EMPTY = np.empty(0)  # read-only: a kernel's input that is not there
EMPTY.flags.writeable = False
NO_OUT, NO_COUNTS_OUT = np.empty(0), np.empty(0, dtype=np.int64)
BITS = [np.array([bits]) for bits in range(64)]  # of one live sample, as the kernels read them
for _each in BITS:
    _each.flags.writeable = False
