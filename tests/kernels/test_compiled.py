"""Kernels are compiled once, with a word to the user, and come from the cache afterwards."""

import os
import subprocess
import sys

from strapdown.kernels import _drop_stale_cache
from strapdown.kernels.compiled import KERNELS, compile_all


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


def test_a_changed_source_drops_every_compiled_kernel(tmp_path):
    """numba looks at a kernel's own file only: a change in one that it calls would go unseen."""
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    (tmp_path / "callee.py").write_text("a = 1\n")
    compiled = cache / "caller.rows-1.py311.nbi"
    for change in (None, "a = 2\n"):
        if change:
            (tmp_path / "callee.py").write_text(change)
        compiled.write_text("")
        _drop_stale_cache(tmp_path)
        assert not compiled.exists()
        compiled.write_text("")
        _drop_stale_cache(tmp_path)  # nothing changed since
        assert compiled.exists()
