"""How long a user waits: --help, importing, and loading the kernels from the cache."""

import tempfile

from benchmarks.measure import cpu_of


def run() -> list[tuple[str, float]]:
    """(what, CPU seconds); bare numpy and numba are the floor."""
    compile_all = "from strapdown.kernels.compiled import compile_all; list(compile_all())"
    rows = [
        ("strapdown --help", min(cpu_of(["-m", "strapdown.cli.main", "--help"]) for _ in range(3))),
        ("import strapdown", min(cpu_of(["-c", "import strapdown"]) for _ in range(3))),
        ("import numpy (peer)", min(cpu_of(["-c", "import numpy"]) for _ in range(3))),
        ("import numba (peer)", min(cpu_of(["-c", "import numba"]) for _ in range(3))),
    ]
    with tempfile.TemporaryDirectory() as cache:
        rows.append(("all kernels, first run, all processes", cpu_of(["-c", compile_all], NUMBA_CACHE_DIR=cache)))
        rows.append(("all kernels, later runs (from cache)", cpu_of(["-c", compile_all], NUMBA_CACHE_DIR=cache)))
    return rows
