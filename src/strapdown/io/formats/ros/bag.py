"""Bags: ROS 1 (.bag, split into several files, bz2 and lz4) and ROS 2 (folder or .db3, split, zstd), by rosbags."""

import contextlib
import re
import struct
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from strapdown.errors import InputError
from strapdown.io.formats.contents import Contents
from strapdown.io.formats.library import damage_refused, library
from strapdown.io.formats.ros.assemble import assemble
from strapdown.io.formats.ros.layouts import (
    IMU,
    ODOMETRY,
    POSES,
    READ,
    TRANSFORMS,
    TRANSFORMS_ROS1,
)
from strapdown.io.formats.ros.own_meta import META, own_meta_of, with_own_meta
from strapdown.io.formats.ros.topics import Messages, Topic, Transforms
from strapdown.io.formats.ros.unindexed import MAGIC, chunks_from_start, has_index
from strapdown.regular_file import opened, refuse_bomb

ROS1, ROS2 = "ROS 1 bag", "ROS 2 bag"
_MOST_CHUNK_BYTES = 1 << 28  # of one chunk, packed; recorders write 1 MB


class Collector:
    """The topics of a file while it is read. tracks: whether poses and attitudes are kept too."""

    def __init__(self, tracks: bool) -> None:
        self.tracks = tracks
        self._topics: dict[tuple[str, str], Topic | Transforms] = {}

    def topic(self, name: str, kind: str, cdr: bool) -> Topic | Transforms:
        """The place for the messages of a topic."""
        key = (name.strip("/"), kind)
        if key not in self._topics:
            if kind in (TRANSFORMS, TRANSFORMS_ROS1):
                self._topics[key] = Transforms(cdr)
            else:
                self._topics[key] = Topic(kind, cdr, ("gyr", "acc") if kind == IMU and not self.tracks else None)
        return self._topics[key]

    def wants(self, kind: str) -> bool:
        """Odometry is wanted in any case: that of wheels is an instrument."""
        poses = {*POSES, TRANSFORMS, TRANSFORMS_ROS1} - {ODOMETRY}
        return kind in READ and (self.tracks or kind not in poses)

    def finished(self) -> dict[str, Messages]:
        found: dict[str, Messages] = {}
        for (name, _), topic in self._topics.items():
            if isinstance(topic, Transforms):
                found |= topic.finished()
            else:
                found[name] = topic.finished()
        self._topics.clear()
        return found


def read_ros1(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """A bag of ROS 1; for a folder all bags in it, in the order of their names, as one."""
    library("rosbags.rosbag1", path, "a ROS 1 bag")
    paths = in_sequence(path.glob("*.bag")) if path.is_dir() else [path]
    collector, notes = Collector(tracks), []
    for number, each in enumerate(paths):
        opened(each, "bag").close()
        with damage_refused(each, "a ROS 1 bag"):
            notes += _read_bag(each, collector, partial(ahead, done, number, len(paths)))
    with damage_refused(path, "a ROS 1 bag"):  # the last messages wait until here
        topics = collector.finished()
    return assemble(topics, ROS1, str(path), tuple(dict.fromkeys(notes)), tracks)


def in_sequence(paths: Iterable[Path]) -> list[Path]:
    """Parts of a recording by the numbers in their names: part 10 comes after part 9."""
    return sorted(paths, key=lambda path: [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", path.name)])


def ahead(done: Callable[[float], None], before: int, files: int, part: float) -> None:
    done((before + part) / files)


def _read_bag(path: Path, collector: Collector, done: Callable[[float], None]) -> list[str]:
    """Chunk by chunk, in the order of the file: the index of single messages, 150 bytes for each, is not kept."""
    notes: list[str] = []
    wanted: dict[int, Topic | Transforms] = {}
    digests = _standard_digests()

    def connect(number: int, topic: str, kind: str, digest: str) -> None:
        if not collector.wants(kind):
            return
        if digest != digests[kind]:
            notes.append(f"{topic} is not read: its {kind} is not the one of ROS")
            return
        wanted[number] = collector.topic(topic, kind, cdr=False)

    size = max(path.stat().st_size, 1)
    with opened(path, "bag") as file:
        bag = None
        if file.read(len(MAGIC)) != MAGIC or has_index(file):
            bag = _with_index(path)
        chunks = (
            chunks_from_start(path, file, connect, notes)
            if bag is None
            else _indexed_chunks(path, bag, connect, wanted)
        )
        for data, at in chunks:
            for number, logged_ns, message in _records(data, wanted):
                wanted[number].put(message, logged_ns)
            done(at / size)
    return notes


def _with_index(path: Path) -> Any:
    """The bag, opened by its index; None for one whose index is cut off."""
    from rosbags.rosbag1 import Reader, ReaderError

    class Chunks(Reader):
        def read_index_data(self, pos: int, indexes: Any) -> None:
            assert self.bio is not None
            for _ in range(2):  # header and data of the record, each with its length before it
                (size,) = struct.unpack("<I", self.bio.read(4))
                self.bio.seek(size, 1)

    bag = Chunks(path)
    try:
        bag.open()
    except ReaderError as error:
        if "index" not in str(error):
            raise
        return None
    return bag


def _indexed_chunks(
    path: Path, bag: Any, connect: Callable[[int, str, str, str], None], wanted: Container[int]
) -> Iterator[tuple[bytes, int]]:
    """The data of each chunk that holds wanted messages, and where in the file it is."""
    with contextlib.closing(bag):
        for each in bag.connections:
            connect(each.id, each.topic, each.msgtype, each.digest)
        size = path.stat().st_size
        for info in bag.chunk_infos:
            if not any(number in wanted for number in info.connection_counts):
                continue
            chunk = bag.chunks[info.pos]
            if chunk.datasize > min(_MOST_CHUNK_BYTES, size):
                raise InputError(f"{path} has a chunk of {chunk.datasize} bytes; it may be damaged")
            bag.bio.seek(chunk.datapos)
            raw = bag.bio.read(chunk.datasize)
            data = chunk.decompressor(raw)
            refuse_bomb(path, len(raw), len(data))
            yield data, chunk.datapos


def _records(data: bytes, wanted: Container[int]) -> Iterator[tuple[int, int, bytes]]:
    """(connection, time, message) of the message records of a chunk, of wanted connections: pictures are not copied."""
    at, end = 0, len(data)
    length = struct.Struct("<I").unpack_from
    pair = struct.Struct("<II").unpack_from
    while at + 8 <= end:
        (head,) = length(data, at)
        fields, at = data[at + 4 : at + 4 + head], at + 4 + head
        (size,) = length(data, at)
        at += 4
        if at + size > end:
            raise InputError("a message is longer than its chunk")
        op = fields.find(b"op=")
        if op >= 0 and fields[op + 3] == 2:
            (number,) = length(fields, fields.find(b"conn=") + 5)
            if number in wanted:
                sec, nsec = pair(fields, fields.find(b"time=") + 5)
                yield number, sec * 1_000_000_000 + nsec, data[at : at + size]
        at += size


@cache
def _standard_digests() -> dict[str, str]:
    """MD5 of the definitions in ROS 1: a message of another definition has other bytes."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    for kind in (TRANSFORMS, TRANSFORMS_ROS1):  # two names of one definition
        store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", kind))
    return {kind: store.generate_msgdef(kind)[1] for kind in READ}


def read_ros2(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """A bag of ROS 2: its folder, or its only .db3 file."""
    library("rosbags.rosbag2", path, "a ROS 2 bag")
    if not path.is_dir():
        opened(path, "bag").close()
    collector = Collector(tracks)
    with damage_refused(path, "a ROS 2 bag"):
        custom = collect_ros2(path, collector, done)
        own = own_meta_of(custom[META]) if isinstance(custom.get(META), str) else {}
        topics = collector.finished()
    return with_own_meta(assemble(topics, ROS2, str(path), (), tracks), own)


def collect_ros2(path: Path, collector: Collector, done: Callable[[float], None]) -> dict[str, Any]:
    """All wanted messages into the collector; what the bag's own metadata hold besides."""
    from rosbags.rosbag2 import Reader

    with Reader(path) as bag:
        wanted = [each for each in bag.connections if collector.wants(each.msgtype)]
        places = {each.id: collector.topic(each.topic, each.msgtype, cdr=True) for each in wanted}
        total = max(sum(each.msgcount for each in wanted), 1)
        for count, (connection, logged_ns, raw) in enumerate(bag.messages(wanted) if wanted else ()):
            places[connection.id].put(raw, logged_ns)
            if count % 10_000 == 0:
                done(min(count / total, 1.0))
        return getattr(bag.storage.metadata, "custom", None) or {}
