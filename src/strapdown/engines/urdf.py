"""URDF robots, checked and made ready for the engine: each defect that would surprise later is one clear message here.

Measured limits of MuJoCo's own reader: fixed links are merged and the root vanishes. We keep them all, so that a sensor
can sit on any link. `package://` paths fail. A moving link without inertia is an error without a line number, or its
mass is guessed from the collision shapes.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from strapdown.engines.robot_limits import (
    ALL_MESH_BYTES,
    DEPTH,
    LINKS,
    LONGEST_NAME,
    LONGEST_PATH,
    MESH_BYTES,
    file_size,
    listed,
    shown,
)
from strapdown.engines.xml_lines import XmlFile
from strapdown.errors import RobotError

WORLD = "world"  # the engine's name of the ground; a root link of that name, usual in ROS, is the ground

_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating")
_PRODUCTS = ("ixy", "ixz", "iyz")
_MESH_SUFFIXES = (".stl", ".obj", ".msh")


def prepare_urdf(xml: XmlFile, floating: bool, inertia_from_collision: bool, packages: Mapping[str, str]) -> str:
    """The URDF as text that MuJoCo compiles with all links kept; raises RobotError for the first defect found."""
    robot = xml.root
    links = _named(xml, robot.findall("link"), "link")
    joints = _named(xml, robot.findall("joint"), "joint")
    if not links:
        raise RobotError(f"{xml.path}: the robot has no <link>; add at least one")
    if len(links) > LINKS:
        raise RobotError(f"{xml.path}: the robot has {len(links)} links, at most {LINKS}; simplify it")
    children = _check_tree(xml, links, joints)
    root = next(name for name in links if name not in children)
    _check_world(xml, links, root, floating)
    for name, joint in joints.items():
        _check_axis(xml, name, joint)
        _check_mimic(xml, name, joint, joints)
    for name, link in links.items():
        moves = floating if name == root else _joint_type(children[name]) != "fixed"
        _check_inertia(xml, name, link, moves, inertia_from_collision)
    _resolve_meshes(xml, packages)
    for link in links.values():  # only collision shapes take part in the physics
        for visual in link.findall("visual"):
            link.remove(visual)
    extension = robot.find("mujoco")
    if extension is None:
        extension = ET.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ET.SubElement(extension, "compiler")
    compiler.attrib.update(fusestatic="false", strippath="false", discardvisual="true")
    return ET.tostring(robot, encoding="unicode")


def _named(xml: XmlFile, elements: list[ET.Element], kind: str) -> dict[str, ET.Element]:
    found: dict[str, ET.Element] = {}
    for element in elements:
        name = element.get("name", "")
        if not name:
            raise RobotError(f"{xml.where(element)}: <{kind}> has no name; give it one")
        if len(name) > LONGEST_NAME:
            raise RobotError(f"{xml.where(element)}: the name of a <{kind}> has {len(name)} characters; shorten it")
        if name in found:
            raise RobotError(f'{xml.where(element)}: {kind} "{name}" is there twice; rename one of them')
        found[name] = element
    return found


def _joint_type(joint: ET.Element) -> str:
    return joint.get("type", "")


def _check_tree(xml: XmlFile, links: dict[str, ET.Element], joints: dict[str, ET.Element]) -> dict[str, ET.Element]:
    """Child link -> its joint; every link but one root is attached to exactly one joint."""
    children: dict[str, ET.Element] = {}
    parents: dict[str, str] = {}
    for name, joint in joints.items():
        where = xml.where(joint)
        if _joint_type(joint) not in _JOINT_TYPES:
            if _joint_type(joint) == "planar":
                raise RobotError(
                    f'{where}: joint "{name}" is planar, which is not supported; use two prismatic joints and a '
                    "continuous one, with links of small mass between them"
                )
            raise RobotError(
                f'{where}: joint "{name}" has type "{shown(_joint_type(joint))}"; use one of {", ".join(_JOINT_TYPES)}'
            )
        ends = {}
        for end in ("parent", "child"):
            element = joint.find(end)
            link = "" if element is None else element.get("link", "")
            if link not in links:
                raise RobotError(
                    f'{where}: joint "{name}" has {end} link "{shown(link)}", which is not there; '
                    f"the links are {listed(links)}"
                )
            ends[end] = link
        if _joint_type(joint) == "floating" and ends["parent"] != WORLD:
            raise RobotError(
                f'{where}: joint "{name}" is floating; only the root can float: remove the joint and set '
                f'floating = true in the rig, or name the parent link "{WORLD}"'
            )
        if ends["child"] in children:
            other = children[ends["child"]].get("name")
            raise RobotError(
                f'{where}: link "{ends["child"]}" is attached to two joints, "{other}" and "{name}"; '
                "a URDF is a tree: remove one (closed loops need MJCF)"
            )
        children[ends["child"]], parents[ends["child"]] = joint, ends["parent"]
    roots = [name for name in links if name not in children]
    if len(roots) != 1:
        what = "no link is the root (the joints form a loop)" if not roots else f"{len(roots)} links have no parent"
        detail = f": {listed(roots)}" if roots else ""
        raise RobotError(f"{xml.path}: {what}{detail}; join all links to one root by joints")
    for name in links:  # a loop apart from the root leaves its links without a way up
        seen = {name}
        while name in parents:
            name = parents[name]
            if name in seen:
                raise RobotError(f'{xml.path}: the joints form a loop through link "{name}"; a URDF is a tree')
            seen.add(name)
        if len(seen) > DEPTH:
            raise RobotError(f"{xml.path}: more than {DEPTH} links hang on each other in a row; use fewer")
    return children


def _check_world(xml: XmlFile, links: dict[str, ET.Element], root: str, floating: bool) -> None:
    if WORLD in links and root != WORLD:
        raise RobotError(
            f'{xml.where(links[WORLD])}: link "{WORLD}" has a joint above it, but that name means the ground; rename it'
        )
    if root == WORLD and floating:
        raise RobotError(
            f'{xml.where(links[WORLD])}: the root link "{WORLD}" is the ground and cannot float; remove it and the '
            "joint on it, or drop floating = true in the rig"
        )


def _check_axis(xml: XmlFile, name: str, joint: ET.Element) -> None:
    axis = joint.find("axis")
    if axis is None or _joint_type(joint) in ("fixed", "floating"):
        return
    try:
        length = math.hypot(*(float(word) for word in axis.get("xyz", "1 0 0").split()))
    except ValueError:
        length = math.nan
    if not length > 1e-6:  # the engine's own bound is about 1e-14; a printed axis has length 1
        raise RobotError(
            f'{xml.where(axis)}: the axis of joint "{name}" is "{shown(axis.get("xyz", ""))}"; '
            "give a direction, like 1 0 0"
        )


def _check_mimic(xml: XmlFile, name: str, joint: ET.Element, joints: dict[str, ET.Element]) -> None:
    for mimic in joint.findall("mimic"):
        movable = [other for other, element in joints.items() if _joint_type(element) not in ("fixed", "floating")]
        leader = mimic.get("joint", "")
        if leader not in movable or leader == name or name not in movable:
            raise RobotError(
                f'{xml.where(mimic)}: joint "{name}" mimics joint "{shown(leader)}"; both must be joints that turn or '
                f"slide: {listed(movable)}"
            )


def _number(xml: XmlFile, element: ET.Element, attribute: str, what: str) -> float:
    text = element.get(attribute)
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RobotError(f'{xml.where(element)}: {what} is "{shown(text or "")}"; give a number')
    return value


def _check_inertia(xml: XmlFile, name: str, link: ET.Element, moves: bool, from_collision: bool) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        if moves and not (from_collision and link.find("collision") is not None):
            raise RobotError(
                f'{xml.where(link)}: link "{name}" moves but has no <inertial>; give it a mass and an inertia'
                + (", or set inertia_from_collision = true in the rig" if link.find("collision") is not None else "")
            )
        return
    mass = inertial.find("mass")
    m = math.nan if mass is None else _number(xml, mass, "value", f'the mass of link "{name}"')
    if not m > 0.0 and moves:
        raise RobotError(f'{xml.where(inertial)}: link "{name}" moves but has no mass above 0 kg; give it one')
    inertia = inertial.find("inertia")
    if inertia is None:
        if moves:
            raise RobotError(f'{xml.where(inertial)}: link "{name}" has no <inertia>; add ixx, iyy, izz in kg m2')
        return
    moments = [_number(xml, inertia, axis, f'{axis} of link "{name}"') for axis in ("ixx", "iyy", "izz")]
    if moves and min(moments) <= 0.0:
        raise RobotError(
            f'{xml.where(inertia)}: link "{name}" has a moment of inertia of 0 or less; give kg m2 above 0'
        )
    products = [
        _number(xml, inertia, axes, f'{axes} of link "{name}"') if axes in inertia.attrib else 0.0 for axes in _PRODUCTS
    ]
    if moves:
        _check_principal(xml, name, inertia, moments, products)


def _check_principal(xml: XmlFile, name: str, inertia: ET.Element, moments: list[float], products: list[float]) -> None:
    ixy, ixz, iyz = products
    a, b, c = np.linalg.eigvalsh([[moments[0], ixy, ixz], [ixy, moments[1], iyz], [ixz, iyz, moments[2]]])
    if a <= 0.0 or a + b < c * (1.0 - 1e-9):  # the compiler's own tolerance is finer; a flat plate has a + b = c
        raise RobotError(
            f'{xml.where(inertia)}: no body has the inertia of link "{name}": its principal moments are {a:.6g}, '
            f"{b:.6g} and {c:.6g} kg m2, and each must be above 0 and no larger than the sum of the others; correct it"
        )


def _resolve_meshes(xml: XmlFile, packages: Mapping[str, str]) -> None:
    """Collision meshes get their place; visual ones are not used, but a wrong path of one is refused."""
    total = 0
    for shape in [*xml.root.iter("visual"), *xml.root.iter("collision")]:
        for mesh in shape.iter("mesh"):
            if shape.tag == "visual" and _of_absent_package(xml, mesh, packages):
                continue
            path = find_mesh(xml, mesh, packages)
            if shape.tag == "collision":
                total += file_size(path, xml.where(mesh), MESH_BYTES)
            if total > ALL_MESH_BYTES:
                raise RobotError(
                    f"{xml.path}: all meshes together have more than {ALL_MESH_BYTES / 1e6:g} MB; simplify them"
                )
            if shape.tag == "collision" and path.suffix.lower() not in _MESH_SUFFIXES:
                raise RobotError(
                    f"{xml.where(mesh)}: collision mesh {path.name} is not of a kind the engine reads "
                    f"({', '.join(_MESH_SUFFIXES)}); convert it"
                )
            mesh.set("filename", str(path))


def _of_absent_package(xml: XmlFile, mesh: ET.Element, packages: Mapping[str, str]) -> bool:
    """A package that is nowhere on this machine: its pictures are not needed."""
    package, _ = _package(mesh)
    return bool(package) and package not in packages and not any(p.is_dir() for p in _package_folders(xml, package))


def _package(mesh: ET.Element) -> tuple[str, str]:
    """The package of a mesh, "" if it names none, and the path in it."""
    name = mesh.get("filename", "")
    if not name.startswith("package://"):
        return "", name
    package, _, rest = name.removeprefix("package://").partition("/")
    return package, rest


def _package_folders(xml: XmlFile, package: str) -> list[Path]:
    """Possible folders of a package by the usual layout: .../package/urdf/robot.urdf next to .../package/meshes."""
    folder = xml.path.parent.resolve()
    above = [folder, *folder.parents]
    return [p for p in above if p.name == package] + [p / package for p in above]


def find_mesh(xml: XmlFile, mesh: ET.Element, packages: Mapping[str, str]) -> Path:
    """The mesh file: next to the URDF, by absolute path, or in its `package://` (named in the rig, or found upward)."""
    name = mesh.get("filename", "")
    package, rest = _package(mesh)
    folder = xml.path.parent
    if package:
        roots = [Path(packages[package])] if package in packages else [*_package_folders(xml, package), folder]
        candidates = [root / rest for root in roots]
        hint = f'name the folder of package "{package}" under [robot.packages] in the rig'
    else:
        candidates = [folder / name.removeprefix("file://")]
        hint = "put the file there or correct the path"
    for candidate in candidates:
        try:
            if candidate.is_file():
                return candidate.resolve()
        except OSError:  # a name that is too long
            break
    looked_for = shown(str(candidates[0]), LONGEST_PATH)
    raise RobotError(f'{xml.where(mesh)}: mesh "{shown(name)}" is not there (looked for {looked_for}); {hint}')
