"""Messages of one topic, gathered block by block into arrays: whatever the file's length, each number is held once."""

import struct
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from strapdown.io.blocks.growing import Growing
from strapdown.io.formats.ros.layouts import (
    FIELD,
    IMU,
    LAYOUTS,
    ODOMETRY,
    POINT,
    POSE,
    POSE_COVARIANCE,
    QUATERNION,
    SATELLITE,
    TEMPERATURE,
    TRANSFORM,
    byte_order,
    header_of,
    transforms,
)
from strapdown.types import Array

NO_GYR, NO_ACC = 1, 2  # bits of "absent": an Imu message states that it has no such reading
_ABSENT = {NO_GYR: 16, NO_ACC: 28}  # first double of the covariance, which is then -1
_BLOCK = 4096  # messages; a block of Imu has 1.2 MB
# the doubles of each type that are kept, by quantity
_POSE = {"p": slice(0, 3), "q_xyzw": slice(3, 7)}
COLUMNS: dict[str, dict[str, slice]] = {
    IMU: {"gyr": slice(13, 16), "acc": slice(25, 28), "q_xyzw": slice(0, 4), "q_known": slice(4, 5)},
    FIELD: {"mag": slice(0, 3)},
    TEMPERATURE: {"temperature": slice(0, 1)},
    SATELLITE: {"place": slice(0, 3), "covariance": slice(3, 12)},
    ODOMETRY: {**_POSE, "v": slice(43, 46)},
    POSE: _POSE,
    POSE_COVARIANCE: {**_POSE, "covariance": slice(7, 43)},
    TRANSFORM: _POSE,
    QUATERNION: {"q_xyzw": slice(0, 4)},
    POINT: {"p": slice(0, 3)},
}


class Topic:
    """One topic of a type with a fixed layout. cdr: ROS 2; else ROS 1. only: quantities to keep, None for all."""

    def __init__(self, kind: str, cdr: bool, only: tuple[str, ...] | None = None) -> None:
        self.kind, self.cdr = kind, cdr
        self.names: list[str] = []
        self.rows = 0
        self._layout = LAYOUTS[kind]
        self._columns = {name: at for name, at in COLUMNS[kind].items() if only is None or name in only}
        self._stamps = Growing(None, np.int64)
        self._values = {name: Growing(at.stop - at.start) for name, at in self._columns.items()}
        self._status = Growing(None, np.int64) if self._layout.status else None
        self._absent = Growing(None, np.uint8) if kind == IMU else None
        self._known: set[tuple[int, bytes]] = set()
        self._raw: list[bytes] = []
        self._logged: list[int] = []

    def put(self, raw: bytes, logged_ns: int) -> None:
        """A message, and when the file states that it arrived: used where the header has no stamp."""
        self._raw.append(raw)
        self._logged.append(logged_ns)
        if len(self._raw) == _BLOCK:
            self._flush()

    def _flush(self) -> None:
        """The messages that wait, as rows: all at once where they have one length and one order of bytes."""
        first = 0
        for (size, start), group in groupby(self._raw, key=lambda raw: (len(raw), raw[:2] if self.cdr else b"")):
            messages = list(group)
            if (size, start) not in self._known:
                names, _, _ = header_of(messages[0], self._layout, self.cdr)
                self.names = self.names or names
                self._known.add((size, start))
            self._put(messages, np.array(self._logged[first : first + len(messages)], dtype=np.int64))
            first += len(messages)
        self._raw, self._logged = [], []

    def _put(self, messages: list[bytes], logged_ns: NDArray[np.int64]) -> None:
        order = byte_order(messages[0], self.cdr)
        rows = np.frombuffer(b"".join(messages), dtype=np.uint8).reshape(len(messages), -1)
        # the stamp is behind the encapsulation, or behind the sequence number
        parts = np.ascontiguousarray(rows[:, 4:12]).view(order + "u4").astype(np.int64)
        stamps = parts[:, 0] * 1_000_000_000 + parts[:, 1]
        stamps = np.where(stamps == 0, logged_ns, stamps)
        tail, behind = self._layout.tail
        first, last = rows.shape[1] - tail, rows.shape[1] - behind
        for name, at in self._columns.items():
            cells = rows[:, first + 8 * at.start : min(first + 8 * at.stop, last)]
            self._values[name].put(self.rows, np.ascontiguousarray(cells).view(order + "f8"))
        self._stamps.put(self.rows, stamps)
        if self._absent is not None:
            absent = np.zeros(len(messages), dtype=np.uint8)
            for bit, at_double in _ABSENT.items():
                cell = np.ascontiguousarray(rows[:, first + 8 * at_double : first + 8 * at_double + 8])
                absent += np.where(cell.view(order + "f8")[:, 0] == -1.0, bit, 0).astype(np.uint8)
            self._absent.put(self.rows, absent)
        if self._status is not None:
            self._status.put(self.rows, np.array([self._fix_status(raw) for raw in messages]))
        self.rows += len(messages)

    def _fix_status(self, raw: bytes) -> int:
        """Of a NavSatFix: -1 without a fix, 0 with a fix of unknown covariance, 1 with a known one."""
        _, status_at, _ = header_of(raw, self._layout, self.cdr)
        status = struct.unpack_from("b", raw, status_at)[0]
        return -1 if status < 0 else int(raw[-1] > 0)

    def finished(self) -> "Messages":
        self._flush()
        values = {name: each.locked(self.rows) for name, each in self._values.items()}
        if self._status is not None:
            values["status"] = self._status.locked(self.rows)
        if self._absent is not None:
            values["absent"] = self._absent.locked(self.rows)
        return Messages(self.kind, self.names, self._stamps.locked(self.rows), values)


class Messages:
    """All messages of a topic: stamps (ns) and quantities by name, one row for each."""

    def __init__(self, kind: str, names: list[str], stamps_ns: NDArray[np.int64], values: dict[str, Array]) -> None:
        self.kind, self.names, self.stamps_ns, self.values = kind, names, stamps_ns, values

    def __len__(self) -> int:
        return len(self.stamps_ns)


class Transforms:
    """Transforms of tf, one series for each pair of parent and child."""

    def __init__(self, cdr: bool) -> None:
        self.cdr = cdr
        self._rows: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        self._stamps: dict[tuple[str, str], list[int]] = {}

    def put(self, raw: bytes, logged_ns: int) -> None:
        for stamp, parent, child, numbers in transforms(raw, self.cdr):
            self._rows.setdefault((parent, child), []).append(numbers)
            self._stamps.setdefault((parent, child), []).append(stamp or logged_ns)

    def finished(self) -> dict[str, Messages]:
        """By name, as "tf/odom/base_link"; single transforms are mountings that do not change, and no track."""
        found = {}
        for (parent, child), rows in self._rows.items():
            if len(rows) > 1:
                values = np.array(rows)
                stamps = np.array(self._stamps[parent, child], dtype=np.int64)
                quantities = {"p": values[:, :3], "q_xyzw": values[:, 3:]}
                found[f"tf/{parent.strip('/')}/{child.strip('/')}"] = Messages(
                    TRANSFORM, [parent, child], stamps, quantities
                )
        return found
