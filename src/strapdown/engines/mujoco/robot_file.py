"""A robot from a URDF or MJCF file as an editable MuJoCo specification, every link kept."""

import math
from collections.abc import Iterator, Mapping
from contextlib import ContextDecorator, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from strapdown.engines.urdf import WORLD, prepare_urdf
from strapdown.engines.xml_lines import XmlFile
from strapdown.errors import RobotError

_NAMES = ("name", "link", "joint", "body", "site", "class", "childclass", "mesh", "file", "filename")  # may be "nan"
_LARGEST = 1e12  # of any length, angle, mass: beyond this squares and sums lose the robot
_UNBOUNDED = ("limit", "safety_controller", "numeric")  # elements whose huge numbers mean "no limit", or nothing to us
RESERVED = "strapdown/"  # names of what we add begin with this
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

    def load(self) -> tuple[mujoco.MjSpec, tuple[str, ...]]:
        """The specification, checked, and the names of its links; raises RobotError with one clear sentence."""
        xml = XmlFile(self.path)
        _check_numbers(xml)
        ground: tuple[str, ...] = ()
        if xml.root.tag == "robot":
            text = prepare_urdf(xml, self.floating, self.inertia_from_collision, self.packages)
            with told(self.path):
                spec = mujoco.MjSpec.from_string(text)
            ground = tuple(link.get("name", "") for link in xml.root.findall("link") if link.get("name") == WORLD)
        elif xml.root.tag == "mujoco":
            with told(self.path):
                spec = mujoco.MjSpec.from_file(str(self.path))
            spec.compiler.fusestatic = False
        else:
            raise RobotError(f"{self.path}: <{xml.root.tag}> is neither a URDF <robot> nor an MJCF <mujoco>")
        _keep_the_body_only(spec)
        _refuse_reserved_names(self.path, spec)
        with told(self.path):
            self._place(spec)
            if self.floor:
                spec.worldbody.add_geom(PLAIN, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        return spec, ground + tuple(body.name for body in spec.bodies if body.name not in ("", WORLD))

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


def _check_numbers(xml: XmlFile) -> None:
    """The engine takes a number that is none, or one beyond all measure, and then all of the robot is none."""
    for element in xml.root.iter():
        for key, value in element.attrib.items():
            if key in _NAMES:
                continue
            numbers = [_number(word) for word in value.split()]
            open_ended = element.tag in _UNBOUNDED or key.endswith("range")
            if any(math.isnan(x) or (abs(x) >= _LARGEST and not open_ended) for x in numbers if x is not None):
                raise RobotError(
                    f'{xml.where(element)}: {key} of <{element.tag}> is "{value}"; give numbers below {_LARGEST:g}'
                )


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _keep_the_body_only(spec: mujoco.MjSpec) -> None:
    """Motors and sensors come from the rig: the file's own, and what may refer to them, go.

    A servo of the file would pull its joint to 0, and key frames count the file's joints and motors alone.
    """
    for part in [*spec.keys, *spec.sensors, *spec.tuples, *spec.actuators]:
        spec.delete(part)
    spec.option.disableactuator = 0  # groups of motors that the file switches off: ours may be in them


def _refuse_reserved_names(path: Path, spec: mujoco.MjSpec) -> None:
    for kind, parts in (("body", spec.bodies), ("joint", spec.joints), ("site", spec.sites)):
        for part in parts:
            if part.name.startswith(RESERVED):
                raise RobotError(f'{path}: names like that of {kind} "{part.name}" are for our own parts; rename it')


def compiled(path: Path, spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The model; what the compiler refuses becomes one sentence."""
    with told(path):
        return spec.compile()


class quiet(ContextDecorator):
    """Keep the engine from writing warnings to a log file in the working folder; errors are reported by us.

    A class, because a live step enters it and a generator would cost as much as the step.
    """

    def __enter__(self) -> None:
        self._before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(_ignore)

    def __exit__(self, *_: object) -> None:
        mujoco.set_mju_user_warning(self._before)

    def _recreate_cm(self) -> "quiet":
        return quiet()


def _ignore(_: str) -> None:
    pass


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the engine refuses, or warns of while it reads and compiles, becomes one sentence."""
    warned: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warned.append)
    try:
        yield
    except (ValueError, mujoco.FatalError, RuntimeError, TypeError, UnicodeDecodeError) as error:
        warned = [str(error)]
    finally:
        mujoco.set_mju_user_warning(before)
    if warned:
        said = " ".join(warned[0].replace("Error:", "").split())
        raise RobotError(f"{path}: the engine refuses this robot: {said}")
