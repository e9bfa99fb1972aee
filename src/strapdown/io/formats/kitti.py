"""KITTI: raw folders with oxts/ (IMU and GNSS of the car), and pose files with twelve numbers in each line."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.io.formats.contents import Contents, Track, in_seconds
from strapdown.io.formats.numbers import cells, first_lines, number_table
from strapdown.io.formats.rows import held_fixes, in_order, kept, local_positions
from strapdown.regular_file import opened, whole_bytes
from strapdown.rotation import matrix, q_from_euler, q_from_matrix
from strapdown.types import Array, Recording

RAW, POSES = "KITTI raw folder", "KITTI poses"
RAW_FRAMES = "KITTI: car forward-left-up, world east-north-up, unchanged"
POSE_FRAMES = "KITTI: camera right-down-forward, converted to forward-left-up, of the body and of the world"
_RATE_HZ = 10.0  # of the cameras, for poses without times.txt
# v_flu = M v_camera: forward is the camera's z, left its -x, up its -y
_M = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
_MOST_FILES = 10**7


def is_raw(path: Path) -> bool:
    return _oxts(path) is not None


def _oxts(path: Path) -> Path | None:
    return next(
        (each for each in (path / "oxts", path) if (each / "timestamps.txt").is_file() and (each / "data").is_dir()),
        None,
    )


def is_poses(path: Path) -> bool:
    """A text of lines with twelve numbers: three rows of a rotation and a position."""
    rows = [cells(line) for line in first_lines(path, 2) if line.strip()]
    if not rows or rows[0] is None or len(rows[0]) != 12:
        return False
    turn = np.array(rows[0]).reshape(3, 4)[:, :3]
    return bool(np.isfinite(turn).all()) and float(np.abs(turn @ turn.T - np.eye(3)).max()) < 1e-2


def read_raw(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """The IMU of the car (oxts) with its fixes, and its own estimate as a track."""
    folder = _oxts(path)
    if folder is None:
        raise InputError(f"{path} has no oxts/timestamps.txt and oxts/data; name the folder of one drive")
    stamps = _timestamps(folder / "timestamps.txt")
    files = sorted((folder / "data").glob("*.txt"))
    if len(files) != len(stamps):
        raise InputError(f"{folder} has {len(files)} files and {len(stamps)} stamps; download it again")
    rows = np.empty((len(files), 30))
    for i, each in enumerate(files):
        rows[i] = _packet(each)
        if i % 1000 == 0:
            done(i / len(files))
    stamps, rows = kept(in_order(stamps), stamps, rows)
    t0_ns = int(stamps[0])
    t = in_seconds(stamps, t0_ns)
    p_n, origin = local_positions(rows[:, 0], rows[:, 1], rows[:, 2])
    sigma = np.repeat(np.maximum(rows[:, 23:24], 1e-3), 3, axis=1)
    fixes, new = held_fixes(t, t, p_n, sigma)
    meta = {"source": RAW, "topic": "oxts", "frames": RAW_FRAMES, "t0_ns": t0_ns, "origin": origin}
    log = Recording(
        t, gyr_s=rows[:, 17:20], acc_s=rows[:, 11:14], position_fix=fixes, new={"position_fix": new}, meta=meta
    )
    track = Track(t, p_n, q_from_euler(*rows[:, 3:6].T), None, "estimate of the car's receiver (OXTS)", t0_ns)
    return Contents(RAW, RAW_FRAMES, {"oxts": log}, {"oxts": track})


def _packet(path: Path) -> Array:
    found = cells(whole_bytes(path, "oxts packet", 100_000).decode("utf-8", "replace"))
    if found is None or len(found) != 30:
        raise InputError(f"{path} has no 30 numbers, as an oxts packet has; download it again")
    return np.array(found)


def _timestamps(path: Path) -> np.ndarray:
    """2011-09-26 13:02:25.964389445, one in each line, as ns."""
    with opened(path, "stamps of KITTI") as raw:
        lines = [line.strip() for line in io.TextIOWrapper(raw, "utf-8", "replace") if line.strip()]
    try:
        found = np.array([line.replace(" ", "T") for line in lines[:_MOST_FILES]], dtype="datetime64[ns]").astype(
            np.int64
        )
    except ValueError as error:
        raise InputError(
            f"{path} has a stamp that is no date and time ({str(error)[:80]}); download it again"
        ) from None
    if len(found) == 0:
        raise InputError(f"{path} has no stamps; download it again")
    return found


def read_poses(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """One track; times are those of NAME_times.txt or times.txt next to it, else 10 Hz."""
    rows = number_table(path, "KITTI poses", (12, 12)).reshape(-1, 3, 4)
    if (
        not np.isfinite(rows).all()
        or np.abs(rows[:, :, :3] @ rows[:, :, :3].transpose(0, 2, 1) - np.eye(3)).max() > 1e-2
    ):
        raise InputError(f"{path} has a line whose matrix is no rotation; check that it holds KITTI poses")
    times = next((each for each in _times(path) if each.is_file() and each != path), None)
    notes: tuple[str, ...] = ()
    if times is not None:
        t = number_table(times, "times of KITTI", (1, 1))[:, 0]
        if len(t) != len(rows):
            raise InputError(
                f"{times} has {len(t)} times and {path.name} {len(rows)} poses; give the times of these poses"
            )
    else:
        t = np.arange(len(rows)) / _RATE_HZ
        notes = (f"{path.name} has no times.txt next to it: {_RATE_HZ:g} Hz is assumed, as of the cameras of KITTI",)
    q = q_from_matrix(_M @ rows[:, :, :3] @ _M.T)
    track = Track(t, rows[:, :, 3] @ _M.T, q, None, POSES)
    done(1.0)
    return Contents(POSES, POSE_FRAMES, {}, {path.name.split(".")[0]: track}, notes)


def _times(path: Path) -> tuple[Path, Path]:
    """Where the times of poses are: that of its own name first, so that a file of others is not written over."""
    return path.with_name(f"{path.name.split('.')[0]}_times.txt"), path.with_name("times.txt")


def write_poses(path: Path, track: Track) -> None:
    """Twelve numbers in each line, and their times in NAME_times.txt next to it."""
    if track.p_n is None or track.q_nb is None:
        raise InputError(f"KITTI poses need positions and attitudes; the track has {track.holds} alone")
    rows = np.concatenate([_M.T @ matrix(track.q_nb) @ _M, (track.p_n @ _M)[:, :, None]], axis=2).reshape(-1, 12)
    for target, table in ((path, rows), (_times(path)[0], track.t[:, None])):
        with whole_file(target) as tmp, tmp.open("w", encoding="utf-8") as file:
            file.writelines(" ".join(map(repr, row)) + "\n" for row in table.tolist())
