"""A tree without fixed links: each is made one with the link that carries it, mass, inertia and shapes together.

Engines that hold fixed links by soft constraints then have none to hold.
"""

from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.foreign.tree import Link, Shape, Tree, rotation
from strapdown.rotation import q_mul

Array = NDArray[np.float64]


def merged(tree: Tree) -> tuple[Tree, list[int]]:
    """The tree, and for each link of the original the link that it is part of."""
    links: list[Link] = [tree.links[0]]
    part_of, place = [0], [(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))]  # of each link in the one it is part of
    for link in tree.links[1:]:
        on, (shift, turn) = part_of[link.parent], place[link.parent]
        position, q = shift + rotation(turn) @ link.position, q_mul(turn, link.q)
        if link.joint is None:
            links[on] = _joined(links[on], link, position, q)
            part_of.append(on)
            place.append((position, q))
        else:
            part_of.append(len(links))
            place.append((np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])))
            links.append(replace(link, parent=on, position=position, q=q))
    return replace(tree, links=tuple(links)), part_of


def _joined(link: Link, added: Link, position: Array, q: Array) -> Link:
    shapes = (*link.shapes, *(_moved(shape, position, q) for shape in added.shapes))
    mass = link.mass + added.mass
    if mass == 0.0:
        return replace(link, shapes=shapes)
    turn = rotation(q)
    centres = link.centre, position + turn @ added.centre
    centre = (link.mass * centres[0] + added.mass * centres[1]) / mass
    inertia = _about(link.inertia_about_centre(), link.mass, centres[0] - centre)
    inertia += _about(turn @ added.inertia_about_centre() @ turn.T, added.mass, centres[1] - centre)
    q_inertia, principal = np.empty(4), np.empty(3)
    mujoco.mju_eig3(principal, np.empty(9), q_inertia, inertia.ravel())
    return replace(link, mass=mass, centre=centre, q_inertia=q_inertia, inertia=principal, shapes=shapes)


def _about(inertia: Array, mass: float, arm: Array) -> Array:
    """An inertia about a point that is an arm away from the centre of mass."""
    return inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))


def _moved(shape: Shape, position: Array, q: Array) -> Shape:
    return replace(shape, position=position + rotation(q) @ shape.position, q=q_mul(q, shape.q))
