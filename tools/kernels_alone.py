#!/usr/bin/env python3
"""Does a kernel's machine code depend on what was compiled before it? Each one alone, and all of them in one process.

Usage: python tools/kernels_alone.py        exits with 1 and the names of the kernels that differ
"""

import hashlib
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_NAMES = re.compile(r"[\w.$@-]*(?:_ZN|NumbaEnv|\.L|\.const|\.numba|_Z)[\w.$@-]*")


def codes_of(numbers: Sequence[int]) -> list[str]:
    """Kernels of the list, compiled; the instructions of each without names of functions and constants, as a hash."""
    from strapdown.kernels.compiled import KERNELS

    codes = []
    for number in numbers:
        kernel, signature = KERNELS[number]
        kernel.compile(signature)
        lines = (line for line in kernel.inspect_asm(kernel.signatures[0]).splitlines() if re.match(r"\s+[a-z]", line))
        codes.append(hashlib.sha256("\n".join(_NAMES.sub("name", line) for line in lines).encode()).hexdigest())
    return codes


def main() -> int:
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache  # read when numba is imported
        from strapdown.kernels.compiled import KERNELS

        def in_a_new_process(numbers: Sequence[int]) -> list[str]:
            """This process has imported everything and compiled nothing: a copy of it is a fresh start."""
            shutil.rmtree(cache)
            Path(cache).mkdir()
            with multiprocessing.get_context("fork").Pool(1) as process:
                return process.apply(codes_of, (numbers,))

        together = in_a_new_process(range(len(KERNELS)))
        differ = []
        for number, (kernel, _) in enumerate(KERNELS):
            if in_a_new_process([number]) != [together[number]]:
                differ.append(f"{kernel.__module__}.{kernel.__name__}")
                print(differ[-1], flush=True)
    print(f"{len(KERNELS)} kernels compiled alone, with an empty cache; {len(differ)} differ from all in one process")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
