#!/usr/bin/env python3
"""Do results depend on what was compiled before? Each filter and the error chain in two processes with an empty cache:
one compiles only what it calls, the other has compiled all kernels first.

The machine code itself may differ (registers, order of instructions); the numbers must not, to the bit.

Usage: python tools/kernels_alone.py        exits with 1 and the names of the results that differ
"""

import hashlib
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

_DURATION_S = 20.0


def _log():
    """A tumble read by a virtual MPU-9250, with its field."""
    import numpy as np

    import strapdown as sd
    from strapdown.rotation import q_conj, q_rotate

    part = sd.load_part("MPU-9250").draw(seed=3, rate_hz=200.0)
    log = sd.record(sd.motion.Tumble(duration_s=_DURATION_S), part, seed=4)
    noise = np.random.default_rng(5).normal(size=(len(log), 3))
    return replace(log, mag_s=q_rotate(q_conj(log.truth.q_nb), np.array((0.0, 20.0, -43.0))) + 0.3 * noise)


def _drive(name: str) -> bytes:
    from strapdown.papers.c.drive import drive

    solution = drive("square", 1).navigated(name).solution
    return solution.q_nb.tobytes() + solution.p_n.tobytes()


def works() -> dict[str, Callable[[], bytes]]:
    from strapdown.orientation.catalogue import FILTERS

    found: dict[str, Callable[[], bytes]] = {"error chain": lambda: _log().acc_s.tobytes()}
    for name, known in FILTERS.items():
        found[name] = lambda cls=known.cls: cls().run(_log()).q_nb.tobytes()
        if hasattr(known.cls, "smooth"):
            found[f"{name}, smoothed"] = lambda cls=known.cls: cls().smooth(_log()).q_nb.tobytes()
    return found | {name: lambda name=name: _drive(name) for name in ("eskf", "ekf15")}


def digest(name: str) -> str:
    return hashlib.sha256(works()[name]()).hexdigest()


def digests(names: list[str]) -> list[str]:
    """With all kernels compiled first."""
    from strapdown.kernels.compiled import KERNELS

    for kernel, signature in KERNELS:
        kernel.compile(signature)
    return [digest(name) for name in names]


def main() -> int:
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache  # read when numba is imported
        names = list(works())

        def in_a_new_process(function: Callable[..., object], *arguments: object) -> object:
            """This process has compiled nothing: a copy of it is a fresh start."""
            shutil.rmtree(cache)
            Path(cache).mkdir()
            with multiprocessing.get_context("fork").Pool(1) as process:
                return process.apply(function, arguments)

        together = in_a_new_process(digests, names)
        differ = [name for name, found in zip(names, together, strict=True) if in_a_new_process(digest, name) != found]
    for name in differ:
        print(f"differs: {name}")
    print(f"{len(names)} results with only their own kernels compiled; {len(differ)} differ from all compiled before")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
