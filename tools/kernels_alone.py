#!/usr/bin/env python3
"""Does a kernel's machine code depend on what was compiled before it? Each one alone, and all of them in one process.

Usage: python tools/kernels_alone.py        exits with 1 and the names of the kernels that differ
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_NAMES = re.compile(r"[\w.$@-]*(?:_ZN|NumbaEnv|\.L|\.const|\.numba|_Z)[\w.$@-]*")
_ALONE = "import sys; from tools.kernels_alone import code_of; print(code_of(int(sys.argv[1])))"


def code_of(number: int) -> str:
    """A kernel of the list, compiled; its instructions without the names of functions and constants, as a hash."""
    from strapdown.kernels.compiled import KERNELS

    kernel, signature = KERNELS[number]
    kernel.compile(signature)
    lines = (line for line in kernel.inspect_asm(kernel.signatures[0]).splitlines() if re.match(r"\s+[a-z]", line))
    return hashlib.sha256("\n".join(_NAMES.sub("name", line) for line in lines).encode()).hexdigest()


def alone(number: int) -> str:
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", _ALONE, str(number)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        from strapdown.kernels.compiled import KERNELS

        together = [code_of(number) for number in range(len(KERNELS))]
    differ = []
    for number, (kernel, _) in enumerate(KERNELS):
        if alone(number) != together[number]:
            differ.append(f"{kernel.__module__}.{kernel.__name__}")
    print(f"{len(KERNELS)} kernels compiled alone, with an empty cache; {len(differ)} differ from all in one process")
    print("\n".join(differ))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    sys.exit(main())
