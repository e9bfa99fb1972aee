"""Frames from a stream of bytes, however it is cut or damaged. Memory is bounded."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from strapdown.devices.protocol.frame import BODY_BYTES, HEADER, LONGEST_FRAME, SAMPLE, VERSION, Frame
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.devices import frames as kernel

_PIECE = 16384  # bytes decoded at a time
_SHORTEST = 12  # bytes of a good frame on the line
_OVERHEAD = HEADER.size + 2
# a sample frame as a row of numbers, for files and fast consumers; names are those of messages.Readings
SAMPLE_ROW = np.dtype(
    [
        *(("version", "u1"), ("kind", "u1"), ("sequence", "<u2"), ("time_us", "<u4")),
        *(("acc", "<i2", 3), ("temperature", "<i2"), ("gyr", "<i2", 3), ("mag", "<i2", 3)),
        *(("flags", "u1"), ("inputs", "u1"), ("ticks", "<i4"), ("crc", "<u2")),
    ]
)


class Decoder:
    """One stream.

    kinds: the frames that are good here; others count as bad.
    """

    def __init__(self, kinds: tuple[int, ...] = tuple(BODY_BYTES)) -> None:
        fix_signature(kernel.decode)
        self._lengths = np.zeros(256, dtype=np.uint8)
        for kind in kinds:
            self._lengths[kind] = BODY_BYTES[kind] + _OVERHEAD
        self._pending = np.zeros(LONGEST_FRAME + 2, dtype=np.uint8)
        self._counters = np.zeros(kernel.COUNTERS, dtype=np.int64)
        most = _PIECE // _SHORTEST + 2
        self._frames = np.zeros((most, LONGEST_FRAME), dtype=np.uint8)
        self._sizes = np.zeros(most, dtype=np.int64)

    @property
    def good(self) -> int:
        """Good frames so far."""
        return int(self._counters[kernel.GOOD])

    @property
    def bad(self) -> int:
        """Frames that were dropped so far."""
        return int(self._counters[kernel.BAD])

    @property
    def bad_bytes(self) -> int:
        """Bytes of dropped frames, with the zero at their end."""
        return int(self._counters[kernel.BAD_BYTES])

    @property
    def pending(self) -> int:
        """Bytes of a frame that has begun and not ended."""
        return int(self._counters[kernel.PENDING] + self._counters[kernel.SKIPPING])

    def blocks(self, data: bytes | memoryview) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        """Frames before COBS as rows of bytes, and their sizes; both are overwritten by the next block."""
        array = np.frombuffer(data, dtype=np.uint8)
        for begin in range(0, len(array), _PIECE):
            count = kernel.decode(
                array[begin : begin + _PIECE],
                self._pending,
                self._counters,
                kernel.CRC_TABLE,
                self._lengths,
                VERSION,
                self._frames,
                self._sizes,
            )
            if count:
                yield self._frames[:count], self._sizes[:count]

    def feed(self, data: bytes | memoryview) -> list[Frame]:
        """The frames that end in data."""
        found = []
        for rows, sizes in self.blocks(data):
            for row, size in zip(rows, sizes.tolist(), strict=True):
                plain = row[:size].tobytes()
                _, kind, sequence, time_us = HEADER.unpack_from(plain)
                found.append(Frame(kind, sequence, time_us, plain[HEADER.size : -2]))
        return found


def sample_rows(rows: NDArray[np.uint8]) -> NDArray[np.void]:
    """The samples of a block, as a table of SAMPLE_ROW; a copy."""
    found = np.ascontiguousarray(rows[rows[:, 1] == SAMPLE, : SAMPLE_ROW.itemsize])
    return found.view(SAMPLE_ROW)[:, 0]
