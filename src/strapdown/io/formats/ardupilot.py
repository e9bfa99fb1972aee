"""DataFlash logs of ArduPilot (.bin), by pymavlink. Frames FRD and NED, field in milligauss, time in us."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.formats.aerial import FRAMES, GAUSS, MICROSECOND_NS, Series, recording, track
from strapdown.io.formats.contents import Contents, Track
from strapdown.io.formats.library import damage_refused, library
from strapdown.io.formats.rows import UNSTATED_FIX_SIGMA_M, local_positions
from strapdown.regular_file import opened
from strapdown.rotation import enu_from_ned, q_from_euler

SOURCE, KIND = "ArduPilot log", "a DataFlash log of ArduPilot"
_GYR, _ACC = ("GyrX", "GyrY", "GyrZ"), ("AccX", "AccY", "AccZ")
_ESTIMATES = ("XKF1", "NKF1")  # EKF 3, EKF 2
_COLUMNS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("IMU", "IMU2", "IMU3"), (*_GYR, *_ACC, "T")),
    **dict.fromkeys(("MAG", "MAG2", "MAG3"), ("MagX", "MagY", "MagZ")),
    "BARO": ("Alt",),
    "GPS": ("Status", "Lat", "Lng", "Alt", "Spd", "GCrs", "VZ"),
    "GPA": ("HAcc", "VAcc", "SAcc"),
    "ATT": ("Roll", "Pitch", "Yaw"),
    **dict.fromkeys(_ESTIMATES, ("Roll", "Pitch", "Yaw", "PN", "PE", "PD", "VN", "VE", "VD")),
}
_INSTANCES = ("I", "C")  # fields that number the instances: of sensors, of EKF cores
_LARGEST_US = 2**53


def read_ardupilot(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """All IMUs of the log, and the estimate of its autopilot."""
    reader = library("pymavlink.DFReader", path, KIND)
    opened(path, KIND).close()
    with damage_refused(path, KIND, quiet=True):
        rows = _rows(reader.DFReader_binary(str(path)), done)
        return _contents(path, rows, tracks)


class _Table:
    """Messages of one type and instance."""

    def __init__(self, names: tuple[str, ...], rows: list[tuple[float, ...]]) -> None:
        self._names = ("TimeUS", *names)
        self._rows = np.array(rows, dtype=np.float64)

    def column(self, name: str) -> Any:
        return self._rows[:, self._names.index(name)]

    def vector(self, *names: str) -> Any:
        return self._rows[:, [self._names.index(name) for name in names]]

    @property
    def stamps_ns(self) -> Any:
        us = self.column("TimeUS")
        return np.where(np.abs(us) < _LARGEST_US, us, 0.0).astype(np.int64) * MICROSECOND_NS


def _rows(log: Any, done: Callable[[float], None]) -> dict[str, _Table]:
    """By type and instance, as "IMU/0"."""
    found: dict[str, list[tuple[float, ...]]] = {}
    count = 0
    try:
        while (message := log.recv_match(type=list(_COLUMNS))) is not None:
            kind = message.get_type()
            names, have = _COLUMNS[kind], message._fieldnames
            if "TimeUS" not in have:
                continue
            number = next((getattr(message, key) for key in _INSTANCES if key in have), None)
            if number is None:
                number = int(kind[3:] or 1) - 1 if kind[:3] in ("IMU", "MAG") else 0
            name = f"{kind.rstrip('23') if kind[:3] in ('IMU', 'MAG') else kind}/{int(number)}"
            row = tuple(float(getattr(message, key)) if key in have else np.nan for key in ("TimeUS", *names))
            found.setdefault(name, []).append(row)
            count += 1
            if count % 10_000 == 0:
                done(min(log.percent / 100.0, 1.0))
    finally:
        log.data_map.close()
        log.filehandle.close()
    return {name: _Table(_COLUMNS[name.partition("/")[0]], rows) for name, rows in found.items()}


def _contents(path: Path, rows: dict[str, _Table], tracks: bool) -> Contents:
    imus = {
        name: Series(table.stamps_ns, gyr=table.vector(*_GYR), acc=table.vector(*_ACC))
        for name, table in sorted(rows.items())
        if name.startswith("IMU/")
    }
    imus = {name: each for name, each in imus.items() if len(each) > 1}
    attitude, place = _estimate(rows)
    if not imus and attitude is None:
        raise InputError(f"{path} holds no IMU messages and no attitude; set LOG_BITMASK so that it logs IMU")
    t0_ns = int(min(each.stamps_ns[0] for each in (imus.values() or [attitude]) if each is not None))
    parts, origin = _parts(rows)
    recordings = {}
    for name, imu in imus.items():
        table = rows[name]
        more = {"temperature": Series(table.stamps_ns, temperature=table.column("T"))}
        recordings[name] = recording(imu, t0_ns, {"source": SOURCE, "topic": name}, {**parts, **more}, origin)
    found: dict[str, Track] = {}
    if tracks:
        made = track(attitude, place, t0_ns, "estimate of ArduPilot: XKF1 or NKF1, else ATT")
        found = {} if made is None else {"estimate": made}
        if "fix" in parts:
            found["gps"] = Track(
                parts["fix"].t(t0_ns), parts["fix"]["value_n"], what="GPS, from its first fix", t0_ns=t0_ns
            )
    return Contents(SOURCE, f"ArduPilot: {FRAMES}; milligauss became uT", recordings, found)


def _estimate(rows: dict[str, _Table]) -> tuple[Series | None, Series | None]:
    """Attitude and position of the first core of the EKF, else the attitude of ATT."""
    for name in (*(f"{kind}/0" for kind in _ESTIMATES), "ATT/0"):
        table = rows.get(name)
        if table is None:
            continue
        q = q_from_euler(*np.radians(table.vector("Roll", "Pitch", "Yaw")).T)
        attitude = Series(table.stamps_ns, q=q)
        if name == "ATT/0":
            return attitude, None
        return attitude, Series(table.stamps_ns, p=table.vector("PN", "PE", "PD"), v=table.vector("VN", "VE", "VD"))
    return None, None


def _parts(rows: dict[str, _Table]) -> tuple[dict[str, Series], dict[str, float] | None]:
    found: dict[str, Series] = {}
    origin = None
    if "MAG/0" in rows:
        field = rows["MAG/0"]
        found["mag"] = Series(field.stamps_ns, mag=GAUSS / 1e3 * field.vector("MagX", "MagY", "MagZ"))
    if "BARO/0" in rows:
        found["baro"] = Series(rows["BARO/0"].stamps_ns, height=rows["BARO/0"].column("Alt"))
    gps = rows.get("GPS/0")
    if gps is not None and (gps.column("Status") >= 3).any():
        good = gps.column("Status") >= 3
        p_n, origin = local_positions(*gps.vector("Lat", "Lng", "Alt")[good].T)
        stamps, course = gps.stamps_ns[good], np.radians(gps.column("GCrs")[good])
        speed, down = gps.column("Spd")[good], gps.column("VZ")[good]
        v_n = enu_from_ned(np.column_stack([speed * np.cos(course), speed * np.sin(course), down]))
        sigma_p, sigma_v = _accuracy(rows.get("GPA/0"), stamps)
        found["fix"] = Series(stamps, value_n=p_n, sigma_n=sigma_p)
        if sigma_v is not None:
            found["velocity"] = Series(stamps, value_n=v_n, sigma_n=sigma_v)
    return found, origin


def _accuracy(stated: _Table | None, stamps: Any) -> tuple[Any, Any]:
    """Standard deviations that the receiver states in GPA, at the stamps of the fixes."""
    if stated is None:
        return np.tile(UNSTATED_FIX_SIGMA_M, (len(stamps), 1)), None
    at = stated.stamps_ns
    horizontal, vertical, speed = (
        np.interp(stamps, at, np.nan_to_num(stated.column(name), nan=UNSTATED_FIX_SIGMA_M[2]))
        for name in ("HAcc", "VAcc", "SAcc")
    )
    axis = horizontal / np.sqrt(2.0)  # HAcc is of both horizontal axes together
    return np.column_stack([axis, axis, vertical]), np.column_stack([speed] * 3)
