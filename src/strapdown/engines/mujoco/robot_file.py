"""A robot from a URDF or MJCF file as an editable MuJoCo specification, every link kept."""

from collections.abc import Iterator, Mapping
from contextlib import ContextDecorator, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco.mjcf_survey import MjcfSurvey
from strapdown.engines.mujoco.xml_numbers import check_numbers
from strapdown.engines.robot_limits import ENGINE_BYTES, ENGINE_BYTES_PER_LINK, INERTIA_ENTRIES, LINKS, listed, shown
from strapdown.engines.urdf import WORLD, prepare_urdf
from strapdown.engines.xml_lines import XmlFile
from strapdown.errors import InputError, RobotError

_CONTACTS_DROPPED = int(mujoco.mjtWarning.mjWARN_CONTACTFULL)
_CONSTRAINTS_DROPPED = int(mujoco.mjtWarning.mjWARN_CNSTRFULL)
_FREEDOMS = {mujoco.mjtJoint.mjJNT_FREE: 6, mujoco.mjtJoint.mjJNT_BALL: 3}
RESERVED = "strapdown/"  # names of what we add begin with this
_PLAIN_SPEC = mujoco.MjSpec()
PLAIN = _PLAIN_SPEC.default  # for what we add to a robot: its file's own <default> is not meant for that


@dataclass(frozen=True)
class RobotFile:
    """Which robot, and its place in the world."""

    path: Path
    floating: bool = False  # the root moves freely instead of being fixed to the world
    floor: bool = False  # a plane at z = 0 that the robot can touch
    position_m: tuple[float, float, float] | None = None  # of the root, frame n; None: as in the file
    q_nb: tuple[float, float, float, float] | None = None  # of the root; None: as in the file
    inertia_from_collision: bool = False
    packages: Mapping[str, str] = field(default_factory=dict)
    visuals: bool = True  # False: without shapes of moving links that touch nothing and weigh nothing; steps are faster

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))  # text is taken too

    def load(self) -> tuple[mujoco.MjSpec, tuple[str, ...]]:
        """The specification, checked, and the names of its links; raises RobotError with one clear sentence."""
        xml = XmlFile(self.path)
        ground: tuple[str, ...] = ()
        if xml.root.tag == "robot":
            check_numbers(xml)
            text = prepare_urdf(xml, self.floating, self.inertia_from_collision, self.packages)
            with engine_errors(self.path):
                spec = mujoco.MjSpec.from_string(text)
            ground = tuple(link.get("name", "") for link in xml.root.findall("link") if link.get("name") == WORLD)
        elif xml.root.tag == "mujoco":
            MjcfSurvey(self.path).check(xml)
            with engine_errors(self.path):
                spec = mujoco.MjSpec.from_file(str(self.path))
            spec.compiler.fusestatic = False
        else:
            raise RobotError(f"{self.path}: <{shown(xml.root.tag)}> is neither a URDF <robot> nor an MJCF <mujoco>")
        _keep_the_body_only(spec)
        _refuse_reserved_names(self.path, spec)
        if len(spec.bodies) > LINKS + 1:
            raise RobotError(f"{self.path}: the robot has {len(spec.bodies) - 1} links, at most {LINKS}; simplify it")
        _check_joints(self.path, spec)
        if not self.visuals:
            _drop_visuals(spec)
        with engine_errors(self.path):
            self._place(spec)
            if self.floor:
                spec.worldbody.add_geom(PLAIN, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        return spec, ground + tuple(body.name for body in spec.bodies if body.name not in ("", WORLD))

    def _place(self, spec: mujoco.MjSpec) -> None:
        if not (self.floating or self.position_m or self.q_nb):
            return
        roots = list(spec.worldbody.bodies)
        if len(roots) != 1:
            names = listed(body.name or "(no name)" for body in roots)
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


def _keep_the_body_only(spec: mujoco.MjSpec) -> None:
    """Motors and sensors come from the rig. Motors and sensors of the file are removed, with everything that may refer
    to them.

    A servo of the file would pull its joint to 0, and key frames count only the file's joints and motors. Pictures are
    not needed. Sizes of memory are chosen here, whatever the file asks for.
    """
    for part in [*spec.keys, *spec.sensors, *spec.tuples, *spec.actuators, *spec.skins, *spec.textures]:
        spec.delete(part)
    for material in spec.materials:
        for i in range(len(material.textures)):
            material.textures[i] = ""
    spec.option.disableactuator = 0  # groups of motors that the file switches off: ours may be in them
    spec.memory = ENGINE_BYTES + ENGINE_BYTES_PER_LINK * len(spec.bodies)
    spec.nuserdata = spec.nkey = 0
    for name in ("njmax", "nconmax", "nstack", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam"):
        setattr(spec, name, -1)  # as many as there are
    spec.nuser_tendon = spec.nuser_actuator = spec.nuser_sensor = -1


def _drop_visuals(spec: mujoco.MjSpec) -> None:
    if spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
        return
    named = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    for body in spec.bodies:
        if body.id == spec.worldbody.id or not body.explicitinertial:
            continue
        for geom in list(body.geoms):
            if not geom.contype and not geom.conaffinity and not (geom.name and geom.name in named):
                spec.delete(geom)


def _check_joints(path: Path, spec: mujoco.MjSpec) -> None:
    """Refuse too many joints on a long chain: every joint couples with all that carry it, so they fill the inertia
    matrix.
    """
    entries, waiting = 0, [(body, 0) for body in spec.worldbody.bodies]
    while waiting:
        body, carried_by = waiting.pop()
        own = sum(_FREEDOMS.get(joint.type, 1) for joint in body.joints)
        entries += own * carried_by + own * (own + 1) // 2
        waiting += [(child, carried_by + own) for child in body.bodies]
    if entries > INERTIA_ENTRIES:
        raise RobotError(
            f"{path}: the inertia matrix of the joints has {entries} entries, at most {INERTIA_ENTRIES}; use fewer "
            "joints or shorter chains"
        )


def _refuse_reserved_names(path: Path, spec: mujoco.MjSpec) -> None:
    for kind, parts in (("body", spec.bodies), ("joint", spec.joints), ("site", spec.sites)):
        for part in parts:
            if part.name.startswith(RESERVED):
                raise RobotError(
                    f'{path}: names like that of {kind} "{shown(part.name)}" are for our own parts; rename it'
                )


def compiled(path: Path, spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The compiled model; an error of the compiler becomes one sentence."""
    with engine_errors(path):
        return spec.compile()


class quiet(ContextDecorator):
    """Prevents the engine from writing warnings to a log file in the working folder; we report errors ourselves.

    A class, because a live step enters it and a generator would cost as much as the step. A program that makes many
    live steps may enter it once around them all: inside, it costs less.
    """

    def __enter__(self) -> None:
        self._before = mujoco.get_mju_user_warning()
        if self._before is not _ignore:
            mujoco.set_mju_user_warning(_ignore)

    def __exit__(self, kind: object, error: object, _: object) -> None:
        if self._before is not _ignore:
            mujoco.set_mju_user_warning(self._before)
        if isinstance(error, mujoco.FatalError):
            said = " ".join(str(error).split("\n")[0].split())
            raise InputError(f"the engine stopped ({said}); use fewer links, or shapes that touch less") from None

    def _recreate_cm(self) -> "quiet":
        return quiet()


def is_quiet() -> bool:
    """Whether the program is inside `quiet` already."""
    return mujoco.get_mju_user_warning() is _ignore


def _ignore(_: str) -> None:
    pass


def check_contacts_fit(warnings: NDArray[np.int32]) -> None:
    """Raises InputError if the engine had to drop contacts; `warnings` are the engine's counts."""
    if warnings.item(_CONTACTS_DROPPED) or warnings.item(_CONSTRAINTS_DROPPED):
        raise InputError(
            "there are more contacts at once than the engine's memory holds; use fewer or simpler shapes, or keep "
            "links that overlap from touching"
        )


@contextmanager
def engine_errors(path: Path) -> Iterator[None]:
    """An error of the engine, or a warning while it reads and compiles, becomes one sentence."""
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
        said = shown(" ".join(warned[0].replace("Error:", "").split()), 500)
        raise RobotError(f"{path}: the engine refuses this robot: {said}")
