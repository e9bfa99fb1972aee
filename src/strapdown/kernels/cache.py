"""Care of numba's cache of compiled kernels, the files .nbi (index) and .nbc (code).

numba detects changes in a kernel's own file only. numba raises if a cached file is damaged or cannot be written, and on
import if it finds no folder to write to. Here a cache made from other sources is dropped, a damaged entry is compiled
again, and where nothing can be stored kernels run uncached. Partial files of a process that was killed are removed at
the next start.
"""

import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

PACKAGE = "strapdown.kernels"
PARTIAL_AGE_S = 5.0  # numba writes a file in milliseconds; one that is older belongs to a process that was killed
_TAG = f"py{sys.version_info.major}{sys.version_info.minor}"  # of this Python, in numba's file names
_STAMP = f"kernels-{_TAG}.sha256"

_folders: set[str] = set()  # where numba stores our kernels
_problems: list[str] = []


def cache_problem() -> str | None:
    """Why compiled kernels could not be stored in this process; None if they could."""
    return _problems[0] if _problems else None


def prepare_cache(package: Path) -> None:
    """Find the cache folders of a package of kernels; drop entries of other sources and of killed processes."""
    sources = sorted(package.rglob("*.py"))
    made_from = hashlib.sha256(numba.__version__.encode())
    for source in sources:
        made_from.update(source.read_bytes())
    for folder in dict.fromkeys(source.parent for source in sources):
        cache = _cache_folder(next(source for source in sources if source.parent == folder))
        if cache is not None:
            _folders.add(os.path.normpath(cache))
            with suppress(OSError):  # an unreadable folder is treated as any other damage: kernel by kernel
                _tidy(cache, made_from.hexdigest())


def _cache_folder(source: Path) -> Path | None:
    """Folder in which numba stores functions of a source file; None if it finds no folder to write to."""

    def function() -> None:
        pass

    function.__module__ = PACKAGE
    function.__code__ = function.__code__.replace(co_filename=str(source))
    stored = njit(cache=True)(function).stats.cache_path
    return None if stored is None else Path(stored)


def _tidy(cache: Path, made_from: str) -> None:
    stamp = cache / _STAMP
    fresh = stamp.is_file() and stamp.read_bytes() == made_from.encode()
    for path in cache.iterdir():
        if ".tmp." in path.name and path.name.partition(".tmp.")[0].endswith((".nbi", ".nbc")):
            _remove(path, time.time() - PARTIAL_AGE_S)
        elif not fresh and path.suffix in (".nbi", ".nbc") and f".{_TAG}" in path.name:
            _remove(path)
    if not fresh:
        stamp.write_text(made_from, encoding="ascii")


def _remove(path: Path, older_than: float | None = None) -> None:
    with suppress(OSError):  # another process has removed it
        if older_than is None or path.stat().st_mtime < older_than:
            path.unlink()


def _is_ours(this: Any) -> bool:
    """Whether this is the dispatcher or the cache of one of our kernels."""
    if isinstance(this, FunctionCache):
        return os.path.normpath(this.cache_path) in _folders
    return str(this.__module__).startswith(PACKAGE)


def _guarded(method: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:
    """numba's method; on failure `instead` is called with the object and the error. Only for our kernels."""

    @wraps(method)
    def call(this: Any, *args: Any) -> Any:
        if not _is_ours(this):
            return method(this, *args)
        try:
            return method(this, *args)
        except Exception as error:  # unpickling damaged bytes raises nearly everything
            return instead(this, error)

    return call


def _uncached(dispatcher: Any, error: Exception) -> None:
    _problems.append(
        "compiled kernels cannot be stored: neither the package's folder nor the user's cache folder can be written; "
        "set NUMBA_CACHE_DIR to a folder that can"
    )


def _dropped(cache: Any, error: Exception) -> None:
    """Answer None to numba: not in the cache."""
    with suppress(OSError):
        cache.flush()  # an empty index


def _not_stored(cache: Any, error: Exception) -> None:
    _problems.append(f"compiled kernels cannot be stored in {cache.cache_path} ({error})")


def guard_cache() -> None:
    """Wrap three methods of numba with guards; tests/kernels/test_numba.py reports if numba drops one of them."""
    for owner, name, instead in (
        (Dispatcher, "enable_caching", _uncached),
        (FunctionCache, "load_overload", _dropped),
        (FunctionCache, "save_overload", _not_stored),
    ):
        method = getattr(owner, name, None)
        if method is not None and not hasattr(method, "__wrapped__"):
            setattr(owner, name, _guarded(method, instead))
