"""Imports point one way: the tool passes on this tree and fails on made-up bad ones."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "import_direction.py"


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)


def tree(folder, **files):
    """A package of the given files, `room__file="text"`, next to a few good ones."""
    package = folder / "strapdown"
    good = {"errors": "", "types": "from strapdown.errors import X\n", "motion__protocol": "", "motion__spline": ""}
    for name, text in {"__init__": "", **good, **files}.items():
        path = package / f"{name}.py" if name == "__init__" else package / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return package


def test_this_tree():
    result = run()
    assert result.stdout == ""
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("errors", "import numpy\n", 1),
        ("errors", "from strapdown.types import Motion\n", 1),
        ("kernels__rotation", "import math\nimport scipy\n", 2),
        ("kernels__rotation", "from strapdown.types import Motion\n", 1),
        ("rotation", "from strapdown.types import Motion\n", 1),
        ("types", "def f():\n    from strapdown.motion.protocol import Path\n", 2),
        ("motion__spline", "from strapdown.sensors import imu\n", 1),
        ("io__csv", "from strapdown.motion import spline\n", 1),
        ("io__csv", "from ..motion.spline import Spline\n", 1),
        ("io__csv", "from .. import motion\n", 1),
        ("io__csv", "import strapdown.sensors.imu as imu\n", 1),
        ("engines__mujoco", "from strapdown.io import write\n", 1),
        ("calibration__allan", "from strapdown.orientation import mahony\n", 1),
        ("orientation__mahony", "from strapdown.calibration import allan\n", 1),
        ("navigation__eskf", "from strapdown.evaluation import metrics\n", 1),
        ("evaluation__metrics", "from strapdown.environment import loop\n", 1),
        ("papers__c", "from strapdown.cli import main\n", 1),
        ("papers__c", "from strapdown.studio import server\n", 1),
        ("studio__server", "from strapdown.cli import main\n", 1),
        ("sensors__imu", "import strapdown\n", 1),
        ("utils__things", "", 1),
        ("helpers", "", 1),
        ("io__csv", "def (\n", 1),
    ],
)
def test_wrong_imports_are_named(tmp_path, file, text, line):
    package = tree(tmp_path, **{file: text})
    result = run(str(package))
    path = package / (file.replace("__", "/") + ".py")
    assert result.returncode == 1
    assert result.stdout.startswith(f"{path}:{line}: ")
    assert len(result.stdout.splitlines()) == 1


def test_right_imports_pass(tmp_path):
    package = tree(
        tmp_path,
        kernels__rotation="import math\nimport numpy as np\nfrom numba import njit\nfrom strapdown.kernels import x\n",
        io__csv="import pyarrow\nfrom strapdown.motion import protocol\nfrom . import atomic\nfrom ..types import X\n",
        io__atomic="from strapdown.motion.protocol import Path\n",
        sensors__imu="from strapdown.motion.spline import Spline\n",
        navigation__eskf="from strapdown.calibration import allan\nfrom strapdown.orientation import mahony\n",
        papers__c="from strapdown.engines import mujoco\nfrom strapdown.evaluation import metrics\n",
        cli__main="from strapdown.papers import c\nfrom strapdown.studio import server\n",
    )
    result = run(str(package))
    assert result.stdout == ""
    assert result.returncode == 0


def test_a_wrong_path_is_said():
    assert run("/no/such/folder").returncode == 2
