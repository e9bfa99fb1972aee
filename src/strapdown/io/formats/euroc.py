"""Folders in the form of EuRoC MAV (also TUM VI): mav0/imu0/data.csv, and the truth next to it.

Readings are in the frame of the IMU as the data set states it; for EuRoC that is not forward-left-up. Stamps are in ns.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.io.formats.contents import Contents, Track, in_seconds
from strapdown.io.formats.numbers import first_lines, number_table, stamps_ns
from strapdown.io.formats.rows import in_order, kept
from strapdown.rotation import q_normalise
from strapdown.types import Recording

SOURCE = "EuRoC folder"
FRAMES = "EuRoC: readings in the frame of the IMU and truth in the frame of its data set, both unchanged; ns became s"
_IMU_HEADER = (
    "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],"
    "a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]"
)
_TRUTH_HEADER = "#timestamp,p_RS_R_x [m],p_RS_R_y [m],p_RS_R_z [m],q_RS_w [],q_RS_x [],q_RS_y [],q_RS_z []"
_VELOCITY_HEADER = ",v_RS_R_x [m s^-1],v_RS_R_y [m s^-1],v_RS_R_z [m s^-1]"
_UNHELD = (
    *("mag_s", "temperature", "odometer", "position_fix", "velocity_fix", "height"),
    *("stop", "tilt_s", "clipped", "increments"),
)
_TRUTH = ("state_groundtruth_estimate0", "mocap0", "vicon0", "leica0")


def base_of(path: Path) -> Path | None:
    """The folder that holds imu0, for any folder around it or imu0 itself."""
    for base in (path, path / "mav0", path.parent):
        if base != path.parent or path.name.startswith("imu"):
            found = sorted(base.glob("imu*/data.csv"))
            if found and "timestamp" in "".join(first_lines(found[0], 1)):
                return base
    return None


def read_euroc(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """All IMUs of the folder, and its truth as tracks."""
    base = base_of(path)
    if base is None:
        raise InputError(f"{path} has no imu0/data.csv; name the folder of one sequence")
    tables = {}
    for each in sorted(base.glob("imu*/data.csv")):
        rows = number_table(each, "readings in the form of EuRoC", (7, 7), ",")
        stamps = stamps_ns(each, "EuRoC")
        tables[each.parent.name] = kept(in_order(stamps), stamps, rows[:, 1:])
    t0_ns = int(min(stamps[0] for stamps, _ in tables.values()))
    recordings = {}
    for name, (stamps, rows) in tables.items():
        meta = {"source": SOURCE, "topic": name, "frames": FRAMES, "t0_ns": t0_ns}
        recordings[name] = Recording(in_seconds(stamps, t0_ns), gyr_s=rows[:, :3], acc_s=rows[:, 3:6], meta=meta)
    found = {}
    if tracks:
        for name in _TRUTH:
            if (base / name / "data.csv").is_file():
                found[name] = _truth(base / name / "data.csv", name, t0_ns)
    done(1.0)
    return Contents(SOURCE, FRAMES, recordings, found)


def _truth(path: Path, name: str, t0_ns: int) -> Track:
    rows = number_table(path, "truth in the form of EuRoC", (4, 17), ",")
    stamps = stamps_ns(path, "EuRoC")
    stamps, rows = kept(in_order(stamps), stamps, rows)
    q = q_normalise(rows[:, 4:8]) if rows.shape[1] >= 8 else None
    v = rows[:, 8:11] if rows.shape[1] >= 11 else None
    return Track(in_seconds(stamps, t0_ns), rows[:, 1:4], q, v, f"truth of the data set: {name}", t0_ns)


def write_euroc(folder: Path, recordings: Mapping[str, Recording], tracks: Mapping[str, Track]) -> list[str]:
    """Folder/mav0/imu0, imu1, ...; the first track with poses as truth. Returns what could not be written."""
    unwritten = []
    for number, (name, recording) in enumerate(recordings.items()):
        if recording.gyr_s is None or recording.acc_s is None:
            raise InputError(f"sensor {name} has no gyroscope or no accelerometer; an EuRoC folder needs both")
        t0_ns = int(recording.meta.get("t0_ns", 0))
        values = np.column_stack([recording.gyr_s, recording.acc_s])
        _write(folder / "mav0" / f"imu{number}" / "data.csv", _IMU_HEADER, recording.t, t0_ns, values)
        unwritten += [f"{field} of {name}" for field in _UNHELD if getattr(recording, field) is not None]
        unwritten.append(f"meta of {name}")
    for name, track in tracks.items():
        target = folder / "mav0" / _TRUTH[0] / "data.csv"
        if track.p_n is None or track.q_nb is None or target.exists():
            unwritten.append(f"track {name}")
            continue
        header, columns = _TRUTH_HEADER, [track.p_n, track.q_nb]
        if track.v_n is not None:
            header, columns = header + _VELOCITY_HEADER, [*columns, track.v_n]
        _write(target, header, track.t, track.t0_ns, np.column_stack(columns))
    return unwritten


def _write(path: Path, header: str, t: Any, t0_ns: int, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    stamps = np.round(t * 1e9).astype(np.int64) + t0_ns
    with whole_file(path) as tmp, tmp.open("w", encoding="utf-8") as file:
        file.write(header + "\n")
        for stamp, row in zip(stamps.tolist(), values.tolist(), strict=True):
            file.write(f"{stamp},{','.join(map(repr, row))}\n")
