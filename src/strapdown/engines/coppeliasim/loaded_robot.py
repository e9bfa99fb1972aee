"""A robot of ours in a scene of CoppeliaSim: imported as a URDF, with its links and joints found again by name.

The importer gives a link an object whose frame lies in its shape and not on the link. So the pose of the object is read
once, while all joints are at zero, and the link is taken as fixed to it from there. Fixed links are made one with the
link that carries them before the import: the simulator would hold them by soft constraints.
"""

import re
import tempfile
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.coppeliasim.scene import Scene
from strapdown.engines.foreign.merged import merged
from strapdown.engines.foreign.tree import Tree, rotation, tree_of
from strapdown.engines.foreign.urdf_text import urdf_of
from strapdown.engines.mujoco.build import build, known
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Physics, Start
from strapdown.errors import InputError
from strapdown.rotation import q_conj, q_mul, q_rotate

Array = NDArray[np.float64]

# of simURDF.importFile: show shapes that touch, do not centre above the ground, no position control of joints
_OPTIONS = 1 + 32 + 256
_FLOOR = """<?xml version="1.0"?>
<robot name="{name}"><link name="{name}"><collision><origin xyz="0 0 -0.05"/>
<geometry><box size="20 20 0.1"/></geometry></collision></link></robot>
"""


@dataclass(frozen=True)
class Carrier:
    """A frame that is fixed to an object of the scene: r_os_o (m) and q_os in the object's frame."""

    handle: int
    name: str  # in messages
    r_os_o: Array
    q_os: Array

    def seen(self, p_n: Array, q_no: Array) -> tuple[Array, Array]:
        """Position and attitude of the frame, from those of the object."""
        return p_n + q_rotate(q_no, self.r_os_o), q_mul(q_no, self.q_os)

    def moved(self, position: Array, q: Array) -> "Carrier":
        """A frame mounted on this one."""
        arm = self.r_os_o + q_rotate(self.q_os, np.asarray(position, dtype=np.float64))
        return Carrier(self.handle, self.name, arm, q_mul(self.q_os, np.asarray(q, dtype=np.float64)))


class LoadedRobot:
    """The robot in the scene, until `remove`. Its links are carriers of sensors, its joints have handles."""

    def __init__(self, scene: Scene, robot: RobotFile) -> None:
        self._scene = scene
        self._bases: list[int] = []
        self.model = build(robot, Physics(9.81)).model  # gravity is the scene's
        tree = tree_of(self.model)
        self._tree, part_of = merged(tree)
        self._where = str(robot.path)
        tag = uuid.uuid4().hex[:6]  # a second robot of the same name gets another one
        self._root = f"{_alias(robot.path.stem)}_{tag}"
        names, joints = self._names(self._tree)
        try:
            if any(shape.kind == "plane" for shape in tree.links[0].shapes):
                floor = f"floor_{tag}"
                self._import(_FLOOR.format(name=floor))
            with tempfile.TemporaryDirectory() as folder:
                text = urdf_of(self._tree, names, joints, Path(folder), static_world=True)
                base = self._import(text, Path(folder))
            self._place(base)
            self._links = self._find_links(tree, part_of, names, base)
            self._joints = {
                link.joint.name: scene.object_at(f"/{self._root}_respondable/{joints[i]}")
                for i, link in enumerate(self._tree.links)
                if link.joint is not None and link.joint.kind != "free"
            }
        except BaseException:
            with suppress(InputError):  # what went wrong before is what counts
                self.remove()
            raise

    def links(self) -> tuple[str, ...]:
        return tuple(self._links)

    def joints(self) -> tuple[str, ...]:
        return tuple(self._joints)

    def link(self, name: str) -> Carrier:
        return self._links[known(name, self._links, "link", self._where)]

    def joint(self, name: str) -> int:
        return self._joints[known(name, self._joints, "joint", self._where)]

    def begin(self, start: Start) -> None:
        """Where a joint begins; its speed is 0, since a joint has none before the simulation runs."""
        if start.speed:
            raise InputError(f'start: joint "{start.joint}" cannot begin with a speed in CoppeliaSim; use a motor')
        self._scene.set_joint(self.joint(start.joint), start.position)

    def remove(self) -> None:
        """Take the robot out of the scene again."""
        while self._bases:
            self._scene.connection.call("sim.removeModel", self._bases.pop())

    def _names(self, tree: Tree) -> tuple[list[str], list[str]]:
        """Names of links and joints in the scene; the root's is one that nothing else has."""
        root = 0 if tree.floating is None else tree.floating
        names = [f"{_alias(link.name)}_{i}" for i, link in enumerate(tree.links)]
        names[root] = self._root
        joints = [_alias(link.joint.name) if link.joint is not None else "" for link in tree.links]
        return names, [f"{name}_joint_{i}" for i, name in enumerate(joints)]

    def _import(self, text: str, folder: Path | None = None) -> int:
        with tempfile.TemporaryDirectory() as own:
            file = (folder or Path(own)) / "robot.urdf"
            file.write_text(text, encoding="utf-8")
            connection = self._scene.connection
            connection.require("simURDF")
            found = connection.call("simURDF.importFile", str(file), _OPTIONS)
        handles = found[1] if isinstance(found, tuple) and len(found) == 2 else None
        if not isinstance(handles, list) or not handles or not isinstance(handles[0], int):
            raise InputError(
                f"{self._where}: CoppeliaSim imported no robot (it answered {str(found)[:80]!r}); it reads the file "
                "itself and must run on this machine"
            )
        self._bases.append(handles[0])
        return int(handles[0])

    def _place(self, base: int) -> None:
        """A floating robot is imported at the origin; it begins where its file or the rig puts it."""
        if self._tree.floating is None:
            return
        joint = self._tree.links[self._tree.floating].joint
        assert joint is not None
        start = self.model.qpos0[joint.place : joint.place + 7]
        p_n, q_no = self._scene.pose(base, self._where)
        self._scene.place(base, start[:3] + rotation(start[3:]) @ p_n, q_mul(start[3:], q_no))

    def _find_links(self, tree: Tree, part_of: list[int], names: list[str], base: int) -> dict[str, Carrier]:
        """Every link as a frame on the object that carries it, from the poses at zero."""
        scene, data = self._scene, mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, data)
        root = 0 if self._tree.floating is None else self._tree.floating
        objects: dict[int, tuple[int, Array, Array]] = {}
        for i in dict.fromkeys(part_of if root == 0 else part_of[1:]):  # the world of a floating robot is not loaded
            handle = base if i == root else scene.object_at(f"/{self._root}_respondable/{names[i]}_respondable")
            objects[i] = handle, *scene.pose(handle, names[i])
        found = {}
        for k, link in enumerate(tree.links):
            if not link.name or (k == 0 and root != 0):
                continue
            handle, p_n, q_no = objects[part_of[k]]
            arm = q_rotate(q_conj(q_no), data.xpos[k] - p_n)
            found[link.name] = Carrier(handle, link.name, arm, q_mul(q_conj(q_no), data.xquat[k]))
        return found


def _alias(name: str) -> str:
    """A name as the simulator takes it."""
    return re.sub(r"\W", "_", name, flags=re.ASCII) or "part"
