"""Text files as a stream of blocks of whole lines, plain or gzipped: none is in memory whole, however long it is."""

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.regular_file import opened, refuse_bomb, refused_unreadable

BLOCK_BYTES = 1 << 24  # large enough that a parser's threads find work, small against any log that is large
_LONGEST_LINE = 8  # blocks; what goes on for longer is no text
LINE_END = re.compile(rb"\r\n|\n|\r")
_LF, _CR = 10, 13
_BOM = b"\xef\xbb\xbf"
NOT_WHOLE = "is not a whole gzip file: {}; copy or record it again"


@dataclass(frozen=True)
class Block:
    """Whole lines.

    begin: byte of the unpacked file at which they begin.
    line: number of the first line, from 1.
    share: share of the file that is read up to here, 0 to 1.
    last: no block follows.
    """

    data: memoryview
    begin: int
    line: int
    share: float
    last: bool

    def after(self, size: int, lines: int) -> "Block":
        """The block without its first lines."""
        return Block(self.data[size:], self.begin + size, self.line + lines, self.share, self.last)


def text_blocks(path: Path, kind: str = "file", not_whole: str = NOT_WHOLE) -> Iterator[Block]:
    """All blocks of a file, at least one; the mark of UTF-8 at its start is omitted.

    kind, not_whole: texts for the sentences on a missing file, and on a damaged gzipped one.
    """
    with opened(path, kind) as raw:
        packed = _packed(path)
        text = cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="rb")) if packed else raw
        size = max(os.fstat(raw.fileno()).st_size, 1)
        rest, begin, line, unpacked = b"", 0, 1, 0
        while True:
            read = _read(text, BLOCK_BYTES, path, kind, not_whole if packed else "")
            unpacked += len(read)
            if packed:
                refuse_bomb(path, raw.tell(), unpacked)
            last = len(read) < BLOCK_BYTES
            piece = rest + read if rest else read
            if begin == 0 and piece.startswith(_BOM):
                piece, begin = piece[len(_BOM) :], len(_BOM)
            end = len(piece) if last else _after_last_line(piece)
            share = 1.0 if last else min(raw.tell() / size, 1.0)
            if end or last:
                yield Block(memoryview(piece)[:end], begin, line, share, last)
                line += line_ends(piece, end)
                begin += end
            elif len(piece) >= _LONGEST_LINE * BLOCK_BYTES:
                raise InputError(
                    f"{path}, line {line} is longer than {len(piece) / 1e6:.0f} MB; check that it is text, a row a line"
                )
            if last:
                return
            rest = piece[end:]


def text_piece(path: Path, begin: int, size: int) -> bytes:
    """This many bytes of the unpacked file, from that place on."""
    with gzip.open(path) if _packed(path) else path.open("rb") as text:
        text.seek(begin)
        return text.read(size)


def _packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _read(text: BinaryIO, size: int, path: Path, kind: str, not_whole: str) -> bytes:
    """Read the next bytes of a text file, packed or not.

    not_whole: the sentence on damage, empty where nothing is packed.
    """
    if not not_whole:
        with refused_unreadable(path, kind):
            return text.read(size)
    try:
        return text.read(size)
    except (OSError, EOFError, zlib.error) as e:
        raise InputError(f"{path} {not_whole.format(e)}") from e


def _after_last_line(piece: bytes) -> int:
    end = piece.rfind(b"\n") + 1
    if end == 0:  # lines that end with \r alone; one at the end of the piece may be half of \r\n
        end = piece.rfind(b"\r", 0, len(piece) - 1) + 1
    return end


def line_ends(data: bytes, end: int) -> int:
    """How many lines end before byte `end`: with \\n, \\r\\n or \\r."""
    codes = np.frombuffer(data, dtype=np.uint8, count=end)  # numpy counts six times as fast as bytes do
    lines = int(np.count_nonzero(codes == _LF))
    if data.find(b"\r", 0, end) >= 0:
        lines += int(np.count_nonzero(codes == _CR)) - data.count(b"\r\n", 0, end)
    return lines


@contextmanager
def text_writer(path: Path) -> Iterator[BinaryIO]:
    """A file to write bytes of text into, gzipped if its name ends in .gz; it appears whole or not at all."""
    with whole_file(path) as tmp, tmp.open("wb") as raw:
        if not _packed(path):
            yield raw
            return
        # no name and no time inside: the same text gives the same bytes; level 3 is fast enough
        with gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=raw, mtime=0) as packed:
            yield cast(BinaryIO, packed)
