"""The firmware compiled for the host: its portable part on a board in memory, its hardware layer on a register model.

FIRMWARE_SANITIZE=1 compiles with the address and undefined behaviour sanitizers (see test_sanitized.py).
"""

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "firmware"
HOST = Path(__file__).parent / "host"
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-O1", "-g", "-fPIC", "-shared"]
INCLUDES = [f"-I{folder}" for folder in (ROOT, ROOT / "core", ROOT / "stm32f103", HOST)]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def need(*programs: str) -> None:
    """Skip a test without these programs; fail in CI, which installs them."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        reason = f"{' and '.join(missing)} not found; .ci/run names the packages"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@functools.cache
def built(kind: str) -> Path:
    """A shared library: "portable", "registers", or "encoder": registers with a wheel encoder."""
    need("gcc")
    core = sorted((ROOT / "core").glob("*.c"))
    if kind == "portable":
        sources, defines = [*core, HOST / "board.c", HOST / "entry.c"], []
    else:
        chip = [ROOT / "stm32f103" / f"{name}.c" for name in ("clock", "serial", "i2c", "pins", "watchdog")]
        sources, defines = [*core, *chip, HOST / "registers.c"], ["-DREGISTER_MODEL"]
        defines += ["-DENCODER_TICK_NM=250000"] if kind == "encoder" else []
    folder = Path(tempfile.mkdtemp(prefix="firmware-"))
    sanitize = SANITIZE if os.environ.get("FIRMWARE_SANITIZE") else []
    command = ["gcc", *FLAGS, *sanitize, *INCLUDES, *defines, *map(str, sources), "-o", str(folder / "lib.so")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "lib.so"


def loaded(kind: str, folder: Path) -> ctypes.CDLL:
    """A copy of the library of its own, so that its variables are those of a fresh power-up."""
    copy = Path(tempfile.mkdtemp(dir=folder)) / "lib.so"
    shutil.copy(built(kind), copy)
    return ctypes.CDLL(str(copy))
