"""The host's mark in a recorded file: how the module's clock maps to the host's, and what was lost so far."""

import struct
from typing import NamedTuple, Self

from strapdown.devices.protocol.frame import HOST_MARK, Frame

_MARK = struct.Struct("<qqII")


class Mark(NamedTuple):
    """host_ns: the host's clock, since 1970. offset_us: time on the recording's axis less the time stamp of this frame
    and of those that follow. lost, bad: samples lost and bad frames since the recording began."""

    host_ns: int
    offset_us: int
    lost: int
    bad: int

    def frame(self, sequence: int, time_us: int) -> Frame:
        """time_us: the module's stamp that belongs to host_ns."""
        return Frame(HOST_MARK, sequence, time_us, _MARK.pack(*self))

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        return cls(*_MARK.unpack(body))
