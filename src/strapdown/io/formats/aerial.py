"""What logs of autopilots share: body forward-right-down and world north-east-down become ours."""

from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.errors import InputError
from strapdown.io.formats.contents import Track, in_seconds
from strapdown.io.formats.rows import BARO_SIGMA_M, held, held_fixes, held_vectors, in_order, interpolated, kept
from strapdown.rotation import enu_from_ned, flu_from_frd, q_enu_flu_from_ned_frd, q_normalise
from strapdown.sample import Heights
from strapdown.types import Recording

FRAMES = "body forward-right-down and world north-east-down, converted to forward-left-up and east-north-up"
MICROSECOND_NS = 1000
GAUSS = 100.0  # uT


class Series:
    """One instrument of a log: stamps (ns) in order, and vectors of finite numbers, one row for each stamp."""

    def __init__(self, stamps_ns: Any, **values: Any) -> None:
        stamps = np.asarray(stamps_ns).astype(np.int64)
        arrays = {name: np.asarray(each, dtype=np.float64) for name, each in values.items()}
        good = np.ones(len(stamps), dtype=np.bool_)
        for each in arrays.values():
            good &= np.isfinite(each) if each.ndim == 1 else np.isfinite(each).all(axis=1)
        stamps = stamps[good]
        rows = in_order(stamps)
        (self.stamps_ns,) = kept(rows, stamps)
        self._values = {name: kept(rows, each[good])[0] for name, each in arrays.items()}

    def __len__(self) -> int:
        return len(self.stamps_ns)

    def __getitem__(self, name: str) -> Array:
        return self._values[name]

    def t(self, t0_ns: int) -> Array:
        return in_seconds(self.stamps_ns, t0_ns)


def recording(
    imu: Series, t0_ns: int, meta: dict[str, Any], parts: dict[str, Series], origin: dict[str, float] | None
) -> Recording:
    """imu: gyr (rad/s) and acc (m/s2), frd. parts: mag (uT, frd), baro (height, m), fix (p_n, sigma_n), velocity (v_n,
    sigma_n), each on its own clock; temperature (deg C) of the imu."""
    if len(imu) < 2:
        raise InputError("fewer than two samples of the IMU are whole; the log is too short or damaged")
    t = imu.t(t0_ns)
    more: dict[str, Any] = {}
    new: dict[str, Any] = {}
    parts = {name: each for name, each in parts.items() if len(each) > 1}
    if "mag" in parts:
        more["mag_s"], new["mag_s"] = held_vectors(t, parts["mag"].t(t0_ns), flu_from_frd(parts["mag"]["mag"]))
    if "temperature" in parts:
        index, new["temperature"] = held(t, parts["temperature"].t(t0_ns))
        more["temperature"] = parts["temperature"]["temperature"][index]
    if "baro" in parts:
        index, new["height"] = held(t, parts["baro"].t(t0_ns))
        above = parts["baro"]["height"] - parts["baro"]["height"][0]
        more["height"] = Heights(above[index], np.full(len(t), BARO_SIGMA_M))
    for name, field in (("fix", "position_fix"), ("velocity", "velocity_fix")):
        if name in parts:
            part = parts[name]
            more[field], new[field] = held_fixes(t, part.t(t0_ns), part["value_n"], part["sigma_n"])
    if origin is not None:
        meta = {**meta, "origin": origin}
    meta = {**meta, "frames": FRAMES, "t0_ns": t0_ns}
    return Recording(t, gyr_s=flu_from_frd(imu["gyr"]), acc_s=flu_from_frd(imu["acc"]), meta=meta, new=new, **more)


def track(attitude: Series | None, place: Series | None, t0_ns: int, what: str) -> Track | None:
    """The estimate of an autopilot. attitude: q (w first, frd to ned). place: p and v (ned, m and m/s).

    At the times of the attitude where there is one: positions between their samples are on straight lines.
    """
    attitude = attitude if attitude is not None and len(attitude) > 1 else None
    place = place if place is not None and len(place) > 1 else None
    if attitude is None and place is None:
        return None
    if attitude is None:
        assert place is not None
        p_n, v_n = (enu_from_ned(place[name]) for name in ("p", "v"))
        return Track(place.t(t0_ns), p_n, None, v_n, what, t0_ns)
    norm = np.linalg.norm(attitude["q"], axis=1)
    unit = np.abs(norm - 1.0) < 1e-2  # of float32 that were integrated; zeros before the filter has begun
    t = attitude.t(t0_ns)[unit]
    if len(t) < 2:
        return None
    q = q_enu_flu_from_ned_frd(q_normalise(attitude["q"][unit]))
    if place is None:
        return Track(t, None, q, None, what, t0_ns)
    at = place.t(t0_ns)
    inside = (t >= at[0]) & (t <= at[-1])
    if np.count_nonzero(inside) < 2:
        return Track(t, None, q, None, what, t0_ns)
    t, q = t[inside], q[inside]
    p_n, v_n = (enu_from_ned(interpolated(t, at, place[name])) for name in ("p", "v"))
    return Track(t, p_n, q, v_n, what, t0_ns)
