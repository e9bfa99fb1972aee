"""Flight logs of PX4 (.ulg), by pyulog. Frames FRD and NED, field in gauss, time in us; instances are sensors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.formats.aerial import FRAMES, GAUSS, MICROSECOND_NS, Series, recording, track
from strapdown.io.formats.contents import Contents, Track
from strapdown.io.formats.library import damage_refused, library
from strapdown.io.formats.rows import local_positions
from strapdown.regular_file import opened
from strapdown.rotation import enu_from_ned

SOURCE, KIND = "PX4 ULog", "a PX4 ULog"
_NAMES = [
    *("sensor_combined", "vehicle_imu", "sensor_accel", "sensor_gyro", "vehicle_magnetometer", "sensor_mag"),
    *("vehicle_air_data", "vehicle_gps_position", "sensor_gps", "vehicle_attitude", "vehicle_local_position"),
]
_USABLE = 4  # an instance with fewer samples than this part of the fastest one is a monitor, not a log of the sensor


def read_ulog(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """All IMUs of the log, and the estimate of its autopilot."""
    pyulog = library("pyulog", path, KIND)
    with opened(path, KIND) as file, damage_refused(path, KIND, quiet=True):
        log = pyulog.ULog(file, message_name_filter_list=_NAMES)
        topics = {(each.name, each.multi_id): _Topic(each.data) for each in log.data_list}
        firmware = log.get_version_info_str()
        utc_ns = _utc_ns(topics)
        found = _contents(path, topics, firmware, utc_ns, tracks)
    done(1.0)
    return found


class _Topic:
    """The arrays of one instance of a topic; fields of damaged logs may be missing."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data.get("timestamp", ()))

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def column(self, name: str) -> Any:
        if name not in self._data:
            raise InputError(f"field {name} is missing")
        return self._data[name]

    def vector(self, *names: str) -> Any:
        return np.column_stack([np.asarray(self.column(name), dtype=np.float64) for name in names])

    def array(self, name: str, count: int = 3) -> Any:
        """Fields name[0], name[1], ..."""
        return self.vector(*(f"{name}[{i}]" for i in range(count)))

    @property
    def stamps_ns(self) -> Any:
        """The instant of measurement where the topic has it, else that of publication."""
        name = "timestamp_sample" if "timestamp_sample" in self else "timestamp"
        return np.asarray(self.column(name)).astype(np.int64) * MICROSECOND_NS


def _contents(
    path: Path, topics: dict[tuple[str, int], _Topic], firmware: str | None, utc_ns: int | None, tracks: bool
) -> Contents:
    imus, notes = _usable(_imus(topics))
    estimates = _estimate_series(topics)
    if not imus and all(each is None or not len(each) for each in estimates):
        names = ", ".join(sorted({name for name, _ in topics})) or "none of the topics that are known"
        raise InputError(f"{path} holds no IMU and no estimate; it has {names}; log sensor_combined")
    first = [each.stamps_ns[0] for each in (*imus.values(), *estimates) if each is not None and len(each)]
    if not first:
        raise InputError(f"{path} holds no whole sample; it may be damaged")
    t0_ns = int(min(each.stamps_ns[0] for each in imus.values()) if imus else min(first))
    parts, origin = _parts(topics)
    meta: dict[str, Any] = {"source": SOURCE}
    if firmware:
        meta["firmware"] = f"PX4 {firmware}"
    if utc_ns is not None:
        meta["utc_minus_clock_ns"] = utc_ns
    recordings = {name: recording(imu, t0_ns, {**meta, "topic": name}, parts, origin) for name, imu in imus.items()}
    found: dict[str, Track] = {}
    if tracks:
        made = track(*estimates, t0_ns, "estimate of PX4: vehicle_attitude and vehicle_local_position")
        found = {} if made is None else {"estimate": made}
        if "fix" in parts:
            fix = parts["fix"]
            found["gps"] = Track(
                fix.t(t0_ns), fix["value_n"], what="vehicle_gps_position, from its first fix", t0_ns=t0_ns
            )
    return Contents(SOURCE, f"PX4: {FRAMES}; gauss became uT", recordings, found, tuple(notes) if tracks else ())


def _imus(topics: dict[tuple[str, int], _Topic]) -> dict[str, Series]:
    """sensor_combined is the IMU that the autopilot had chosen; the others are its instances."""
    found: dict[str, Series] = {}
    combined = topics.get(("sensor_combined", 0))
    if combined is not None:
        found["sensor_combined"] = Series(
            combined.stamps_ns, gyr=combined.array("gyro_rad"), acc=combined.array("accelerometer_m_s2")
        )
    for (name, instance), topic in topics.items():
        if name == "vehicle_imu":
            angle_s, velocity_s = (
                topic.column(f"{part}_dt")[:, None] * 1e-6 for part in ("delta_angle", "delta_velocity")
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                gyr, acc = topic.array("delta_angle") / angle_s, topic.array("delta_velocity") / velocity_s
            found[f"vehicle_imu/{instance}"] = Series(topic.stamps_ns, gyr=gyr, acc=acc)
    if any(name.startswith("vehicle_imu") for name in found):
        return found  # the same instances, with all their samples integrated
    for (name, instance), topic in topics.items():
        gyro = topics.get(("sensor_gyro", instance))
        if name == "sensor_accel" and gyro is not None and len(topic) > 1:
            turn, force = (
                Series(gyro.stamps_ns, gyr=gyro.vector("x", "y", "z")),
                Series(topic.stamps_ns, acc=topic.vector("x", "y", "z")),
            )
            both = _on_one_clock(turn, force)
            if both is not None:
                found[f"sensor_accel/{instance}"] = both
    return found


def _on_one_clock(turn: Series, force: Series) -> Series | None:
    """Accelerometer readings at the stamps of the gyroscope, on straight lines."""
    if len(turn) < 2 or len(force) < 2:
        return None
    inside = (turn.stamps_ns >= force.stamps_ns[0]) & (turn.stamps_ns <= force.stamps_ns[-1])
    stamps = turn.stamps_ns[inside]
    acc = [
        np.interp(stamps - stamps[:1].sum(), force.stamps_ns - stamps[:1].sum(), force["acc"][:, i]) for i in range(3)
    ]
    return Series(stamps, gyr=turn["gyr"][inside], acc=np.column_stack(acc)) if len(stamps) > 1 else None


def _usable(imus: dict[str, Series]) -> tuple[dict[str, Series], list[str]]:
    most = max((len(each) for each in imus.values()), default=0)
    kept = {name: each for name, each in imus.items() if len(each) > 1 and len(each) * _USABLE >= most}
    if set(kept) == {"sensor_combined", "vehicle_imu/0"}:  # one IMU under two names
        del kept["vehicle_imu/0"]
    slow = [f"{name} ({len(each)} samples)" for name, each in imus.items() if name not in kept]
    return kept, [f"too slow to be read as an IMU of their own: {', '.join(slow)}"] if slow else []


def _estimate_series(topics: dict[tuple[str, int], _Topic]) -> tuple[Series | None, Series | None]:
    attitude, place = topics.get(("vehicle_attitude", 0)), topics.get(("vehicle_local_position", 0))
    turn = None if attitude is None else Series(attitude.stamps_ns, q=attitude.array("q", 4))
    if place is None:
        return turn, None
    known = np.ones(len(place), dtype=np.bool_)
    for flag in ("xy_valid", "z_valid"):  # without a fix the filter writes zeros, which are no estimate
        if flag in place:
            known &= np.asarray(place.column(flag)) != 0
    p, v = place.vector("x", "y", "z")[known], place.vector("vx", "vy", "vz")[known]
    return turn, Series(place.stamps_ns[known], p=p, v=v)


def _parts(topics: dict[tuple[str, int], _Topic]) -> tuple[dict[str, Series], dict[str, float] | None]:
    """Magnetometer, barometer and satellite fixes; older logs have the first two in sensor_combined."""
    found: dict[str, Series] = {}
    combined = topics.get(("sensor_combined", 0))
    field = topics.get(("vehicle_magnetometer", 0))
    raw = topics.get(("sensor_mag", 0))
    if field is not None:
        found["mag"] = Series(field.stamps_ns, mag=GAUSS * field.array("magnetometer_ga"))
    elif combined is not None and "magnetometer_ga[0]" in combined:
        found["mag"] = _changing(_relative(combined, "magnetometer"), mag=GAUSS * combined.array("magnetometer_ga"))
    elif raw is not None:
        found["mag"] = Series(raw.stamps_ns, mag=GAUSS * raw.vector("x", "y", "z"))
    air = topics.get(("vehicle_air_data", 0))
    if air is not None:
        found["baro"] = Series(air.stamps_ns, height=air.column("baro_alt_meter"))
    elif combined is not None and "baro_alt_meter" in combined:
        found["baro"] = _changing(_relative(combined, "baro"), height=np.asarray(combined.column("baro_alt_meter")))
    gps = topics.get(("vehicle_gps_position", 0)) or topics.get(("sensor_gps", 0))
    origin = None
    if gps is not None and (np.asarray(gps.column("fix_type")) >= 3).any():
        origin = _fixes(gps, found)
    return found, origin


def _fixes(gps: _Topic, found: dict[str, Series]) -> dict[str, float]:
    """3-D fixes. Older logs have whole numbers of 1e-7 deg and mm, newer ones degrees and metres."""
    good = np.asarray(gps.column("fix_type")) >= 3
    if "latitude_deg" in gps:
        height = "altitude_ellipsoid_m" if "altitude_ellipsoid_m" in gps else "altitude_msl_m"
        place = gps.vector("latitude_deg", "longitude_deg", height)
    else:
        height = "alt_ellipsoid" if "alt_ellipsoid" in gps else "alt"
        place = gps.vector("lat", "lon", height) * np.array([1e-7, 1e-7, 1e-3])
    p_n, origin = local_positions(*place[good].T)
    eph, epv, eps = (np.asarray(gps.column(name), dtype=np.float64)[good] for name in ("eph", "epv", "s_variance_m_s"))
    stamps = np.asarray(gps.column("timestamp")).astype(np.int64)[good] * MICROSECOND_NS
    horizontal = eph / np.sqrt(2.0)  # PX4's eph is of both horizontal axes together
    found["fix"] = Series(stamps, value_n=p_n, sigma_n=np.column_stack([horizontal, horizontal, epv]))
    v_n = enu_from_ned(gps.vector("vel_n_m_s", "vel_e_m_s", "vel_d_m_s")[good])
    found["velocity"] = Series(stamps, value_n=v_n, sigma_n=np.column_stack([eps, eps, eps]))
    return origin


def _relative(topic: _Topic, name: str) -> Any:
    """Stamps of an instrument whose readings stand in the rows of another one. A large negative number: no reading."""
    relative = np.asarray(topic.column(f"{name}_timestamp_relative")).astype(np.int64)
    stamps = np.asarray(topic.column("timestamp")).astype(np.int64) + relative
    return np.where(np.abs(relative) < 2**30, stamps, 0) * MICROSECOND_NS


def _changing(stamps: Any, **values: Any) -> Series:
    """One row for each new stamp."""
    first = np.concatenate([[True], np.diff(stamps) > 0]) & (stamps > 0)
    return Series(stamps[first], **{name: each[first] for name, each in values.items()})


def _utc_ns(topics: dict[tuple[str, int], _Topic]) -> int | None:
    """UTC minus the log's clock, from the first satellite time."""
    gps = topics.get(("vehicle_gps_position", 0))
    if gps is None or "time_utc_usec" not in gps:
        return None
    utc, own = (np.asarray(gps.column(name)).astype(np.int64) for name in ("time_utc_usec", "timestamp"))
    known = np.flatnonzero(utc > 0)
    return int(utc[known[0]] - own[known[0]]) * MICROSECOND_NS if len(known) else None
