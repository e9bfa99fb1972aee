"""What tests of robots, sensors and commands share: small robots as text, rigs as plain values, commands run here."""

import contextlib
import io
import os
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from strapdown.earth import gravity_vector
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.environment.rig import rig_from
from strapdown.environment.simulate import simulate
from strapdown.rotation import q_conj, q_rotate
from strapdown.vehicles import builtin

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
G = 9.81

INERTIA = '<inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'


def inertial(mass=1.0, moment=0.01, xyz="0 0 0"):
    return f'<inertial><origin xyz="{xyz}"/><mass value="{mass}"/>{INERTIA.format(moment)}</inertial>'


def link(name, inside=None):
    return f'<link name="{name}">{inertial() if inside is None else inside}</link>\n'


def joint(name, parent, child, kind="continuous", inside='<axis xyz="1 0 0"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def urdf(*parts):
    """A URDF whose first link stands on line 2, the next part on line 3, and so on."""
    return '<robot name="r">\n' + "".join(parts) + "</robot>\n"


def mjcf(bodies, before="", after=""):
    return f"<mujoco>{before}<worldbody>{bodies}</worldbody>{after}</mujoco>"


def robot(name, **settings):
    """A robot that comes with the package, in the engine."""
    floating, floor = settings.pop("floating", False), settings.pop("floor", False)
    return MujocoRobot(RobotFile(builtin(name), floating=floating, floor=floor), **{"gravity": G, **settings})


def write(folder, name, text):
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=np.float32)
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def stl(path: Path) -> Path:
    """A tetrahedron of 1 m edges on the axes, binary STL."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES]
    path.write_bytes(bytes(80) + struct.pack("<I", len(FACES)) + b"".join(rows))
    return path


def shared_data(name):
    """A folder of recorded data, in STRAPDOWN_DATA or next to the project. Tests skip without it; in CI they fail."""
    folder = Path(os.environ.get("STRAPDOWN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / name
    if not folder.is_dir():
        reason = f"recorded data is not at {folder}; set STRAPDOWN_DATA to the folder that holds {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def needs(engine):
    """Skip where the package of an engine is not installed; in CI fail."""
    from strapdown.engines.catalogue import ENGINES

    if find_spec(ENGINES[engine].module) is None:
        reason = f'{engine} is not installed: pip install "strapdown[{engine}]"'
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)


def run_rig(values, folder=Path()):
    return simulate(rig_from(values, Path(folder) / "rig.toml"))


def specific_force(motion, gravity=G):
    """What an ideal accelerometer reads: R^T (a - g)."""
    return q_rotate(q_conj(motion.q_nb), motion.a_n - gravity_vector(gravity))


def same_bits(a, b, but=""):
    """Two motions equal to the last bit."""
    names = ("t", "p_n", "v_n", "a_n", "q_nb", "w_nb_b", "dw_nb_b")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names if name != but)


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str


def command(*arguments):
    """Run `strapdown` with these arguments in this process."""
    from strapdown.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run([str(a) for a in arguments])
            code = -1  # run() always ends with SystemExit
        except SystemExit as end:
            code = 0 if end.code is None else end.code
    return Said(code, out.getvalue(), err.getvalue())
