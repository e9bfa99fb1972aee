"""Trajectories in the form of TUM (timestamp tx ty tz qx qy qz qw), and folders of the TUM RGB-D data set."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.io.formats.contents import Contents, Track, in_seconds
from strapdown.io.formats.numbers import cells, first_lines, number_table, second_stamps_ns
from strapdown.io.formats.rows import in_order, kept
from strapdown.rotation import q_normalise
from strapdown.types import Array, Recording

SOURCE, FOLDER = "TUM trajectory", "TUM folder"
FRAMES = "TUM: world and body of the data set, unchanged; quaternions x, y, z, w became w, x, y, z"


def is_tum(path: Path) -> bool:
    """A text of lines with eight numbers, the last four a unit quaternion."""
    rows = [cells(line) for line in first_lines(path, 40) if line.strip() and not line.startswith("#")]
    row = rows[0] if rows else None
    return row is not None and len(row) == 8 and abs(float(np.linalg.norm(row[4:])) - 1.0) < 1e-2


def is_tum_folder(path: Path) -> bool:
    return (path / "groundtruth.txt").is_file() and is_tum(path / "groundtruth.txt")


def read_tum(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """One track, with its times from its first stamp on."""
    t, rows, t0_ns = _rows(path, "a TUM trajectory", 8)
    done(1.0)
    return Contents(SOURCE, FRAMES, {}, {path.name.split(".")[0]: _track(t, rows, t0_ns, SOURCE)})


def _track(t: Array, rows: Array, t0_ns: int, what: str) -> Track:
    norm = np.linalg.norm(rows[:, 4:], axis=1)
    if not (np.isfinite(norm) & (np.abs(norm - 1.0) < 1e-2)).all():
        raise InputError(f"line {int(np.argmax(np.abs(norm - 1.0))) + 1} has no unit quaternion; check its columns")
    return Track(t, rows[:, 1:4], q_normalise(rows[:, [7, 4, 5, 6]]), None, what, t0_ns)


def _rows(path: Path, kind: str, columns: int, t0_ns: int | None = None) -> tuple[Array, Array, int]:
    """Times from t0_ns on, rows in order, and t0_ns: that of the first stamp where none is given."""
    rows = number_table(path, kind, (columns, columns))
    if not (np.abs(rows[:, 0]) < 9e9).all():  # 64 bits of ns
        raise InputError(f"{path} has stamps beyond the year 2255; TUM has seconds, check the unit")
    stamps = second_stamps_ns(path, kind)
    stamps, rows = kept(in_order(stamps), stamps, rows)
    t0_ns = int(stamps[0]) if t0_ns is None else t0_ns
    return in_seconds(stamps, t0_ns), rows, t0_ns


def read_tum_folder(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """The truth as a track; the accelerometer of the camera where the sequence has one. It has no gyroscope."""
    recordings: dict[str, Recording] = {}
    t0_ns = None
    force = path / "accelerometer.txt"
    if force.is_file():
        t, rows, t0_ns = _rows(force, "accelerometer readings of TUM", 4)
        meta = {"source": FOLDER, "topic": "accelerometer", "frames": FRAMES, "t0_ns": t0_ns}
        recordings["accelerometer"] = Recording(t, acc_s=rows[:, 1:4], meta=meta)
    t, rows, t0_ns = _rows(path / "groundtruth.txt", "a TUM trajectory", 8, t0_ns)
    done(1.0)
    return Contents(FOLDER, FRAMES, recordings, {"groundtruth": _track(t, rows, t0_ns, "truth of the data set")})


def write_tum(path: Path, track: Track) -> None:
    """Stamps are those of the file that the track is from, with nine decimals."""
    if track.p_n is None or track.q_nb is None:
        raise InputError(f"a TUM trajectory needs positions and attitudes; the track has {track.holds} alone")
    stamps = np.round(track.t * 1e9).astype(np.int64) + track.t0_ns
    with whole_file(path) as tmp, tmp.open("w", encoding="utf-8") as file:
        file.write("# timestamp tx ty tz qx qy qz qw\n")
        rows = np.column_stack([track.p_n, track.q_nb[:, [1, 2, 3, 0]]]).tolist()
        for stamp, row in zip(stamps.tolist(), rows, strict=True):
            sign = "-" if stamp < 0 else ""
            file.write(f"{sign}{abs(stamp) // 10**9}.{abs(stamp) % 10**9:09d} {' '.join(map(repr, row))}\n")
