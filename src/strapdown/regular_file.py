"""Files to read. Only regular files are opened: a pipe, a device or a folder is refused before anything is read.

A command remembers which files it has opened, so that it cannot overwrite one of them.
"""

import errno
import gzip
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from strapdown.errors import InputError

PathLike = str | os.PathLike[str]
FileId = tuple[int, int]  # device and inode: the same for every link to a file

MOST_TEXT_BYTES = 64_000_000  # of a file that is read whole: settings, models, calibrations
MOST_UNPACKED = 200  # times the packed size; text of readings packs to 1/3 to 1/50, deflate can reach 1/1032
FREE_UNPACKED_BYTES = 1 << 24  # below this the ratio does not matter
# a folder of results that are not complete, in the folder that they are for; the number of the process follows
UNFINISHED = ".strapdown-new-"
_KINDS = {
    stat.S_ISDIR: "a folder; name a file in it",
    stat.S_ISFIFO: "a pipe; copy its content into a file first",
    stat.S_ISSOCK: "a socket; name a file",
    stat.S_ISCHR: "a device; name a file",
    stat.S_ISBLK: "a device; name a file",
}
_read: ContextVar[dict[FileId, str] | None] = ContextVar("files that this command has read", default=None)


def opened(path: PathLike, kind: str = "file") -> BinaryIO:
    """A regular file, open for reading bytes.

    kind: expected kind of file, for the message.
    """
    with refused_unreadable(path, kind):
        # not blocking: to open a pipe that nobody writes into would wait forever
        raw = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            info = os.fstat(raw)
            for is_kind, word in _KINDS.items():
                if is_kind(info.st_mode):
                    raise InputError(f"{shown_path(path)} is {word}")
            known = _read.get()
            if known is not None:
                known[info.st_dev, info.st_ino] = os.fspath(path)
            return os.fdopen(raw, "rb")
        except BaseException:
            os.close(raw)
            raise


def unfinished_folders(words: Iterable[str]) -> set[Path]:
    """The folders that these words of a command line name, by themselves or by a file in them, and in which a run has
    not finished.
    """
    found = set()
    for word in words:
        try:
            path = Path(word.rpartition("=")[2])
            folder = path if path.is_dir() else path.parent if path.is_file() else None
            if folder is not None and any(each.name.startswith(UNFINISHED) for each in folder.iterdir()):
                found.add(folder)
        except (OSError, ValueError):  # no path at all
            continue
    return found


def whole_bytes(path: PathLike, kind: str = "file", most_bytes: int = MOST_TEXT_BYTES) -> bytes:
    """All bytes of a file that is not large, or one sentence on the reason."""
    with opened(path, kind) as file, refused_unreadable(path, kind):
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            most = f"{most_bytes / 1e6:.0f} MB"
            raise InputError(f"{shown_path(path)} has {size / 1e6:.0f} MB, a {kind} at most {most}; check its name")
        return file.read(size or 1 << 16)  # some files of the system have no size


def unpacked(raw: bytes, path: PathLike) -> bytes:
    """The content of a gzip file; refused where it expands more than any text of readings."""
    source, parts, size = BytesIO(raw), [], 0
    try:
        with gzip.GzipFile(fileobj=source, mode="rb") as file:
            while part := file.read(1 << 20):
                parts.append(part)
                size += len(part)
                refuse_bomb(path, source.tell(), size)
    except (EOFError, OSError, zlib.error):
        raise InputError(f"{shown_path(path)} is a damaged gzip file; copy it again") from None
    return b"".join(parts)


def refuse_bomb(path: PathLike, packed: int, unpacked: int) -> None:
    """Refuse a packed file that unpacks to far more bytes than it has.

    packed, unpacked: bytes so far.
    """
    if unpacked > FREE_UNPACKED_BYTES and unpacked > MOST_UNPACKED * packed:
        raise InputError(
            f"{shown_path(path)} unpacks to more than {MOST_UNPACKED} times its size, as no recording does; "
            "check where it is from, or unpack it first"
        )


@contextmanager
def refused_unreadable(path: PathLike, kind: str = "file") -> Iterator[None]:
    """The error of the system for opening or reading a file, as one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{kind} {shown_path(path)} does not exist; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{shown_path(path)} is {_KINDS[stat.S_ISDIR]}") from None
    except (OSError, ValueError) as e:
        if isinstance(e, OSError) and e.errno == errno.ENXIO:  # a socket cannot be opened at all
            raise InputError(f"{shown_path(path)} is {_KINDS[stat.S_ISSOCK]}") from None
        raise InputError(f"cannot read {shown_path(path)}: {reason(e)}; check the path and its permissions") from e


def reason(e: Exception) -> str:
    """The error text of the system, without the path."""
    return e.strerror if isinstance(e, OSError) and e.strerror else str(e)


def shown_path(path: PathLike) -> str:
    """A path for a message: on one line, and the middle of a very long one cut."""
    text = "".join(c if c.isprintable() else "?" for c in os.fspath(path))
    return text if len(text) <= 160 else f"{text[:80]}...{text[-60:]}"


@contextmanager
def remembering_inputs() -> Iterator[None]:
    """While a command runs: every file that is opened for reading is remembered, and is not overwritten."""
    token = _read.set({})
    try:
        yield
    finally:
        _read.reset(token)


def input_at(path: PathLike) -> str | None:
    """The path under which this command has read the file at this place, if it has."""
    known = _read.get()
    if not known:
        return None
    try:
        info = Path(path).stat()
    except (OSError, ValueError):
        return None
    return known.get((info.st_dev, info.st_ino))
