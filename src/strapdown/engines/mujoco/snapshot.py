"""Everything that the future of a live robot depends on, as bytes that identify their robot."""

import hashlib
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError

Array = NDArray[np.float64]

_KIND = b"strapdown plant 1\n"  # the number is the version of the layout
_DIGEST = 16  # bytes
_PUSH = 8  # numbers: link, force, torque, end


@dataclass(frozen=True)
class RunningPush:
    """A force (N) and torque (N m), frame n, at the centre of mass of a link, until a time (s)."""

    body: int
    wrench: tuple[float, ...]
    until_s: float


def _digest(*parts: bytes) -> bytes:
    found = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        found.update(part)
    return found.digest()


def model_digest(model: Any, law: bytes = b"") -> bytes:
    """A fingerprint of a compiled robot with its physics settings and the constants of its force law."""
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return _digest(buffer.tobytes(), law)


def packed(model: bytes, time_s: float, state: Array, pushes: list[RunningPush]) -> bytes:
    """A snapshot: kind, robot, numbers, and a check sum over all of it."""
    rows = [x for push in pushes for x in (push.body, *push.wrench, push.until_s)]
    numbers = np.concatenate([[time_s], state, rows]).astype("<f8").tobytes()
    return _KIND + model + numbers + _digest(model, numbers)


def unpacked(kept: bytes, model: bytes, state_size: int) -> tuple[float, Array, list[RunningPush]]:
    """Time, engine state and running pushes; raises InputError if the bytes do not belong to this robot."""
    if not isinstance(kept, bytes) or not kept.startswith(_KIND):
        raise InputError("restore was given something that is no snapshot; give the bytes that snapshot() returned")
    body = kept[len(_KIND) :]
    of, numbers, check = body[:_DIGEST], body[_DIGEST:-_DIGEST], body[-_DIGEST:]
    if len(body) < 2 * _DIGEST or _digest(of, numbers) != check:
        raise InputError("the snapshot is damaged or cut off; give the bytes that snapshot() returned, unchanged")
    if of != model:
        raise InputError(
            "the snapshot belongs to another robot or to other physics settings; restore it in a plant built from the "
            "same robot file, motors, gravity, step and integrator"
        )
    values = np.frombuffer(numbers, "<f8").astype(np.float64)
    rows = values[1 + state_size :].reshape(-1, _PUSH)
    pushes = [RunningPush(int(row[0]), tuple(row[1:7].tolist()), float(row[7])) for row in rows]
    return float(values[0]), values[1 : 1 + state_size], pushes
