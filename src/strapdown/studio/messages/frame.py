"""The binary messages of the server: frames and history. One table defines the layout, in Python and in TypeScript.

All numbers are little-endian. Times are float64, everything else in the body is float32.
"""

import struct
from typing import Any, NamedTuple

import numpy as np

from strapdown.arrays import Array

FRAME, HISTORY = 1, 2  # first byte of a message
LAYOUT_VERSION = 1


class Place(NamedTuple):
    """A number of the header.

    code: format code of the module struct.
    count: how many.
    """

    name: str
    code: str
    count: int = 1  # type: ignore[assignment]  # a tuple has a method of this name, which is not used


HEADER = (
    Place("kind", "B"),  # FRAME or HISTORY
    Place("layout", "B"),  # LAYOUT_VERSION
    Place("epoch", "H"),  # of the list of signals; grows when the list changes
    Place("sequence", "I"),  # of a frame; the id of the command for a history
    Place("t_s", "d"),
    Place("real_time_factor", "f"),
    Place("speed", "f"),  # wanted
    Place("state", "H"),  # bits, see STATES
    Place("bodies", "H"),  # b
    Place("rows", "I"),  # r
    Place("columns", "H"),  # c: numbers of all subscribed signals together
    Place("take", "H"),
    Place("dropped", "I"),  # frames that this client was too slow for
    Place("estimate", "f", 7),  # position (m), quaternion (w, x, y, z) of the body by its own estimate; NaN: none
    Place("console", "f", 10),  # CONSOLE
)
STATES = (
    "running",
    "recording",
    "powered",
    "calibrating",
    "armed",
    "airborne",
    "stopped",
    "estimates_position",  # else the position of the estimate is the true one
    "gap",  # samples between the last frame and this one were dropped
)
CONSOLE = ("power", "calibrate", "arm", "mode", "roll", "pitch", "yaw", "throttle", "drive", "turn")
_STRUCT = struct.Struct("<" + "".join(f"{p.count}{p.code}" if p.count > 1 else p.code for p in HEADER))
HEADER_BYTES = (_STRUCT.size + 7) // 8 * 8  # the times after it are on a multiple of 8
_PADDING = b"\0" * (HEADER_BYTES - _STRUCT.size)


def offsets() -> dict[str, int]:
    """Place where each number of the header begins."""
    found, at = {}, 0
    for place in HEADER:
        found[place.name] = at
        at += place.count * struct.calcsize(f"<{place.code}")
    return found


class Head(NamedTuple):
    """The header of a message, by the names of HEADER without kind and layout."""

    epoch: int
    sequence: int
    t_s: float
    real_time_factor: float
    speed: float
    state: int
    bodies: int
    rows: int
    columns: int
    take: int
    dropped: int
    estimate: tuple[float, ...]
    console: tuple[float, ...]


def packed(kind: int, head: Head, times: bytes, poses: bytes, columns: list[bytes]) -> bytes:
    """A message.

    times: r float64.
    poses: poses of a frame b x 7 float32 (now), of a history r x b x 7 (bodies may be 0).
    columns: columns of each signal r x size float32, one signal after the other.
    """
    front = _STRUCT.pack(
        kind,
        LAYOUT_VERSION,
        head.epoch,
        head.sequence,
        head.t_s,
        head.real_time_factor,
        head.speed,
        head.state,
        head.bodies,
        head.rows,
        head.columns,
        head.take,
        head.dropped,
        *head.estimate,
        *head.console,
    )
    return b"".join([front, _PADDING, times, poses, *columns])


class Unpacked(NamedTuple):
    kind: int
    head: Head
    times: Array
    poses: Array
    samples: Array  # c x r flat: one signal after the other


def unpacked(message: bytes) -> Unpacked:
    """For tests and Python clients: the numbers of a message."""
    numbers = _STRUCT.unpack_from(message)
    rest: tuple[Any, ...] = (*numbers[2:13], numbers[13:20], numbers[20:30])
    head = Head._make(rest)
    at = HEADER_BYTES
    times = np.frombuffer(message, "<f8", head.rows, at)
    at += 8 * head.rows
    many = head.bodies * (1 if numbers[0] == FRAME else head.rows)
    poses = np.frombuffer(message, "<f4", 7 * many, at).reshape(-1, 7)
    samples = np.frombuffer(message, "<f4", -1, at + 28 * many)
    return Unpacked(numbers[0], head, times, poses, samples)
