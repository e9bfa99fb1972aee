"""Kernels are compiled once, with a message to the user, and come from the cache afterwards; helper processes end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strapdown.kernels.compiled import KERNELS, compile_all, fix_signature

COMPILE = "from strapdown.kernels.compiled import compile_kernels; print(sum(compile_kernels({files!r})), flush=True)"


def interpreter(program, cache, **more):
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def test_the_first_run_says_that_it_compiles_and_later_ones_do_not(tmp_path):
    (tmp_path / "rig.toml").write_text(
        'duration_s = 0.1\n[motion]\nkind = "rest"\nduration_s = 1.0\n[[sensor]]\nname = "a"\nlink = "body"\n'
    )
    said = []
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-m", "strapdown", "simulate", "rig.toml", "-o", "out.csv"],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert run.returncode == 0, run.stderr
        said.append(run.stderr)
    assert "compiling" in said[0] and said[1] == ""


def test_every_kernel_is_compiled_for_what_it_is_called_with():
    """A call with other types would compile silently in the middle of a run."""
    list(compile_all())
    assert not any(compile_all())
    assert len({kernel for kernel, _ in KERNELS}) == len(KERNELS)


def test_what_a_callee_computes_does_not_depend_on_its_first_caller():
    """numba takes options that a function does not state from the caller that is compiled first. The last bits of a
    result would depend on the order. So every function that only kernels call states those that act on numbers.

    tools/kernels_alone.py compares results to the bit; it takes minutes and is in make evidence.
    """
    checked = 0
    for module in {kernel.__module__ for kernel, _ in KERNELS} | {
        name for name in sys.modules if name.startswith("strapdown.kernels.")
    }:
        for name, function in vars(sys.modules[module]).items():
            options = getattr(function, "targetoptions", {})
            if options.get("no_cpython_wrapper"):
                assert {"fastmath", "error_model"} <= options.keys(), f"{module}.{name}"
                checked += 1
    assert checked > 200


def test_every_kernel_is_listed():
    """What is not listed is compiled silently at its first call."""
    listed = {kernel for kernel, _ in KERNELS}
    for module in [name for name in sys.modules if name.startswith("strapdown.kernels.")]:
        for name, function in vars(sys.modules[module]).items():
            options = getattr(function, "targetoptions", {})
            called_by_python = options and not options.get("no_cpython_wrapper")
            if called_by_python and "inline" not in options and function.__module__ == module:
                assert function in listed, f"{module}.{name}"


def test_a_kernel_of_fixed_signature_stays_ready():
    kernel, _ = KERNELS[0]
    try:
        fix_signature(kernel)
        fix_signature(kernel)
        list(compile_all())  # does not compile it again, which numba would refuse
    finally:
        kernel.disable_compile(False)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for child processes in /proc")
class TestHelpers:
    def children(self, pid):
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # has ended
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(stat.parent.name))
        return found

    def running(self, pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def test_a_helper_compiles_what_its_parent_finds_in_the_cache(self, tmp_path):
        """Two files: one for each process; all are reported as compiled. Then none is."""
        for expected in ("10", "0"):
            done = interpreter(COMPILE.format(files=["rotation", "frames"]), tmp_path)
            out, err = done.communicate(timeout=120)
            assert done.returncode == 0 and err == "", err
            assert out.strip() == expected

    def test_helpers_end_when_their_parent_is_killed(self, tmp_path):
        parent = interpreter(COMPILE.format(files=["rotation", "orientation.vqf", "sensors"]), tmp_path)
        try:
            until = time.monotonic() + 60.0
            while not (found := self.children(parent.pid)) and time.monotonic() < until:
                time.sleep(0.05)
            if len(os.sched_getaffinity(0)) == 1:
                pytest.skip("one core: no helpers")
            assert found
            time.sleep(2.0)  # into its work
            assert all(self.running(pid) for pid in found)
        finally:
            os.kill(parent.pid, signal.SIGKILL)
            parent.communicate()
        killed = time.monotonic()
        while any(self.running(pid) for pid in found) and time.monotonic() < killed + 5.0:
            time.sleep(0.05)
        assert not any(self.running(pid) for pid in found)
