"""Recordings and tracks into MCAP files and bags of ROS 1 and ROS 2. Each appears whole or not at all."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.io.formats.contents import Track
from strapdown.io.formats.library import library
from strapdown.io.formats.ros.messages import channels, in_time_order
from strapdown.io.formats.ros.own_meta import META
from strapdown.io.table import meta_to_json
from strapdown.regular_file import reason, shown_path
from strapdown.types import Recording

_LIBRARY = "strapdown"


def _store(path: Path, version: int) -> Any:
    typesys = library("rosbags.typesys", path, "a file of ROS messages")
    return typesys.get_typestore(typesys.Stores.ROS2_HUMBLE if version == 2 else typesys.Stores.ROS1_NOETIC)


def write_mcap(path: Path, recordings: Mapping[str, Recording], tracks: Mapping[str, Track]) -> list[str]:
    """Messages of ROS 2 with their definitions, packed with zstd; returns what could not be held."""
    writer_module = library("mcap.writer", path, "an MCAP file")
    store = _store(path, 2)
    found, unheld = channels(recordings, tracks)
    with whole_file(path) as tmp, tmp.open("wb") as file:
        writer = writer_module.Writer(file)
        writer.start(profile="ros2", library=_LIBRARY)
        schemas: dict[str, int] = {}
        numbers = []
        for channel in found:
            if channel.kind not in schemas:
                text = store.generate_msgdef(channel.kind, ros_version=2)[0]
                schemas[channel.kind] = writer.register_schema(channel.kind, "ros2msg", text.encode())
            numbers.append(writer.register_channel(channel.topic, "cdr", schemas[channel.kind]))
        for count, (stamp, number, message) in enumerate(in_time_order(found, cdr=True)):
            writer.add_message(numbers[number], stamp, message, stamp, count & 0xFFFFFFFF)
        writer.add_metadata(META, {"meta": meta_to_json(recordings)})
        writer.finish()
    return unheld


def write_ros1(path: Path, recordings: Mapping[str, Recording], tracks: Mapping[str, Track]) -> list[str]:
    """A bag of ROS 1, packed with lz4."""
    rosbag1 = library("rosbags.rosbag1", path, "a ROS 1 bag")
    store = _store(path, 1)
    found, unheld = channels(recordings, tracks)
    if min(int(channel.stamps_ns[0]) for channel in found) == 0:
        unheld.append("the stamp 0, which means no time in ROS 1: it reads back by the time of its record")
    with whole_file(path) as tmp:
        tmp.unlink()  # its writer makes the file itself
        with rosbag1.Writer(tmp) as bag:
            connections = [bag.add_connection(each.topic, each.kind, typestore=store) for each in found]
            for stamp, number, message in in_time_order(found, cdr=False):
                bag.write(connections[number], stamp, message)
    return [*unheld, *(f"meta of {name}" for name in recordings)]


def write_ros2(path: Path, recordings: Mapping[str, Recording], tracks: Mapping[str, Track]) -> list[str]:
    """A bag of ROS 2: a folder with metadata.yaml and one .db3 file."""
    rosbag2 = library("rosbags.rosbag2", path, "a ROS 2 bag")
    store = _store(path, 2)
    refuse_existing(path)
    found, unheld = channels(recordings, tracks)
    with new_folder(path) as folder, rosbag2.Writer(folder, version=8) as bag:
        bag.set_custom_data(META, meta_to_json(recordings))
        connections = [bag.add_connection(each.topic, each.kind, typestore=store) for each in found]
        for stamp, number, message in in_time_order(found, cdr=True):
            bag.write(connections[number], stamp, message)
    return unheld


def refuse_existing(path: Path) -> None:
    """Folders are written anew only: files that are in one already would become part of it."""
    if path.exists():
        raise InputError(f"{shown_path(path)} exists already; choose another name, or remove it first")
    if not path.absolute().parent.is_dir():
        raise InputError(f"folder {shown_path(path.absolute().parent)} does not exist; make it first")


class new_folder:
    """A path whose folder becomes the target if the block ends well; nothing is left behind if it does not."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __enter__(self) -> Path:
        try:
            self._around = Path(tempfile.mkdtemp(prefix=".strapdown-", dir=self._target.absolute().parent))
        except OSError as error:
            raise InputError(f"cannot write {shown_path(self._target)}: {reason(error)}; choose another path") from None
        return self._around / self._target.name

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                (self._around / self._target.name).rename(self._target)
            elif isinstance(error, OSError):
                raise InputError(f"cannot write {shown_path(self._target)}: {reason(error)}; nothing was left behind")
        finally:
            shutil.rmtree(self._around, ignore_errors=True)
