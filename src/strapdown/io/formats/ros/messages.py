"""Recordings and tracks as ROS messages: topics, types, and the bytes of every message in the order of time.

A sensor `imu` has the topics /imu (Imu), /imu/mag, /imu/temperature, /imu/fix, /imu/odometer and /imu/truth. Truth and
tracks are Odometry in the frame `map`; a track without velocities is PoseStamped, of attitudes or positions alone
QuaternionStamped or PointStamped.
The odometer is the x of an Odometry in the frame `travel`: the way along the heading, not a path.
"""

import heapq
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.formats.contents import Track
from strapdown.io.formats.ros.layouts import (
    FIELD,
    IMU,
    LAYOUTS,
    ODOMETRY,
    POINT,
    POSE,
    QUATERNION,
    SATELLITE,
    TEMPERATURE,
    TRAVEL,
)
from strapdown.rotation import q_conj, q_rotate
from strapdown.types import Array, Recording

_UNHELD = ("stop", "clipped", "tilt_s", "increments", "velocity_fix", "height")
_UNKNOWN = -1.0  # first number of a covariance: no such reading (sensor_msgs/Imu)
_LAST_NS = 2**32 * 10**9  # stamps of ROS have 32 bits of seconds


@dataclass(frozen=True, eq=False)
class Channel:
    """One topic. stamps_ns: one for each message. rows: its doubles."""

    topic: str
    kind: str
    names: tuple[str, ...]
    stamps_ns: np.ndarray
    rows: Array


def channels(recordings: Mapping[str, Recording], tracks: Mapping[str, Track]) -> tuple[list[Channel], list[str]]:
    """All topics, and what they cannot hold, in words."""
    found: list[Channel] = []
    unheld: list[str] = []
    for name, recording in recordings.items():
        found += _of_recording(name.strip("/"), recording, unheld)
    for name, track in tracks.items():
        found.append(_of_track(name.strip("/"), track, {each.topic for each in found}))
    if not found:
        raise InputError(f"nothing of it can be held by ROS messages ({'; '.join(unheld)}); write .parquet instead")
    return found, unheld


def _of_recording(name: str, recording: Recording, unheld: list[str]) -> Iterator[Channel]:
    t0_ns = int(recording.meta.get("t0_ns", 0))
    stamps, frame = _stamps(recording.t, t0_ns), (str(recording.meta.get("frame_id", name)),)
    n = len(recording)
    unheld += [f"{field} of {name}" for field in _UNHELD if getattr(recording, field) is not None]
    if recording.gyr_s is not None or recording.acc_s is not None:
        rows = np.zeros((n, 37))
        rows[:, 4] = _UNKNOWN
        for values, at, covariance in ((recording.gyr_s, 13, 16), (recording.acc_s, 25, 28)):
            if values is None:
                rows[:, covariance] = _UNKNOWN
            else:
                rows[:, at : at + 3] = values
        yield Channel(f"/{name}", IMU, frame, stamps, rows)
    for field, kind, width in (("mag_s", FIELD, 12), ("temperature", TEMPERATURE, 2)):
        values = getattr(recording, field)
        if values is not None:
            new = _new(recording, field)
            rows = np.zeros((n, width))
            if kind == FIELD:
                rows[:, :3] = 1e-6 * values
            else:
                rows[:, 0] = values
            yield Channel(f"/{name}/{field.removesuffix('_s')}", kind, frame, stamps[new], rows[new])
    if recording.odometer is not None:
        new, rows = _new(recording, "odometer"), np.zeros((n, 85))
        rows[:, 0], rows[:, 6] = recording.odometer, 1.0
        yield Channel(f"/{name}/odometer", ODOMETRY, (TRAVEL, "base_link"), stamps[new], rows[new])
    if recording.position_fix is not None:
        origin = recording.meta.get("origin")
        if isinstance(origin, Mapping) and {"latitude_deg", "longitude_deg", "height_m"} <= set(origin):
            yield _fixes(f"/{name}/fix", frame, recording, t0_ns, origin)
        else:
            unheld.append(f"position_fix of {name}: its origin on the Earth is not known")
    if recording.truth is not None:
        truth = recording.truth
        rows = _odometry(truth.p_n, truth.q_nb, truth.v_n)
        rows[:, 46:49] = truth.w_nb_b
        yield Channel(f"/{name}/truth", ODOMETRY, ("map", frame[0]), stamps, rows)


def _of_track(name: str, track: Track, taken: set[str]) -> Channel:
    """Poses as Odometry; attitudes or positions alone as the messages that hold no more."""
    stamps = _stamps(track.t, track.t0_ns)
    topic = f"/{name}"
    if topic in taken:
        topic = f"/{name}/{'attitude' if track.p_n is None else 'track'}"
    if track.q_nb is None:
        assert track.p_n is not None
        return Channel(topic, POINT, ("map",), stamps, track.p_n)
    if track.p_n is None:
        return Channel(topic, QUATERNION, ("map",), stamps, track.q_nb[:, [1, 2, 3, 0]])
    if track.v_n is None:  # an Odometry would state that it stands
        return Channel(topic, POSE, ("map",), stamps, np.column_stack([track.p_n, track.q_nb[:, [1, 2, 3, 0]]]))
    return Channel(topic, ODOMETRY, ("map", "body"), stamps, _odometry(track.p_n, track.q_nb, track.v_n))


def _stamps(t: Array, t0_ns: int) -> np.ndarray:
    stamps = np.round(t * 1e9).astype(np.int64) + t0_ns
    if len(stamps) and not 0 <= int(stamps[0]) <= int(stamps[-1]) < _LAST_NS:
        raise InputError(f"times from {t[0]:g} to {t[-1]:g} s have no stamps of ROS, which begin at 0; shift them")
    return stamps


def _new(recording: Recording, field: str) -> Any:
    flags = recording.new.get(field)
    return np.ones(len(recording), dtype=np.bool_) if flags is None else flags


def _odometry(p_n: Array, q_nb: Array, v_n: Array) -> Array:
    """Its velocity is expressed in the body's frame."""
    rows = np.zeros((len(p_n), 85))
    rows[:, :3], rows[:, 3:7] = p_n, q_nb[:, [1, 2, 3, 0]]
    rows[:, 43:46] = q_rotate(q_conj(q_nb), v_n)
    return rows


def _fixes(
    topic: str, frame: tuple[str, ...], recording: Recording, t0_ns: int, origin: Mapping[str, float]
) -> Channel:
    from strapdown.earth import LocalFrame

    fixes = recording.position_fix
    assert fixes is not None
    new = _new(recording, "position_fix")
    place = LocalFrame(np.radians(origin["latitude_deg"]), np.radians(origin["longitude_deg"]), origin["height_m"])
    latitude, longitude, height = place.geodetic(fixes.value_n[new])
    rows = np.zeros((int(new.sum()), 12))
    rows[:, :3] = np.column_stack([np.degrees(latitude), np.degrees(longitude), height])
    rows[:, [3, 7, 11]] = fixes.sigma_n[new] ** 2
    return Channel(topic, SATELLITE, frame, _stamps(fixes.t_s[new], t0_ns), rows)


def encoded(channel: Channel, cdr: bool) -> Iterator[bytes]:
    """The bytes of its messages, in ROS 2 (CDR, little endian) or ROS 1."""
    names = _names(channel, cdr)
    sec, nsec = np.divmod(channel.stamps_ns, 1_000_000_000)
    stamps = np.column_stack([sec, nsec]).astype("<u4").tobytes()
    rows = np.ascontiguousarray(channel.rows, dtype="<f8").tobytes()
    width = 8 * channel.rows.shape[1]
    end = b"\x02" if LAYOUTS[channel.kind].status else b""  # type of covariance: its diagonal is known
    for i in range(len(channel.stamps_ns)):
        start = b"\x00\x01\x00\x00" if cdr else struct.pack("<I", i & 0xFFFFFFFF)
        yield start + stamps[8 * i : 8 * i + 8] + names + rows[width * i : width * (i + 1)] + end


def _names(channel: Channel, cdr: bool) -> bytes:
    """Texts behind the stamp, with the padding up to the doubles."""
    made = b""
    for name in channel.names:
        text = name.encode() + (b"\0" if cdr else b"")
        if cdr:
            made += b"\0" * (-(8 + len(made)) % 4)
        made += struct.pack("<I", len(text)) + text
    if LAYOUTS[channel.kind].status:  # status: fix; service: GPS
        made += b"\0" + (b"\0" * (-(9 + len(made)) % 2) if cdr else b"") + struct.pack("<H", 1)
    return made + (b"\0" * (-(8 + len(made)) % 8) if cdr else b"")


def in_time_order(found: list[Channel], cdr: bool) -> Iterator[tuple[int, int, bytes]]:
    """(stamp, number of the channel, message) of all channels."""
    streams = [
        zip(channel.stamps_ns.tolist(), [number] * len(channel.stamps_ns), encoded(channel, cdr), strict=True)
        for number, channel in enumerate(found)
    ]
    return heapq.merge(*streams, key=lambda each: each[0])
