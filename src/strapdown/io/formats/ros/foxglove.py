"""Poses and places in Foxglove's own schemas (foxglove.PoseInFrame and others), as JSON or Protocol Buffers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.formats.library import library
from strapdown.io.formats.ros.layouts import ODOMETRY, POSE, SATELLITE, TRANSFORM
from strapdown.io.formats.ros.topics import Messages

_KINDS = {
    "foxglove.PoseInFrame": POSE,
    "foxglove.Odometry": ODOMETRY,
    "foxglove.FrameTransform": TRANSFORM,
    "foxglove.FrameTransforms": TRANSFORM,
    "foxglove.LocationFix": SATELLITE,
}


class Collected:
    """Rows by topic; transforms by their frames."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        self._stamps: dict[str, list[int]] = {}
        self._rows: dict[str, list[dict[str, list[float]]]] = {}

    def place(self, topic: str, schema: Any, encoding: str, path: Path) -> Callable[[bytes, int], None] | None:
        """Where the messages of a topic go; None for schemas that hold no poses."""
        kind = _KINDS.get(schema.name)
        if kind is None:
            return None
        decode = json.loads
        if encoding == "protobuf":
            factory = library("mcap_protobuf.decoder", path, "an MCAP file with Protocol Buffers").DecoderFactory()
            decode = factory.decoder_for("protobuf", schema)

        def put(raw: bytes, logged_ns: int) -> None:
            message = decode(raw)
            several = schema.name == "foxglove.FrameTransforms"
            for each in _get(message, "transforms") if several else (message,):
                self._put(topic.strip("/"), kind, each, logged_ns)

        return put

    def _put(self, topic: str, kind: str, message: Any, logged_ns: int) -> None:
        names = [str(_get(message, "frame_id", ""))]
        if kind == TRANSFORM:
            names = [str(_get(message, key, "")) for key in ("parent_frame_id", "child_frame_id")]
            topic = f"tf/{names[0].strip('/')}/{names[1].strip('/')}"
        if kind == ODOMETRY:
            names.append(str(_get(message, "body_frame_id", "")))
        self._kinds[topic] = kind
        self._names.setdefault(topic, names)
        self._stamps.setdefault(topic, []).append(_stamp_ns(_get(message, "timestamp", None)) or logged_ns)
        self._rows.setdefault(topic, []).append(_numbers(kind, message))

    def finished(self) -> dict[str, Messages]:
        found = {}
        for topic, rows in self._rows.items():
            values: dict[str, Any] = {key: np.array([row[key] for row in rows]) for key in rows[0]}
            if "status" in values:
                values["status"] = values["status"][:, 0].astype(np.int64)
            stamps = np.array(self._stamps[topic], dtype=np.int64)
            found[topic] = Messages(self._kinds[topic], self._names[topic], stamps, values)
        return found


def _numbers(kind: str, message: Any) -> dict[str, list[float]]:
    if kind == SATELLITE:
        covariance = [float(x) for x in _get(message, "position_covariance", ())]
        known = len(covariance) == 9 and int(_get(message, "position_covariance_type", 0)) > 0
        return {
            "place": [float(_get(message, key, 0.0)) for key in ("latitude", "longitude", "altitude")],
            "covariance": covariance if known else [0.0] * 9,
            "status": [float(known)],
        }
    pose = message if kind == TRANSFORM else _get(message, "pose")
    place, turn = ("translation", "rotation") if kind == TRANSFORM else ("position", "orientation")
    found = {"p": _parts(_get(pose, place), "xyz"), "q_xyzw": _parts(_get(pose, turn), "xyzw")}
    if kind == ODOMETRY:
        found["v"] = _parts(_get(message, "linear_velocity"), "xyz")
    return found


def _parts(vector: Any, axes: str) -> list[float]:
    return [float(_get(vector, axis, 0.0)) for axis in axes]


_MISSING: Any = object()


def _get(message: Any, key: str, default: Any = _MISSING) -> Any:
    """A field of a message: of a dict from JSON, or an attribute from Protocol Buffers."""
    if isinstance(message, dict):
        if key not in message and default is _MISSING:
            raise InputError(f"a Foxglove message has no field {key}")
        return message.get(key, None if default is _MISSING else default)
    return getattr(message, key) if default is _MISSING else getattr(message, key, default)


def _stamp_ns(stamp: Any) -> int:
    """{"sec", "nsec"} of JSON, or a google.protobuf.Timestamp."""
    if stamp is None:
        return 0
    if isinstance(stamp, dict):
        return int(stamp.get("sec", 0)) * 1_000_000_000 + int(stamp.get("nsec", 0))
    return int(stamp.seconds) * 1_000_000_000 + int(stamp.nanos)
