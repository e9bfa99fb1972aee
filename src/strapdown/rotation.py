"""Rotations: unit quaternions (w, x, y, z; Hamilton) and rotation vectors in rad; Euler angles at the edge only.

`q_nb` takes a vector from b to n: `v_n = q_rotate(q_nb, v_b)`; letters cancel: `q_mul(q_nb, q_bs)` is `q_ns`.
Every function takes one item or an array of them (last axes: 4, 3, or 3x3) and broadcasts the leading axes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.kernels import rotation as kernel

Array = NDArray[np.float64]

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False


def _rows(x: ArrayLike, item: tuple[int, ...], name: str) -> Array:
    x = np.asarray(x, dtype=np.float64)
    if x.shape[x.ndim - len(item) :] != item or x.ndim < len(item):
        raise ValueError(f"{name} has shape {x.shape}, its last axes should be {item}")
    return x


def _flat(x: Array, lead: tuple[int, ...], item: tuple[int, ...]) -> Array:
    rows = np.ascontiguousarray(np.broadcast_to(x, lead + item)).reshape((-1, *item)).view()
    rows.flags.writeable = False  # numba compiles once for locked and unlocked arrays if all come in locked
    return rows


def _map(kernel_rows: Callable[..., None], out_item: tuple[int, ...], *args: tuple[Array, tuple[int, ...]]) -> Array:
    """Run a row kernel over the broadcast leading axes of its arguments."""
    lead = np.broadcast_shapes(*(x.shape[: x.ndim - len(item)] for x, item in args))
    out = np.empty((int(np.prod(lead)), *out_item))
    kernel_rows(*(_flat(x, lead, item) for x, item in args), out)
    return out.reshape(lead + out_item)


def q_mul(q_ab: ArrayLike, q_bc: ArrayLike) -> Array:
    """Compose: q_ab * q_bc = q_ac."""
    return _map(kernel.mul_rows, (4,), (_rows(q_ab, (4,), "q_ab"), (4,)), (_rows(q_bc, (4,), "q_bc"), (4,)))


def q_conj(q_ab: ArrayLike) -> Array:
    """The inverse rotation q_ba."""
    return _rows(q_ab, (4,), "q_ab") * np.array([1.0, -1.0, -1.0, -1.0])


def q_rotate(q_ab: ArrayLike, v_b: ArrayLike) -> Array:
    """The vector v expressed in frame a, from frame b."""
    return _map(kernel.rotate_rows, (3,), (_rows(q_ab, (4,), "q_ab"), (4,)), (_rows(v_b, (3,), "v_b"), (3,)))


def q_exp(rotation_vector: ArrayLike) -> Array:
    """Quaternion of a rotation vector (rad)."""
    return _map(kernel.exp_rows, (4,), (_rows(rotation_vector, (3,), "rotation_vector"), (3,)))


def q_log(q_ab: ArrayLike) -> Array:
    """Rotation vector (rad, length at most pi) of a quaternion; q and -q give the same."""
    return _map(kernel.log_rows, (3,), (_rows(q_ab, (4,), "q_ab"), (4,)))


def q_slerp(q_from: ArrayLike, q_to: ArrayLike, fraction: ArrayLike) -> Array:
    """Turn from q_from (fraction 0) to q_to (fraction 1) at constant rate along the shorter arc."""
    return _map(
        kernel.slerp_rows,
        (4,),
        (_rows(q_from, (4,), "q_from"), (4,)),
        (_rows(q_to, (4,), "q_to"), (4,)),
        (np.asarray(fraction, dtype=np.float64), ()),
    )


def q_normalise(q_ab: ArrayLike) -> Array:
    """Unit length, same sign."""
    q = _rows(q_ab, (4,), "q_ab")
    return q / np.sqrt(np.einsum("...i,...i->...", q, q))[..., None]  # norm() is slow on rows of four


def q_continuous(q_ab: ArrayLike) -> Array:
    """The same attitudes along axis 0, with signs chosen so that neighbours do not jump from q to -q."""
    q = _rows(q_ab, (4,), "q_ab")
    agree = np.where(np.einsum("ij,ij->i", q[1:], q[:-1]) < 0.0, -1.0, 1.0)
    return q * np.concatenate([[1.0], np.cumprod(agree)])[:, None]


def matrix(q_ab: ArrayLike) -> Array:
    """Direction cosine matrix R_ab: v_a = R_ab @ v_b."""
    return _map(kernel.matrix_rows, (3, 3), (_rows(q_ab, (4,), "q_ab"), (4,)))


def q_from_matrix(r_ab: ArrayLike) -> Array:
    """Quaternion (w >= 0) of a rotation matrix R_ab."""
    return _map(kernel.from_matrix_rows, (4,), (_rows(r_ab, (3, 3), "r_ab"), (3, 3)))


def q_from_euler(roll: ArrayLike, pitch: ArrayLike, yaw: ArrayLike) -> Array:
    """q_nb of R = Rz(yaw) Ry(pitch) Rx(roll), angles in rad."""
    half = [0.5 * np.asarray(a, dtype=np.float64) for a in (roll, pitch, yaw)]
    (cr, cp, cy), (sr, sp, sy) = ([np.cos(a) for a in half], [np.sin(a) for a in half])
    return np.stack(
        np.broadcast_arrays(
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ),
        axis=-1,
    )


def euler_from_q(q_nb: ArrayLike) -> tuple[Array, Array, Array]:
    """(roll, pitch, yaw) in rad of R = Rz(yaw) Ry(pitch) Rx(roll); pitch in [-pi/2, pi/2].

    At pitch +-pi/2 only yaw -+ roll is defined: roll is then 0.
    """
    angles = _map(kernel.euler_rows, (3,), (_rows(q_nb, (4,), "q_nb"), (4,)))
    return angles[..., 0], angles[..., 1], angles[..., 2]


def q_from_heading(heading: ArrayLike, pitch: ArrayLike, roll: ArrayLike) -> Array:
    """q_nb from paper C's angles (rad): heading clockwise from north, pitch nose up, roll right side down.

    Paper C has body x right, y forward, z up and C = Rz(-heading) Rx(pitch) Ry(roll). Our body has x forward,
    y left, z up; expressed in these axes the same attitude is Rz(pi/2 - heading) Ry(-pitch) Rx(roll).
    """
    return q_from_euler(roll, -np.asarray(pitch), 0.5 * np.pi - np.asarray(heading))


def heading_from_q(q_nb: ArrayLike) -> tuple[Array, Array, Array]:
    """Paper C's (heading, pitch, roll) in rad; heading in (-pi, pi], clockwise from north."""
    roll, pitch, yaw = euler_from_q(q_nb)
    return _wrap(0.5 * np.pi - yaw), -pitch, roll


# Other people's frames, converted at the edge. NED: x north, y east, z down. FRD: x forward, y right, z down.
# RFU, paper C's body: x right, y forward, z up. Ours are ENU and FLU.
_Q_NED_ENU = np.array([0.0, 1.0, 1.0, 0.0]) / np.sqrt(2.0)  # half a turn about the north-east diagonal
_Q_FRD_FLU = np.array([0.0, 1.0, 0.0, 0.0])  # half a turn about forward
_Q_RFU_FLU = np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0)  # forward (1, 0, 0) becomes (0, 1, 0)


def ned_from_enu(v_enu: ArrayLike) -> Array:
    """Vector (north, east, down) from (east, north, up)."""
    east, north, up = np.moveaxis(_rows(v_enu, (3,), "v_enu"), -1, 0)
    return np.stack([north, east, -up], axis=-1)


def enu_from_ned(v_ned: ArrayLike) -> Array:
    """Vector (east, north, up) from (north, east, down)."""
    north, east, down = np.moveaxis(_rows(v_ned, (3,), "v_ned"), -1, 0)
    return np.stack([east, north, -down], axis=-1)


def frd_from_flu(v_flu: ArrayLike) -> Array:
    """Vector (forward, right, down) from (forward, left, up)."""
    forward, left, up = np.moveaxis(_rows(v_flu, (3,), "v_flu"), -1, 0)
    return np.stack([forward, -left, -up], axis=-1)


def flu_from_frd(v_frd: ArrayLike) -> Array:
    """Vector (forward, left, up) from (forward, right, down)."""
    forward, right, down = np.moveaxis(_rows(v_frd, (3,), "v_frd"), -1, 0)
    return np.stack([forward, -right, -down], axis=-1)


def rfu_from_flu(v_flu: ArrayLike) -> Array:
    """Paper C's vector (right, forward, up) from (forward, left, up)."""
    forward, left, up = np.moveaxis(_rows(v_flu, (3,), "v_flu"), -1, 0)
    return np.stack([-left, forward, up], axis=-1)


def flu_from_rfu(v_rfu: ArrayLike) -> Array:
    """Vector (forward, left, up) from paper C's (right, forward, up)."""
    right, forward, up = np.moveaxis(_rows(v_rfu, (3,), "v_rfu"), -1, 0)
    return np.stack([forward, -right, up], axis=-1)


def q_ned_frd_from_enu_flu(q_enu_flu: ArrayLike) -> Array:
    """The attitude that aerospace writes (body FRD to NED) of ours (body FLU to ENU)."""
    return q_mul(_Q_NED_ENU, q_mul(q_enu_flu, q_conj(_Q_FRD_FLU)))


def q_enu_flu_from_ned_frd(q_ned_frd: ArrayLike) -> Array:
    """Our attitude (body FLU to ENU) from that of aerospace (body FRD to NED)."""
    return q_mul(q_conj(_Q_NED_ENU), q_mul(q_ned_frd, _Q_FRD_FLU))


def q_enu_rfu_from_enu_flu(q_enu_flu: ArrayLike) -> Array:
    """Paper C's attitude (body RFU to ENU, its matrix C) from ours."""
    return q_mul(q_enu_flu, q_conj(_Q_RFU_FLU))


def q_enu_flu_from_enu_rfu(q_enu_rfu: ArrayLike) -> Array:
    """Our attitude from paper C's (body RFU to ENU, its matrix C)."""
    return q_mul(q_enu_rfu, _Q_RFU_FLU)


def wrap(angle: ArrayLike) -> Array:
    """The same angle (rad) in (-pi, pi]."""
    return _wrap(np.asarray(angle, dtype=np.float64))


def _wrap(angle: Array) -> Array:
    turned = np.pi - np.mod(np.pi - angle, 2.0 * np.pi)
    return np.where(np.abs(angle) <= np.pi, np.where(angle == -np.pi, np.pi, angle), turned)
