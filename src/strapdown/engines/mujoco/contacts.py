"""Contacts between bodies: place and force."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contact:
    """Two links touch: the point (m, frame n), the normal from the first to the second, the force on the second (N)."""

    links: tuple[str, str]
    p_n: Array
    normal_n: Array
    force_n: Array


def contacts(model: Any, data: Any) -> list[Contact]:
    """All contacts in engine data that is up to date."""
    found, wrench = [], np.empty(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        mujoco.mj_contactForce(model, data, i, wrench)
        frame = contact.frame.reshape(3, 3)
        a, b = (model.body(model.geom_bodyid[g]).name for g in contact.geom)
        found.append(Contact((a, b), contact.pos.copy(), frame[0].copy(), frame.T @ wrench[:3]))
    return found
