"""A virtual magnetometer before the errors of the part: the field at the sensor, and the iron of its own body.

The errors of the part (noise, scale, bias, range, ...) follow with a Triad of unit "uT", as for the other sensors.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.checks import rows, triple
from strapdown.errors import InputError
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.magnetic_sources import MagneticWorld
from strapdown.types import Motion

Array = NDArray[np.float64]

NO_IRON = (0.0, 0.0, 0.0)
NO_SOFT_IRON = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
WORST_CONDITION = 1e6  # of the soft iron matrix: beyond it a direction of the field is lost


def ideal_field(
    motion: Motion, world: MagneticWorld, hard_iron: ArrayLike = NO_IRON, soft_iron: ArrayLike = NO_SOFT_IRON
) -> Array:
    """Reading of an ideal magnetometer on this body, uT, frame s: soft_iron @ B_s + hard_iron.

    motion: motion of the sensor's frame s, so with mounting and lever arm (Motion.seen_from).
    hard_iron (uT, frame s): the field of magnets and magnetised steel that move along with the sensor.
    soft_iron (3x3, frame s): distortion of the external field by steel of the body.

    The inverse of hard and soft iron is the calibration B_s = soft_iron^-1 (reading - hard_iron).
    """
    if world.empty:
        raise InputError(
            "a magnetometer finds no magnetic field here, as on Mars and the Moon; "
            "remove it, or give the world a uniform field or sources"
        )
    hard_s = np.array(triple("hard_iron", hard_iron))
    soft_s = _soft(soft_iron)
    b_s = q_rotate(q_conj(motion.q_nb), world.at(motion.p_n, motion.t))
    return b_s @ soft_s.T + hard_s


def _soft(soft_iron: ArrayLike) -> Array:
    soft = rows("soft_iron", soft_iron, 3)
    if len(soft) != 3:
        raise InputError(f"soft_iron has {len(soft)} rows; give a 3x3 matrix")
    if not np.linalg.cond(soft) < WORST_CONDITION:
        raise InputError("soft_iron is singular: it hides a direction of the field; give an invertible 3x3 matrix")
    return soft
