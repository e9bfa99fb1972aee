"""How long a user waits: --help, importing, and compiling the kernels on the very first run."""

import os
import resource
import subprocess
import sys
import tempfile


def _cpu_of(arguments: list[str], **environment: str) -> float:
    """CPU time of a fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run() -> list[tuple[str, float]]:
    """(what, CPU seconds); bare numpy and numba stand beside as the floor nobody gets below."""
    compile_all = "from strapdown.kernels.compiled import compile_all; list(compile_all())"
    rows = [
        ("strapdown --help", min(_cpu_of(["-m", "strapdown.cli.main", "--help"]) for _ in range(3))),
        ("import strapdown", min(_cpu_of(["-c", "import strapdown"]) for _ in range(3))),
        ("import numpy (peer)", min(_cpu_of(["-c", "import numpy"]) for _ in range(3))),
        ("import numba (peer)", min(_cpu_of(["-c", "import numba"]) for _ in range(3))),
    ]
    with tempfile.TemporaryDirectory() as cache:
        rows.append(("all kernels, first run (compiling)", _cpu_of(["-c", compile_all], NUMBA_CACHE_DIR=cache)))
        rows.append(("all kernels, later runs (from cache)", _cpu_of(["-c", compile_all], NUMBA_CACHE_DIR=cache)))
    return rows
