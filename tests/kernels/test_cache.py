"""The cache of compiled kernels: dropped when sources change, replaced when damaged, not needed where it cannot be."""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import strapdown
from strapdown.kernels import cache

# prints how many kernels were compiled, and a result
PROGRAM = """
from strapdown.kernels import rotation
from strapdown.kernels.cache import cache_problem
from strapdown.rotation import q_mul
q = q_mul([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0])
print(sum(rotation.mul_rows.stats.cache_misses.values()), q.tolist(), cache_problem())
"""
FINE = "[0.0, 0.0, 0.0, 1.0] None"


def run(folder, limit_bytes=None, **environment):
    """Standard output of the program in a fresh interpreter; it must end well and write no error."""

    def limit():
        if limit_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with the cache of one kernel."""
    folder = tmp_path_factory.mktemp("cache")
    assert run(folder) == f"1 {FINE}"
    assert run(folder) == f"0 {FINE}"
    return folder


@pytest.fixture
def stored(filled, tmp_path):
    shutil.copytree(filled, tmp_path / "cache")
    return tmp_path / "cache"


def empty(path):
    path.write_bytes(b"")


def halved(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def noise(path):
    path.write_bytes(bytes(range(256)) * 4)


def folder_instead(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [empty, halved, noise, Path.unlink])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_entry_is_compiled_again_and_replaced(stored, kind, damage):
    (path,) = stored.rglob(f"*mul_rows*.{kind}")
    damage(path)
    assert run(stored) == f"1 {FINE}"
    assert run(stored) == f"0 {FINE}"


def test_an_entry_that_cannot_be_replaced_is_done_without(stored):
    (path,) = stored.rglob("*mul_rows*.nbi")
    folder_instead(path)
    assert "cannot be stored in" in run(stored)


def test_a_full_disk_does_not_stop_a_run(tmp_path):
    """A limit on the size of files fails as a full disk does: while writing."""
    assert run(tmp_path, limit_bytes=100).startswith("1 [0.0, 0.0, 0.0, 1.0] compiled kernels cannot be stored in")
    assert not list(tmp_path.rglob("*.tmp.*"))
    assert run(tmp_path) == f"1 {FINE}"  # with space again


def test_without_any_folder_to_write_to_kernels_run_uncached(tmp_path):
    """A read-only installation and no home: here files stand where folders would be, which stops root as well."""
    package = tmp_path / "strapdown"
    shutil.copytree(Path(strapdown.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (path.parent for path in package.rglob("*.py")):
        (folder / "__pycache__").touch()
    where = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TMPDIR"), "/dev/null/nothing")
    said = run(where.pop("NUMBA_CACHE_DIR"), PYTHONPATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1", **where)
    assert said.startswith("1 [0.0, 0.0, 0.0, 1.0] compiled kernels cannot be stored: neither")


def package_at(tmp_path):
    """A package of one caller and one callee in a folder below."""
    package = tmp_path / "package"
    (package / "below").mkdir(parents=True)
    (package / "caller.py").write_text("a = 1\n")
    (package / "below" / "callee.py").write_text("a = 1\n")
    return package


def test_a_changed_source_drops_every_compiled_kernel(tmp_path):
    """numba looks at a kernel's own file only: a change in one that it calls would go unseen."""
    package = package_at(tmp_path)
    cache.prepare_cache(package)
    compiled = package / "__pycache__" / f"caller.rows-1.{cache._TAG}.nbi"
    for change in (None, "a = 2\n"):
        compiled.write_text("")
        if change:
            (package / "below" / "callee.py").write_text(change)
        cache.prepare_cache(package)
        assert compiled.exists() == (change is None)


def test_the_cache_of_another_python_stays(tmp_path):
    package = package_at(tmp_path)
    cache.prepare_cache(package)
    other = package / "__pycache__" / "caller.rows-1.py39.nbi"
    other.write_text("")
    (package / "caller.py").write_text("a = 2\n")
    cache.prepare_cache(package)
    assert other.exists()


def test_partial_files_of_a_killed_process_are_removed_at_the_next_start(tmp_path):
    package = package_at(tmp_path)
    cache.prepare_cache(package)
    names = ("rows-1.py311.nbi.tmp.0123456789abcdef", "rows-1.py311.1.nbc.tmp.0123456789abcdef")
    left, new = ([package / "__pycache__" / f"{when}.{name}" for name in names] for when in ("left", "new"))
    for path in (*left, *new):
        path.write_bytes(b"")
    long_ago = time.time() - 2 * cache.PARTIAL_AGE_S
    for path in left:
        os.utime(path, (long_ago, long_ago))
    cache.prepare_cache(package)
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in new)  # another process may be writing them


def test_looking_after_the_cache_is_cheap():
    began = time.process_time()
    cache.prepare_cache(Path(cache.__file__).parent)
    assert time.process_time() - began < 0.02  # 4 ms on the slowest machine that it was tried on
