"""The package as a user has it: a wheel built from this tree, installed into a folder of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def install_wheel(folder):
    """Build and install into the folder, without the studio's page; the place to put on PYTHONPATH."""
    site = folder / "site"
    environment = {**os.environ, "STRAPDOWN_NO_PAGE": "1"}
    for command in (
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site)],
    ):
        if "install" in command:
            command.append(str(next(folder.glob("*.whl"))))
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
    _lend_compiled_kernels(ROOT / "src" / "strapdown" / "kernels", site / "strapdown" / "kernels")
    return site


def _lend_compiled_kernels(here, there):
    """Compiling all kernels anew takes a minute and is not what an installed wheel is tested for. numba takes a cached
    kernel if its source has the same time and size."""
    for source in here.rglob("*.py"):
        times = source.stat()
        os.utime(there / source.relative_to(here), ns=(times.st_atime_ns, times.st_mtime_ns))
    for cached in here.rglob("__pycache__/*"):
        if cached.suffix in (".nbi", ".nbc", ".sha256"):
            target = there / cached.relative_to(here)
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(cached, target)


def run_installed(site, code, folder):
    """Run a program with the installed package, outside of the repository, every warning an error."""
    check = "import strapdown, pathlib, sys\nassert pathlib.Path(strapdown.__file__).is_relative_to(sys.argv[1])\n"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", check + code, str(site)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=300,
    )
