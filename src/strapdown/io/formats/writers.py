"""Which formats are written, by name and suffix: recordings, tracks, or both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from strapdown.errors import InputError
from strapdown.io.formats.contents import Track, chosen_track
from strapdown.io.formats.euroc import write_euroc
from strapdown.io.formats.kitti import write_poses
from strapdown.io.formats.matlab import write_matlab
from strapdown.io.formats.ros.write import new_folder, refuse_existing, write_mcap, write_ros1, write_ros2
from strapdown.io.formats.tum import write_tum
from strapdown.types import Recording

Recordings = Mapping[str, Recording]
Tracks = Mapping[str, Track]


@dataclass(frozen=True)
class Writer:
    """name: chosen by users. write: returns what the format cannot hold, in words. folder: it writes a folder."""

    name: str
    what: str
    write: Callable[[Path, Recordings, Tracks], list[str]]
    suffixes: tuple[str, ...] = ()
    folder: bool = False


def _matlab(path: Path, recordings: Recordings, tracks: Tracks) -> list[str]:
    if not recordings:
        raise InputError("a MATLAB file holds recordings, and there is none; write tracks as .tum or .mcap")
    write_matlab(path, recordings)
    return [f"track {name}" for name in tracks]


def _euroc(path: Path, recordings: Recordings, tracks: Tracks) -> list[str]:
    refuse_existing(path)
    if not recordings:
        raise InputError("an EuRoC folder holds recordings, and there is none; write tracks as .tum or .mcap")
    with new_folder(path) as folder:
        return write_euroc(folder, recordings, _with_truths(recordings, tracks))


def _track_writer(write: Callable[[Path, Track], None]) -> Callable[[Path, Recordings, Tracks], list[str]]:
    def written(path: Path, recordings: Recordings, tracks: Tracks) -> list[str]:
        found = _with_truths(recordings, tracks)
        name, track = chosen_track(found, None, "the input")
        write(path, track)
        others = [*(f"recording {each}" for each in recordings), *(f"track {each}" for each in found if each != name)]
        return others if track.v_n is None else [*others, f"velocities of the track {name}"]

    return written


def _with_truths(recordings: Recordings, tracks: Tracks) -> dict[str, Track]:
    """Tracks, and the truth of recordings as tracks."""
    found = dict(tracks)
    for name, each in recordings.items():
        if each.truth is not None:
            t0_ns = int(each.meta.get("t0_ns", 0))
            found[f"{name}/truth"] = Track(each.t, each.truth.p_n, each.truth.q_nb, each.truth.v_n, "truth", t0_ns)
    return found


WRITERS: tuple[Writer, ...] = (
    Writer("mcap", "MCAP", write_mcap, (".mcap",)),
    Writer("ros1", "ROS 1 bag", write_ros1, (".bag",)),
    Writer("ros2", "ROS 2 bag (a folder)", write_ros2, folder=True),
    Writer("matlab", "MATLAB file", _matlab, (".mat",)),
    Writer("euroc", "EuRoC folder", _euroc, folder=True),
    Writer("tum", "TUM trajectory", _track_writer(write_tum), (".tum",)),
    Writer("kitti", "KITTI poses", _track_writer(write_poses), (".kitti",)),
)


def writer_of(path: Path, name: str | None = None) -> Writer | None:
    """By name, or by the suffix of the path; None where neither is known."""
    if name is not None:
        return next((each for each in WRITERS if each.name == name), None)
    return next((each for each in WRITERS if each.suffixes and path.name.lower().endswith(each.suffixes)), None)
