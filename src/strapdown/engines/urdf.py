"""URDF robots, checked and made ready for the engine: each defect that would surprise later is one clear message here.

What MuJoCo's own reader does not say or do (measured, design/engines.md): fixed links are merged and the root
vanishes (we keep them all, so that a sensor can sit on any link), `package://` paths fail, a moving link without
inertia is an error without a line number, or its mass is guessed from the collision shapes.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

from strapdown.engines.xml_lines import XmlFile
from strapdown.errors import RobotError

_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_MESH_SUFFIXES = (".stl", ".obj", ".msh")


def prepare_urdf(xml: XmlFile, floating: bool, inertia_from_collision: bool, packages: Mapping[str, str]) -> str:
    """The URDF as text that MuJoCo compiles with all links kept; raises RobotError with the first defect found."""
    robot = xml.root
    links = _named(xml, robot.findall("link"), "link")
    joints = _named(xml, robot.findall("joint"), "joint")
    if not links:
        raise RobotError(f"{xml.path}: the robot has no <link>; add at least one")
    children = _check_tree(xml, links, joints)
    root = next(name for name in links if name not in children)
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
        if name in found:
            raise RobotError(f'{xml.where(element)}: {kind} "{name}" is there twice; rename one of them')
        found[name] = element
    return found


def _joint_type(joint: ET.Element) -> str:
    return joint.get("type", "")


def _check_tree(xml: XmlFile, links: dict[str, ET.Element], joints: dict[str, ET.Element]) -> dict[str, ET.Element]:
    """Child link -> its joint; every link but one root hangs on exactly one joint."""
    children: dict[str, ET.Element] = {}
    parents: dict[str, str] = {}
    for name, joint in joints.items():
        where = xml.where(joint)
        if _joint_type(joint) not in _JOINT_TYPES:
            raise RobotError(
                f'{where}: joint "{name}" has type "{_joint_type(joint)}"; use one of {", ".join(_JOINT_TYPES)}'
            )
        ends = {}
        for end in ("parent", "child"):
            element = joint.find(end)
            link = "" if element is None else element.get("link", "")
            if link not in links:
                raise RobotError(
                    f'{where}: joint "{name}" has {end} link "{link}", which is not there; '
                    f"the links are {', '.join(links)}"
                )
            ends[end] = link
        if ends["child"] in children:
            other = children[ends["child"]].get("name")
            raise RobotError(
                f'{where}: link "{ends["child"]}" hangs on two joints, "{other}" and "{name}"; '
                "a URDF is a tree: remove one (closed loops need MJCF)"
            )
        children[ends["child"]], parents[ends["child"]] = joint, ends["parent"]
    roots = [name for name in links if name not in children]
    if len(roots) != 1:
        what = "no link is the root (the joints form a loop)" if not roots else f"{len(roots)} links have no parent"
        detail = f": {', '.join(roots)}" if roots else ""
        raise RobotError(f"{xml.path}: {what}{detail}; join all links to one root by joints")
    for name in links:  # a loop apart from the root leaves its links without a way up
        seen = {name}
        while name in parents:
            name = parents[name]
            if name in seen:
                raise RobotError(f'{xml.path}: the joints form a loop through link "{name}"; a URDF is a tree')
            seen.add(name)
    return children


def _number(xml: XmlFile, element: ET.Element, attribute: str, what: str) -> float:
    text = element.get(attribute)
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RobotError(f'{xml.where(element)}: {what} is "{text or ""}"; give a number')
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


def _resolve_meshes(xml: XmlFile, packages: Mapping[str, str]) -> None:
    for shape in [*xml.root.iter("visual"), *xml.root.iter("collision")]:
        for mesh in shape.iter("mesh"):
            path = find_mesh(xml, mesh, packages)
            if shape.tag == "collision" and path.suffix.lower() not in _MESH_SUFFIXES:
                raise RobotError(
                    f"{xml.where(mesh)}: collision mesh {path.name} is not of a kind the engine reads "
                    f"({', '.join(_MESH_SUFFIXES)}); convert it"
                )
            mesh.set("filename", str(path))


def find_mesh(xml: XmlFile, mesh: ET.Element, packages: Mapping[str, str]) -> Path:
    """The mesh file: beside the URDF, by absolute path, or in its `package://` (named in the rig, or found upward)."""
    name = mesh.get("filename", "")
    folder = xml.path.parent
    if name.startswith("package://"):
        package, _, rest = name.removeprefix("package://").partition("/")
        roots = [Path(packages[package])] if package in packages else []
        if not roots:  # the usual layout: .../package/urdf/robot.urdf beside .../package/meshes
            above = [folder.resolve(), *folder.resolve().parents]
            roots = [p for p in above if p.name == package] + [p / package for p in above] + [folder]
        candidates = [root / rest for root in roots]
        hint = f'name the folder of package "{package}" under [robot.packages] in the rig'
    else:
        candidates = [folder / name.removeprefix("file://")]
        hint = "put the file there or correct the path"
    for candidate in candidates:
        if candidate.is_file():
            return candidate.resolve()
    raise RobotError(f'{xml.where(mesh)}: mesh "{name}" is not there (looked for {candidates[0]}); {hint}')
