"""Bags of ROS 1 without an index, as when a robot is switched off (.bag.active, or cut off): read from their start."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from strapdown.errors import InputError
from strapdown.regular_file import refuse_bomb

MAGIC = b"#ROSBAG V2.0\n"
_MESSAGE, _CHUNK, _CONNECTION = b"\x02", b"\x05", b"\x07"
_MOST_RECORD_BYTES = 1 << 28  # recorders write chunks of 1 MB
_LENGTH = struct.Struct("<I")


def has_index(file: BinaryIO) -> bool:
    """Whether the first record states where the index is, and the file is long enough to have it."""
    file.seek(len(MAGIC))
    try:
        head, _ = _record(file)
        (index_pos,) = struct.unpack("<Q", _fields(head)[b"index_pos"])
    except (struct.error, KeyError, EOFError):
        return False
    return 0 < index_pos < file.seek(0, 2)


def chunks_from_start(
    path: Path, file: BinaryIO, found: Callable[[int, str, str, str], None], notes: list[str]
) -> Iterator[tuple[bytes, int]]:
    """The data of each chunk, unpacked, and where the file is after it; connections in it are reported before.

    found: called with number, topic, type and digest of each connection. A record that is cut off ends the file.
    """
    from rosbags.rosbag1.reader import decompressors

    file.seek(len(MAGIC))
    while True:
        try:
            head, data = _record(file)
        except EOFError as cut:
            if cut.args:
                notes.append("the bag ends early, without an index: what stands before that is read")
            return
        fields = _fields(head)
        kind = fields.get(b"op", b"\0")[:1]
        if kind == _CHUNK:
            unpack = decompressors.get(fields[b"compression"].decode("ascii", "replace"))
            if unpack is None:
                raise InputError(f"{path} has a chunk with the compression {fields[b'compression'][:20]!r}")
            whole = unpack(data)
            refuse_bomb(path, len(data), len(whole))
            for inner, about in _inside(whole):
                if inner.get(b"op") == _CONNECTION:
                    _connection(inner, about, found)
            yield whole, file.tell()
        elif kind == _CONNECTION:
            _connection(fields, data, found)
        elif kind == _MESSAGE:  # of the last chunk, whose length the recorder did not come to write
            yield _LENGTH.pack(len(head)) + head + _LENGTH.pack(len(data)) + data, file.tell()


def _record(file: BinaryIO) -> tuple[bytes, bytes]:
    """Header and data of the next record. EOFError: with an argument where it is cut off, without at the end."""
    length = file.read(4)
    if not length:
        raise EOFError
    return _part(file, length), _part(file, file.read(4))


def _part(file: BinaryIO, length: bytes) -> bytes:
    if len(length) < 4:
        raise EOFError("cut off")
    (size,) = _LENGTH.unpack(length)
    if size > _MOST_RECORD_BYTES:
        raise EOFError("no length")
    data = file.read(size)
    if len(data) < size:
        raise EOFError("cut off")
    return data


def _fields(raw: bytes) -> dict[bytes, bytes]:
    found, at = {}, 0
    while at + 4 <= len(raw):
        (size,) = _LENGTH.unpack_from(raw, at)
        name, _, value = raw[at + 4 : at + 4 + size].partition(b"=")
        found[name] = value
        at += 4 + size
    return found


def _inside(data: bytes) -> Iterator[tuple[dict[bytes, bytes], bytes]]:
    """Records of a chunk that are no messages."""
    at = 0
    while at + 8 <= len(data):
        (head,) = _LENGTH.unpack_from(data, at)
        fields, at = data[at + 4 : at + 4 + head], at + 4 + head
        (size,) = _LENGTH.unpack_from(data, at)
        at += 4
        if b"op=" + _MESSAGE not in fields:
            yield _fields(fields), data[at : at + size]
        at += size


def _connection(fields: dict[bytes, bytes], data: bytes, found: Callable[[int, str, str, str], None]) -> None:
    about: dict[bytes, Any] = _fields(data)
    text = {key: about.get(key, b"").decode("utf-8", "replace") for key in (b"type", b"md5sum")}
    topic = fields[b"topic"].decode("utf-8", "replace")
    found(_LENGTH.unpack(fields[b"conn"])[0], topic, text[b"type"].replace("/", "/msg/", 1), text[b"md5sum"])
