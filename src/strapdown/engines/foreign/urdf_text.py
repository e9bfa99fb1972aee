"""A tree of links as a plain URDF, for engines that build their robots from one."""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.foreign.tree import Link, Shape, Tree, rotation
from strapdown.rotation import euler_from_q

Array = NDArray[np.float64]
_SMALL_BOX = '<box size="0.01 0.01 0.01"/>'


def urdf_of(tree: Tree, names: Sequence[str], joints: Sequence[str], folder: Path, static_world: bool = False) -> str:
    """The robot, one <link> for each link and a <joint> for each but a floating one; meshes are written to the folder.

    names: of the links, the world first. joints: of the joint above each link. The frame of a link with a joint lies on
    the joint. A plane is no shape of a URDF: floors are the engine's own. static_world: the world has a shape and no
    mass, which makes it a static object where a link without a shape would be none.
    """
    parts = ['<?xml version="1.0"?>', '<robot name="robot">']
    floating = tree.floating
    for i, link in enumerate(tree.links):
        if i == 0 and floating is not None:
            continue
        inside = _shapes(link, folder, f"mesh_{i}")
        if i == 0 and static_world:
            inside = inside or [f"<collision><geometry>{_SMALL_BOX}</geometry></collision>"]
        else:
            inside = [_inertial(link), *inside]
        parts.append(f"<link name={quoteattr(names[i])}>{''.join(inside)}</link>")
        if i > 0 and i != floating:
            parts.append(_joint(tree, i, names, joints[i]))
    return "\n".join([*parts, "</robot>", ""])


def shift_of(link: Link) -> Array:
    """Where the frame that a URDF gives to the link is, in the link's own frame: on its joint."""
    return np.zeros(3) if link.joint is None else link.joint.anchor


def _text(values: Array) -> str:
    return " ".join(repr(float(x)) for x in values)


def _origin(position: Array, q: Array) -> str:
    return f'<origin xyz="{_text(position)}" rpy="{_text(np.array(euler_from_q(q)))}"/>'


def _inertial(link: Link) -> str:
    axes = ("ixx", "iyy", "izz")
    inertia = " ".join(f'{axis}="{float(x)!r}"' for axis, x in zip(axes, link.inertia, strict=True))
    return (
        f'<inertial>{_origin(link.centre - shift_of(link), link.q_inertia)}<mass value="{link.mass!r}"/>'
        f'<inertia {inertia} ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def _shapes(link: Link, folder: Path, mesh: str) -> list[str]:
    found = []
    for k, shape in enumerate(link.shapes):
        if shape.kind != "plane":
            geometry = _geometry(shape, folder / f"{mesh}_{k}.obj")
            found.append(f"<collision>{_origin(shape.position - shift_of(link), shape.q)}{geometry}</collision>")
    return found


def _geometry(shape: Shape, file: Path) -> str:
    size = shape.size
    if shape.kind == "box":
        inside = f'<box size="{_text(2.0 * size)}"/>'
    elif shape.kind == "sphere":
        inside = f'<sphere radius="{float(size[0])!r}"/>'
    elif shape.kind == "mesh":
        _write_obj(shape, file)
        inside = f"<mesh filename={quoteattr(str(file))}/>"
    else:
        inside = f'<{shape.kind} radius="{float(size[0])!r}" length="{2.0 * float(size[1])!r}"/>'
    return f"<geometry>{inside}</geometry>"


def _write_obj(shape: Shape, file: Path) -> None:
    """A mesh as an OBJ file."""
    assert shape.vertices is not None and shape.faces is not None
    lines = [f"v {_text(vertex)}" for vertex in shape.vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in shape.faces.tolist()]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _joint(tree: Tree, i: int, names: Sequence[str], name: str) -> str:
    link = tree.links[i]
    joint, parent = link.joint, tree.links[link.parent]
    position = link.position + rotation(link.q) @ shift_of(link) - shift_of(parent)
    inside = [
        f"<parent link={quoteattr(names[link.parent])}/><child link={quoteattr(names[i])}/>",
        _origin(position, link.q),
    ]
    kind = "fixed"
    if joint is not None:
        inside.append(f'<axis xyz="{_text(joint.axis)}"/>')
        limited = joint.low is not None and joint.high is not None
        kind = {"slide": "prismatic", "hinge": "revolute" if limited else "continuous"}[joint.kind]
        low, high = (joint.low - joint.zero, joint.high - joint.zero) if limited else (1.0, -1.0)  # type: ignore[operator]
        if kind != "continuous":  # low above high: no limit
            inside.append(f'<limit lower="{low!r}" upper="{high!r}" effort="0" velocity="0"/>')
    return f'<joint name={quoteattr(name)} type="{kind}">{"".join(inside)}</joint>'
