"""Layouts of the ROS messages that are read and written: where the stamp and the numbers are in the bytes.

All of them begin with a header: (sequence number in ROS 1,) stamp, frame. Then follow further names, then numbers
of a fixed count. So the numbers are the end of the message, and a block of messages becomes one array.
"""

import struct
from dataclasses import dataclass

from strapdown.errors import InputError

IMU = "sensor_msgs/msg/Imu"
FIELD = "sensor_msgs/msg/MagneticField"
TEMPERATURE = "sensor_msgs/msg/Temperature"
SATELLITE = "sensor_msgs/msg/NavSatFix"
ODOMETRY = "nav_msgs/msg/Odometry"
POSE = "geometry_msgs/msg/PoseStamped"
POSE_COVARIANCE = "geometry_msgs/msg/PoseWithCovarianceStamped"
TRANSFORM = "geometry_msgs/msg/TransformStamped"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
TRANSFORMS_ROS1 = "tf/msg/tfMessage"
QUATERNION = "geometry_msgs/msg/QuaternionStamped"
POINT = "geometry_msgs/msg/PointStamped"
TRAVEL = "travel"  # frame of an Odometry whose x is the way of an odometer, in files that we wrote
POSES = (ODOMETRY, POSE, POSE_COVARIANCE, TRANSFORM, QUATERNION, POINT)
READ = (IMU, FIELD, TEMPERATURE, SATELLITE, *POSES, TRANSFORMS, TRANSFORMS_ROS1)


@dataclass(frozen=True)
class Layout:
    """names: texts after the stamp. numbers: doubles at the end. status: NavSatFix has three small numbers besides."""

    names: int
    numbers: int
    status: bool = False

    @property
    def tail(self) -> tuple[int, int]:
        """(bytes from the first double to the end, bytes behind the last double)."""
        behind = 1 if self.status else 0
        return 8 * self.numbers + behind, behind


LAYOUTS = {
    IMU: Layout(1, 37),
    FIELD: Layout(1, 12),
    TEMPERATURE: Layout(1, 2),
    SATELLITE: Layout(1, 12, status=True),
    ODOMETRY: Layout(2, 85),
    POSE: Layout(1, 7),
    POSE_COVARIANCE: Layout(1, 43),
    TRANSFORM: Layout(2, 7),
    QUATERNION: Layout(1, 4),
    POINT: Layout(1, 3),
}
_CDR = {0x00: ">", 0x01: "<"}  # second byte of the encapsulation: plain CDR, big or little endian


def byte_order(raw: bytes, cdr: bool) -> str:
    """Of a whole message."""
    if not cdr:
        return "<"
    if len(raw) < 4 or raw[0] != 0 or raw[1] not in _CDR:
        raise InputError(f"a message has the encapsulation {raw[:2].hex()}, which is not plain CDR; convert the file")
    return _CDR[raw[1]]


class Walk:
    """Reads a message from its start: texts and numbers with the padding of CDR, or without it as in ROS 1."""

    def __init__(self, raw: bytes, cdr: bool) -> None:
        self.raw, self.cdr = raw, cdr
        self.order = byte_order(raw, cdr)
        self.at = 4 if cdr else 0

    def whole(self) -> int:
        """A number of 4 bytes."""
        self.align(4)
        value: int = struct.unpack_from(self.order + "I", self.raw, self.at)[0]
        self.at += 4
        return value

    def stamp_ns(self) -> int:
        """The stamp of a header; in ROS 1 behind the sequence number."""
        if not self.cdr:
            self.at += 4
        return self.whole() * 1_000_000_000 + self.whole()

    def text(self) -> str:
        size = self.whole()
        if self.at + size > len(self.raw):
            raise InputError("a text of a message is longer than the message")
        found = self.raw[self.at : self.at + size]
        self.at += size
        return found.rstrip(b"\0").decode("utf-8", "replace")

    def align(self, size: int) -> None:
        if self.cdr:
            self.at += -(self.at - 4) % size

    def doubles(self, count: int) -> tuple[float, ...]:
        self.align(8)
        found = struct.unpack_from(f"{self.order}{count}d", self.raw, self.at)
        self.at += 8 * count
        return found


def header_of(raw: bytes, layout: Layout, cdr: bool) -> tuple[list[str], int, int]:
    """Names of the message, where they end, and where its doubles begin; refused where the length is another."""
    walk = Walk(raw, cdr)
    walk.stamp_ns()
    names = [walk.text() for _ in range(layout.names)]
    end = walk.at
    if layout.status:  # int8 status, uint16 service
        walk.at += 1
        walk.align(2)
        walk.at += 2
    walk.align(8)
    tail, _ = layout.tail
    if walk.at + tail != len(raw):
        raise InputError(f"a message has {len(raw)} bytes, expected {walk.at + tail}")
    return names, end, walk.at


def transforms(raw: bytes, cdr: bool) -> list[tuple[int, str, str, tuple[float, ...]]]:
    """(stamp, parent frame, child frame, (x, y, z, qx, qy, qz, qw)) of each transform of a tf message."""
    walk = Walk(raw, cdr)
    count = walk.whole()
    if count > len(raw) // 60:  # of one: stamp, two lengths, seven doubles
        raise InputError(f"a tf message of {len(raw)} bytes states {count} transforms")
    found = []
    for _ in range(count):
        stamp = walk.stamp_ns()
        parent, child = walk.text(), walk.text()
        found.append((stamp, parent, child, walk.doubles(7)))
    return found
