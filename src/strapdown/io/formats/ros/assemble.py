"""Topics of ROS as recordings and tracks: one recording for each Imu topic, with the slower instruments of the file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.formats.contents import Contents, Track, in_seconds
from strapdown.io.formats.ros.layouts import (
    FIELD,
    IMU,
    ODOMETRY,
    POINT,
    POSES,
    QUATERNION,
    SATELLITE,
    TEMPERATURE,
    TRAVEL,
)
from strapdown.io.formats.ros.pairs import on_one_clock, pairs_of
from strapdown.io.formats.ros.topics import NO_ACC, NO_GYR, Messages
from strapdown.io.formats.rows import (
    UNSTATED_FIX_SIGMA_M,
    held_fixes,
    held_vectors,
    in_order,
    local_positions,
)
from strapdown.rotation import q_normalise, q_rotate
from strapdown.types import Array, Recording

FRAMES = "ROS: body forward-left-up, world east-north-up (REP 103), SI units; tesla became uT, nothing else was changed"
_TESLA = 1e6  # uT
_LARGEST_RAD_S = 1e4  # some drivers write this and more for a reading that they do not have
_WORDS = {NO_GYR: "gyroscope", NO_ACC: "accelerometer"}
_UNIT = 1e-3  # of the norm of a quaternion; drivers without orientation write zeros


def assemble(
    topics: Mapping[str, Messages], source: str, place: str, notes: tuple[str, ...] = (), tracks: bool = True
) -> Contents:
    """topics: by name without the first slash. tracks: also those of poses and attitudes."""
    if not any(len(messages) for messages in topics.values()):
        raise InputError(_nothing(place, "", tracks, notes))
    changed = list(notes)
    cleaned = {name: _cleaned(name, messages, changed) for name, messages in topics.items()}
    stamps = [m.stamps_ns for m in cleaned.values() if m.kind == IMU and len(m)]
    stamps = stamps or [m.stamps_ns for m in cleaned.values() if len(m)]
    t0_ns = int(min((each[0] for each in stamps), default=0))
    pairs = pairs_of(cleaned)
    recordings = {}
    for name in [name for name, m in cleaned.items() if m.kind == IMU and name not in pairs.values()]:
        imu = cleaned[name] if tracks else cleaned.pop(name)
        if name in pairs:
            imu = on_one_clock(imu, cleaned[pairs[name]])
            changed.append(
                f"/{name} and /{pairs[name]} are one IMU: the accelerometer is interpolated to its gyroscope"
            )
        found = _recording(name, imu, cleaned, t0_ns, source)
        if found is not None:
            recordings[name] = found.with_meta(accelerometer_topic=f"/{pairs[name]}") if name in pairs else found
    made: dict[str, Track] = {}
    if tracks:
        for name, messages in cleaned.items():
            track = _track(messages, t0_ns)
            if track is not None:
                made[name] = track
    if not recordings and not made:
        raise InputError(_nothing(place, " with two readings", tracks, tuple(changed)))
    return Contents(source, FRAMES, recordings, made, tuple(dict.fromkeys(changed)))


def _nothing(place: str, what: str, tracks: bool, notes: tuple[str, ...]) -> str:
    why = f" ({'; '.join(notes)})" if notes else ""
    return f"{place} holds no sensor_msgs/Imu{what}{' and no poses' if tracks else ''}{why}; record that topic"


def _cleaned(name: str, messages: Messages, notes: list[str]) -> Messages:
    """In the order of their stamps; without messages whose numbers are none, or that have no fix or no reading."""
    values = messages.values
    good = np.ones(len(messages), dtype=np.bool_)
    for key, array in values.items():
        if key in ("status", "covariance", "q_xyzw", "q_known", "absent"):
            continue
        good &= np.isfinite(array).all(axis=1)
        if key == "gyr":
            good &= np.abs(array[:, 0]) < _LARGEST_RAD_S
    if "status" in values:
        good &= values["status"] >= 0
    if "absent" in values and len(messages):
        every = int(np.bitwise_and.reduce(values["absent"]))  # absent in all: the topic has none, and keeps its rest
        good &= values["absent"] == every
        lacks = " and no ".join(word for bit, word in _WORDS.items() if every & bit)
        if lacks:
            notes.append(f"/{name} states that it has no {lacks} (-1 in its covariance)")
    stamps = messages.stamps_ns
    if not good.all():
        stamps, values = stamps[good], {key: array[good] for key, array in values.items()}
    rows = in_order(stamps)
    if rows is not None:
        if messages.kind == IMU:
            notes.append(_reordered(name, len(stamps), rows))
        stamps, values = stamps[rows], {key: array[rows] for key, array in values.items()}
    return Messages(messages.kind, messages.names, stamps, values)


def _reordered(name: str, count: int, rows: Any) -> str:
    moved = int(np.count_nonzero(np.diff(rows) < 0))
    dropped = count - len(rows)
    parts = [f"{moved} came late and were put in order"] if moved else []
    parts += [f"{dropped} have stamps that repeat or step back, and were dropped"] if dropped else []
    return f"of {count} messages of /{name} {'; '.join(parts)}"


def _recording(name: str, imu: Messages, topics: Mapping[str, Messages], t0_ns: int, source: str) -> Recording | None:
    if len(imu) < 2 or imu.values["absent"][0] == NO_GYR | NO_ACC:
        return None
    t = in_seconds(imu.stamps_ns, t0_ns)
    t.flags.writeable = False
    meta: dict[str, Any] = {"source": source, "topic": f"/{name}", "frames": FRAMES, "t0_ns": t0_ns}
    if imu.names and imu.names[0]:
        meta["frame_id"] = imu.names[0]
    more: dict[str, Any] = {}
    new: dict[str, Any] = {}
    wheels = _nearest(name, {n: m for n, m in topics.items() if _is_wheel_odometry(m)})
    if wheels is not None:
        at = in_seconds(topics[wheels].stamps_ns, t0_ns)
        more["odometer"] = np.interp(t, at, _travel(topics[wheels]))
        meta["odometer_topic"] = f"/{wheels}"
    field = _nearest(name, _of(topics, FIELD))
    if field is not None:
        at = in_seconds(topics[field].stamps_ns, t0_ns)
        more["mag_s"], new["mag_s"] = held_vectors(t, at, _TESLA * topics[field].values["mag"])
        meta["magnetometer_topic"] = f"/{field}"
    warmth = _nearest(name, _of(topics, TEMPERATURE))
    if warmth is not None:
        at = in_seconds(topics[warmth].stamps_ns, t0_ns)
        values, new["temperature"] = held_vectors(t, at, topics[warmth].values["temperature"])
        more["temperature"] = values[:, 0]
    receiver = _nearest(name, _of(topics, SATELLITE))
    if receiver is not None:
        p_n, sigma_n, origin = _places(topics[receiver])
        at = in_seconds(topics[receiver].stamps_ns, t0_ns)
        more["position_fix"], new["position_fix"] = held_fixes(t, at, p_n, sigma_n)
        meta |= {"fix_topic": f"/{receiver}", "origin": origin}
    absent = int(imu.values["absent"][0])
    gyr, acc = (None if absent & bit else imu.values[key] for bit, key in ((NO_GYR, "gyr"), (NO_ACC, "acc")))
    return Recording(t, gyr_s=gyr, acc_s=acc, meta=meta, new=new, **more)


def _of(topics: Mapping[str, Messages], kind: str) -> dict[str, Messages]:
    return {name: messages for name, messages in topics.items() if messages.kind == kind and len(messages) > 1}


def _nearest(name: str, topics: Mapping[str, Messages]) -> str | None:
    """The topic whose name begins most like the Imu's; of several the one with most messages."""
    own = name.split("/")

    def rank(each: str) -> tuple[int, int]:
        same = [a == b for a, b in zip(own, each.split("/"), strict=False)]
        return len(same) if all(same) else same.index(False), len(topics[each])

    return max(topics, key=rank, default=None)


def _is_wheel_odometry(messages: Messages) -> bool:
    """Odometry of wheels moves in a plane: its height is constant, and it turns about z alone.

    One in the frame map is the result of a filter (REP 105): wheels alone know the frame odom.
    """
    if messages.kind != ODOMETRY or len(messages) < 2 or messages.names[:1] == ["map"]:
        return False
    return float(np.ptp(messages.values["p"][:, 2])) == 0.0 and bool(
        (np.abs(messages.values["q_xyzw"][:, :2]) < 1e-9).all()
    )


def _travel(messages: Messages) -> Array:
    """Way along the own heading (m): it counts backward where the vehicle drives backward."""
    q = messages.values["q_xyzw"]
    step, yaw = np.diff(messages.values["p"][:, :2], axis=0), np.unwrap(2.0 * np.arctan2(q[:, 2], q[:, 3]))
    mid = 0.5 * (yaw[1:] + yaw[:-1])
    return np.concatenate([[0.0], np.cumsum(step[:, 0] * np.cos(mid) + step[:, 1] * np.sin(mid))])


def _places(messages: Messages) -> tuple[Array, Array, dict[str, float]]:
    """Positions, standard deviations and origin of NavSatFix messages."""
    latitude, longitude, height = messages.values["place"].T
    p_n, origin = local_positions(latitude, longitude, height)
    variance = messages.values["covariance"][:, [0, 4, 8]]
    known = (messages.values["status"] > 0) & np.isfinite(variance).all(axis=1) & (variance > 0.0).all(axis=1)
    return p_n, np.where(known[:, None], np.sqrt(np.abs(variance)), np.array(UNSTATED_FIX_SIGMA_M)), origin


def _track(messages: Messages, t0_ns: int) -> Track | None:
    if len(messages) < 2:
        return None
    t = in_seconds(messages.stamps_ns, t0_ns)
    if messages.kind == SATELLITE:
        return Track(t, p_n=_places(messages)[0], what="sensor_msgs/NavSatFix, from its first fix", t0_ns=t0_ns)
    if messages.kind not in (IMU, *POSES) or messages.names[:1] == [TRAVEL]:
        return None
    kind = messages.kind.replace("/msg/", "/")
    frames = f", {' to '.join(reversed(messages.names))}" if len(messages.names) > 1 else f", frame {messages.names[0]}"
    if messages.kind == POINT:
        return Track(t, p_n=messages.values["p"], what=f"{kind}{frames}", t0_ns=t0_ns)
    q = messages.values["q_xyzw"][:, [3, 0, 1, 2]]
    norm = np.linalg.norm(q, axis=1)
    unit = np.isfinite(norm) & (np.abs(norm - 1.0) < _UNIT)
    if messages.kind == IMU:  # -1: the driver states that it has no orientation
        unit &= messages.values["q_known"][:, 0] != -1.0
    if np.count_nonzero(unit) < 2:
        return None
    q = q_normalise(q[unit])
    if messages.kind in (IMU, QUATERNION):
        return Track(t[unit], q_nb=q, what=f"orientation of {kind}{frames}", t0_ns=t0_ns)
    velocity = messages.values.get("v")
    v_n = None if velocity is None or not np.isfinite(velocity[unit]).all() else q_rotate(q, velocity[unit])
    return Track(t[unit], messages.values["p"][unit], q, v_n, f"{kind}{frames}", t0_ns)
