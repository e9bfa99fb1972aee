"""A recorded file of the module (.module): the frames as they came over the line, and the host's marks.

A file begins with one line of text and a zero byte, then a hello and a mark. So each file can be read without others.
Nothing is
written at its end: a file that was cut anywhere holds all frames before the cut.
"""

from collections.abc import Iterator
from typing import BinaryIO

from strapdown.devices.protocol.decoder import Decoder
from strapdown.devices.protocol.frame import Frame

SUFFIX = ".module"
HEAD = b"strapdown module 1\n\0"
_MARK = b"strapdown module "
_PIECE = 1 << 20


class NotAModuleFile(ValueError):
    """The file does not begin as a recorded file of a module; the message states why."""


def frames_of(file: BinaryIO) -> Iterator[tuple[list[Frame], int, int]]:
    """Frames of an open file, a piece at a time, with the bytes read and the bad frames so far."""
    head = file.read(len(HEAD))
    if head != HEAD:
        if head.startswith(_MARK) and head != HEAD[: len(head)]:
            raise NotAModuleFile("was recorded by a newer version of the program; update it")
        raise NotAModuleFile("is not a recording of a module; it should begin with the text strapdown module 1")
    decoder, done = Decoder(), len(head)
    while piece := file.read(_PIECE):
        done += len(piece)
        yield decoder.feed(piece), done, decoder.bad
