"""Numbers and arrays in, arrays out: numba only. A kernel never takes strings, never raises, never reads a clock.

numba caches a compiled kernel until its own file changes, and does not see changes in kernels that it calls from other
files. So the cache is dropped here as soon as any of them changes.
"""

import contextlib
import hashlib
from pathlib import Path

_STAMP = "kernels.sha256"


def _drop_stale_cache(folder: Path) -> None:
    """Remove compiled kernels if the sources are not those they were compiled from."""
    sources = b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))
    now = hashlib.sha256(sources).hexdigest()
    cache = folder / "__pycache__"
    stamp = cache / _STAMP
    with contextlib.suppress(OSError):  # a folder we may not write to was installed as a whole: nothing is stale there
        if stamp.is_file() and stamp.read_text(encoding="ascii") == now:
            return
        for compiled in folder.rglob("__pycache__/*.nb[ci]"):
            compiled.unlink(missing_ok=True)
        cache.mkdir(exist_ok=True)
        stamp.write_text(now, encoding="ascii")


_drop_stale_cache(Path(__file__).parent)
