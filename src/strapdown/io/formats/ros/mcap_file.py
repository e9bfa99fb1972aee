"""MCAP files: messages of ROS 2 and ROS 1, and poses in Foxglove's schemas (JSON, Protocol Buffers, ROS 2)."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from strapdown.errors import InputError
from strapdown.io.formats.contents import Contents
from strapdown.io.formats.library import damage_refused, library
from strapdown.io.formats.ros import foxglove
from strapdown.io.formats.ros.assemble import assemble
from strapdown.io.formats.ros.bag import Collector
from strapdown.io.formats.ros.layouts import POSE, TRANSFORM, TRANSFORMS
from strapdown.io.formats.ros.own_meta import META, own_meta_of, with_own_meta
from strapdown.regular_file import opened, refuse_bomb

SOURCE = "MCAP file"
KIND = "an MCAP file"
_MOST_RECORD_BYTES = 1 << 28
# messages of Foxglove's package for ROS 2 whose bytes are those of messages of ROS
_SAME_BYTES = {
    "foxglove_msgs/msg/PoseInFrame": POSE,
    "foxglove_msgs/msg/FrameTransform": TRANSFORM,
    "foxglove_msgs/msg/FrameTransforms": TRANSFORMS,
}


def read_mcap(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """All topics of the file that can be read."""
    library("mcap.reader", path, KIND)
    collector, loose = Collector(tracks), foxglove.Collected()
    with opened(path, "MCAP file") as file, damage_refused(path, KIND):
        notes = _Reading(file, path, collector, loose, done).run()
        topics = {**collector.finished(), **loose.finished()}
    found = assemble(topics, SOURCE, str(path), tuple(notes), tracks)
    return with_own_meta(found, our_meta(path))


def collect_mcap(path: Path, collector: Collector, done: Callable[[float], None]) -> list[str]:
    """All wanted messages of ROS into the collector; notes on the file."""
    library("mcap.reader", path, KIND)
    with opened(path, "MCAP file") as file, damage_refused(path, KIND):
        return _Reading(file, path, collector, foxglove.Collected(), done).run()


def our_meta(path: Path) -> dict[str, Any]:
    """What we wrote along: sensor -> its meta; nothing for files of others."""
    from mcap.reader import make_reader

    with opened(path, "MCAP file") as file, damage_refused(path, KIND):
        try:
            found = next((each for each in make_reader(file).iter_metadata() if each.name == META), None)
        except _cut_off():
            return {}
        return own_meta_of("{}" if found is None else found.metadata.get("meta", "{}"))


def _cut_off() -> tuple[type[Exception], ...]:
    """What the library raises at the end of a file that was not finished, as when a robot is switched off."""
    from mcap.exceptions import McapError

    return McapError, struct.error, OSError, ValueError


class _Reading:
    """One pass over the file: only chunks that hold a wanted topic are unpacked, where the file has an index."""

    def __init__(
        self, file: Any, path: Path, collector: Collector, loose: "foxglove.Collected", done: Callable[[float], None]
    ) -> None:
        self._file, self._path, self._collector, self._loose, self._done = file, path, collector, loose, done
        self._size = max(path.stat().st_size, 1)
        self._schemas: dict[int, Any] = {}
        self._channels: dict[int, Any] = {}
        self._places: dict[int, Callable[[bytes, int], None] | None] = {}
        self._notes: dict[str, None] = {}

    def run(self) -> list[str]:
        from mcap.records import Channel, Message, Schema

        for record in self._records():
            if isinstance(record, Message):
                place = self._place(record.channel_id)
                if place is not None:
                    place(record.data, record.log_time)
            elif isinstance(record, Schema):
                self._schemas[record.id] = record
            elif isinstance(record, Channel):
                self._channels[record.id] = record
        return list(self._notes)

    def _records(self) -> Iterator[Any]:
        from mcap.reader import SeekingReader
        from mcap.records import Chunk
        from mcap.stream_reader import StreamReader, breakup_chunk

        try:
            summary = SeekingReader(self._file, record_size_limit=_MOST_RECORD_BYTES).get_summary()
        except _cut_off():  # read what is there
            summary = None
        if summary is not None and _is_whole(summary):
            self._schemas, self._channels = dict(summary.schemas), dict(summary.channels)
            for index in sorted(summary.chunk_indexes, key=lambda each: each.message_start_time):
                inside = index.message_index_offsets or self._channels
                if any(self._place(channel) is not None for channel in inside):
                    self._file.seek(index.chunk_start_offset)
                    stream = StreamReader(self._file, True, True, record_size_limit=_MOST_RECORD_BYTES)
                    yield from breakup_chunk(self._checked(next(iter(stream.records))), validate_crc=True)
                    self._done(min(index.chunk_start_offset / self._size, 1.0))
            return
        self._file.seek(0)
        try:
            for record in StreamReader(self._file, emit_chunks=True, record_size_limit=_MOST_RECORD_BYTES).records:
                if isinstance(record, Chunk):
                    yield from breakup_chunk(self._checked(record), validate_crc=True)
                    self._done(self._file.tell() / self._size)
                else:
                    yield record
        except _cut_off() as error:
            self._notes[f"the file ends early ({type(error).__name__}): what stands before that is read"] = None

    def _checked(self, chunk: Any) -> Any:
        refuse_bomb(self._path, len(chunk.data), chunk.uncompressed_size)
        return chunk

    def _place(self, number: int) -> Callable[[bytes, int], None] | None:
        """Where messages of a channel go; None for those that are not wanted."""
        if number not in self._places:
            channel = self._channels.get(number)
            schema = None if channel is None else self._schemas.get(channel.schema_id)
            if channel is None or schema is None:
                return None  # its record may come later
            self._places[number] = self._found(channel, schema)
        return self._places[number]

    def _found(self, channel: Any, schema: Any) -> Callable[[bytes, int], None] | None:
        if schema.name.startswith("foxglove.") and channel.message_encoding in ("json", "protobuf"):
            return self._loose.place(channel.topic, schema, channel.message_encoding, self._path)
        name = schema.name if "/msg/" in schema.name else schema.name.replace("/", "/msg/", 1)
        name = _SAME_BYTES.get(name, name)
        if not self._collector.wants(name) or channel.message_encoding not in ("cdr", "ros1"):
            return None
        cdr = channel.message_encoding == "cdr"
        if schema.encoding in ("ros1msg", "ros2msg") and not _is_standard(schema, name, cdr):
            self._notes[f"{channel.topic} is not read: its {schema.name} is not the one of ROS"] = None
            return None
        return self._collector.topic(channel.topic, name, cdr).put


def _is_whole(summary: Any) -> bool:
    """Whether it lists chunks, channels and their schemas: some writers do not repeat what the chunks hold."""
    channels = summary.channels.values()
    return bool(summary.chunk_indexes and channels) and all(each.schema_id in summary.schemas for each in channels)


def _is_standard(schema: Any, name: str, cdr: bool) -> bool:
    """Whether a definition has the fields of the message of that name in ROS: else its bytes mean something else."""
    if schema.name.startswith("foxglove"):
        return True
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError:
        return True  # the lengths of the messages are still checked
    store = get_typestore(Stores.ROS2_HUMBLE if cdr else Stores.ROS1_NOETIC)
    try:
        given = get_types_from_msg(schema.data.decode("utf-8"), name)
    except Exception as error:
        raise InputError(f"the definition of {schema.name} cannot be parsed ({type(error).__name__})") from None
    return all(kind not in store.fielddefs or fields[1] == store.fielddefs[kind][1] for kind, fields in given.items())
