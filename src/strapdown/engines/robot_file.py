"""A robot from a URDF or MJCF file as an editable MuJoCo specification, every link kept."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from strapdown.engines.urdf import prepare_urdf
from strapdown.engines.xml_lines import XmlFile
from strapdown.errors import RobotError

_NAMES = ("name", "link", "joint", "body", "site", "class", "childclass", "mesh", "file", "filename")  # may be "nan"
_PLAIN_SPEC = mujoco.MjSpec()
PLAIN = _PLAIN_SPEC.default  # for what we add to a robot: its file's own <default> is not meant for that


@dataclass(frozen=True)
class RobotFile:
    """Which robot, and how it stands in the world."""

    path: Path
    floating: bool = False  # the root moves freely instead of being fixed to the world
    floor: bool = False  # a plane at z = 0 that the robot can touch
    position_m: tuple[float, float, float] | None = None  # of the root, frame n; None: as in the file
    q_nb: tuple[float, float, float, float] | None = None  # of the root; None: as in the file
    inertia_from_collision: bool = False
    packages: Mapping[str, str] = field(default_factory=dict)

    def load(self) -> mujoco.MjSpec:
        """The specification, checked; raises RobotError with one clear sentence."""
        xml = XmlFile(self.path)
        _refuse_nan(xml)
        if xml.root.tag == "robot":
            text = prepare_urdf(xml, self.floating, self.inertia_from_collision, self.packages)
            spec = _parse(self.path, lambda: mujoco.MjSpec.from_string(text))
        elif xml.root.tag == "mujoco":
            spec = _parse(self.path, lambda: mujoco.MjSpec.from_file(str(self.path)))
            spec.compiler.fusestatic = False
        else:
            raise RobotError(f"{self.path}: <{xml.root.tag}> is neither a URDF <robot> nor an MJCF <mujoco>")
        for key in list(spec.keys):  # key frames count the joints and motors of the file alone; ours come on top
            spec.delete(key)
        self._place(spec)
        if self.floor:
            spec.worldbody.add_geom(PLAIN, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        return spec

    def _place(self, spec: mujoco.MjSpec) -> None:
        if not (self.floating or self.position_m or self.q_nb):
            return
        roots = list(spec.worldbody.bodies)
        if len(roots) != 1:
            names = ", ".join(body.name or "(no name)" for body in roots)
            raise RobotError(
                f"{self.path}: floating, position and rotation need exactly one root body, there are "
                f"{len(roots)} ({names}); place them in the file"
            )
        root = roots[0]
        if self.position_m is not None:
            root.pos = np.array(self.position_m)
        if self.q_nb is not None:
            root.quat = np.array(self.q_nb)
            root.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT  # else the file's euler or axisangle would win
        if self.floating and not list(root.joints):
            root.add_freejoint(name=f"{root.name}/free")
        elif self.floating and root.joints[0].type != mujoco.mjtJoint.mjJNT_FREE:
            raise RobotError(f'{self.path}: root body "{root.name}" already has joints; it cannot float as well')


def _refuse_nan(xml: XmlFile) -> None:
    """The engine takes a number that is none, and then all of the robot is none."""
    for element in xml.root.iter():
        for key, value in element.attrib.items():
            if "nan" in value.lower().split() and key not in _NAMES:
                raise RobotError(f'{xml.where(element)}: {key} of <{element.tag}> is "{value}"; give numbers')


def compiled(path: Path, spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The model; what the compiler refuses becomes one sentence."""
    return _parse(path, spec.compile)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the engine from writing warnings to a log file in the working folder; we tell the user ourselves."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _parse(path: Path, build: Callable[[], Any]) -> Any:
    try:
        with quiet():
            return build()
    except (ValueError, mujoco.FatalError, RuntimeError, TypeError, UnicodeDecodeError) as error:
        said = " ".join(str(error).replace("Error:", "").split())
        raise RobotError(f"{path}: the engine refuses this robot: {said}") from None
