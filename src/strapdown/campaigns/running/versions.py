"""Which software a computer has: our own to the byte, the others by their number."""

import hashlib
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OTHERS = ("numpy", "scipy", "numba", "mujoco-core", "pyarrow")


@cache
def own_version() -> str:
    """Number of the package, and the first digits of the hash of its sources: two states of one number differ."""
    found = hashlib.sha256()
    package = Path(__file__).parents[2]
    for path in sorted((*package.rglob("*.py"), *package.rglob("*.toml"), *package.rglob("*.xml"))):
        if "studio" not in path.relative_to(package).parts[:1]:  # the page and its server run nothing of a campaign
            found.update(path.relative_to(package).as_posix().encode())
            found.update(path.read_bytes())
    return f"{version('strapdown')} ({found.hexdigest()[:8]})"


def versions() -> dict[str, str]:
    found = {"strapdown": own_version(), "python": ".".join(map(str, sys.version_info[:3]))}
    for name in OTHERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found
