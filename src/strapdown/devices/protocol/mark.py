"""The host's mark in a recorded file: the relation of the module's clock to the host's, and the losses so far."""

import struct
from typing import NamedTuple, Self

from strapdown.devices.protocol.frame import HOST_MARK, Frame

_MARK = struct.Struct("<qqII")


class Mark(NamedTuple):
    """A mark in a recording that relates the module's clock to the host's.

    host_ns: the host's clock, since 1970.
    offset_us: time on the recording's axis less the time stamp of this frame and of those that follow.
    lost, bad: samples lost and bad frames since the recording began.
    """

    host_ns: int
    offset_us: int
    lost: int
    bad: int

    def frame(self, sequence: int, time_us: int) -> Frame:
        """The mark as a frame.

        time_us: the module's stamp that belongs to host_ns.
        """
        return Frame(HOST_MARK, sequence, time_us, _MARK.pack(*self))

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        return cls(*_MARK.unpack(body))
