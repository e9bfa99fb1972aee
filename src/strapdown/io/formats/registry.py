"""The one table of foreign formats: how a file is recognised, who reads it, who writes it, and what it can hold."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from strapdown.errors import InputError
from strapdown.io.foreign.mapping import ColumnMapping
from strapdown.io.formats import ardupilot, euroc, gnss_ins_sim, kitti, matlab, nmea, tum, ulog
from strapdown.io.formats.contents import Contents
from strapdown.io.formats.corrected import corrected
from strapdown.io.formats.ros import bag, mcap_file, no_metadata
from strapdown.regular_file import opened

Done = Callable[[float], None]
_Reader = Callable[[Path, Done, bool], Contents]


@dataclass(frozen=True)
class Format:
    """A format of other programs, and how a file of it is recognised.

    name: chosen by users. what: description in words.
    suffixes: of its files. magic: bytes that such a file begins with.
    folder, text: whether a folder, or a text file of no clear suffix, has this format.
    """

    name: str
    what: str
    read: _Reader
    suffixes: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    folder: Callable[[Path], bool] | None = None
    text: Callable[[Path], bool] | None = None


def _is_ros2_folder(path: Path) -> bool:
    return (path / "metadata.yaml").is_file()


def _holds_bags(path: Path) -> bool:
    return any(path.glob("*.bag"))


FORMATS: tuple[Format, ...] = (
    Format("ros1", "ROS 1 bag", bag.read_ros1, (".bag",), (b"#ROSBAG V",), folder=_holds_bags),
    Format("ros2", "ROS 2 bag", bag.read_ros2, (".db3",), (b"SQLite format 3\0",), folder=_is_ros2_folder),
    Format("ros2-parts", "ROS 2 bag", no_metadata.read_unfinished, folder=no_metadata.is_unfinished),
    Format("mcap", "MCAP", mcap_file.read_mcap, (".mcap",), (b"\x89MCAP",)),
    Format("ulog", "PX4 ULog", ulog.read_ulog, (".ulg", ".ulog"), (b"ULog\x01\x12\x35",)),
    Format("ardupilot", "ArduPilot .bin", ardupilot.read_ardupilot, (".bin",), (b"\xa3\x95\x80\x80",)),
    Format("matlab", "MATLAB .mat", matlab.read_matlab, (".mat",), (b"MATLAB 5.0", b"MATLAB 7.3", b"\x89HDF")),
    Format("euroc", "EuRoC folder", euroc.read_euroc, folder=lambda path: euroc.base_of(path) is not None),
    Format("kitti-raw", "KITTI raw folder", kitti.read_raw, folder=kitti.is_raw),
    Format("gnss-ins-sim", "gnss-ins-sim folder", gnss_ins_sim.read_folder, folder=gnss_ins_sim.is_folder),
    Format("tum-folder", "TUM RGB-D folder", tum.read_tum_folder, folder=tum.is_tum_folder),
    Format("tum", "TUM trajectory", tum.read_tum, (".tum",), text=tum.is_tum),
    Format("kitti", "KITTI poses", kitti.read_poses, (".kitti",), text=kitti.is_poses),
    Format("nmea", "NMEA", nmea.read_nmea, (".nmea", ".nma"), text=nmea.is_nmea),
)
_TEXT_SUFFIXES = (".txt", ".log", ".csv", "")


def format_of(path: Path) -> Format | None:
    """The foreign format of a file or folder: by its suffix, else by its first bytes; None for our own and unknown."""
    name = path.name.lower()
    try:
        is_folder = path.is_dir()
    except OSError:  # a name that is too long; its reader explains it
        return None
    for each in FORMATS:
        if name.endswith(each.suffixes) and each.suffixes and not is_folder:
            return each
    if is_folder:
        return next((each for each in FORMATS if each.folder is not None and each.folder(path)), None)
    if not path.is_file():
        return None
    try:
        with opened(path) as file:
            head = file.read(32)
    except InputError:
        return None
    for each in FORMATS:
        if each.magic and head.startswith(each.magic):
            return each
    if name.endswith(_TEXT_SUFFIXES) if "." in name else True:
        return next((each for each in FORMATS if each.text is not None and each.text(path)), None)
    return None


def read_contents(
    path: Path,
    found: Format,
    columns: ColumnMapping | None = None,
    done: Done = lambda part: None,
    tracks: bool = True,
) -> Contents:
    """All that a file holds. tracks: also poses that others computed; without them a long log takes less memory."""
    if not path.exists():
        raise InputError(f"{path} does not exist; check the name")
    if found.name == "matlab":
        return matlab.read_matlab(path, done, tracks, columns)
    contents = found.read(path, done, tracks)
    if columns is None:
        return contents
    return replace(
        contents, recordings={name: corrected(each, columns, str(path)) for name, each in contents.recordings.items()}
    )
