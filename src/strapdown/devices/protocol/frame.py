"""A frame of the module's protocol: header, body, CRC-16, COBS. Byte tables: docs/device-protocol.md."""

import binascii
import struct
from typing import NamedTuple

VERSION = 1
HELLO, SAMPLE, STATUS, ANSWER = 0x01, 0x02, 0x03, 0x04
ASK_HELLO, START, STOP, SET, LIGHT = 0x10, 0x11, 0x12, 0x13, 0x14
HOST_MARK = 0x20  # in files only: written by the recorder
# bytes of the body, by kind; a frame of another length is bad
BODY_BYTES = {
    **{HELLO: 64, SAMPLE: 26, STATUS: 24, ANSWER: 4},
    **{ASK_HELLO: 0, START: 0, STOP: 0, SET: 8, LIGHT: 2},
    HOST_MARK: 24,
}
HEADER = struct.Struct("<BBHI")
LONGEST_FRAME = 128  # bytes before COBS; COBS adds one to a frame of less than 255


class Frame(NamedTuple):
    """One frame of the protocol.

    kind: one of the constants above.
    sequence: u16 of this kind and sender.
    time_us: u32 of the module's clock.
    """

    kind: int
    sequence: int
    time_us: int
    body: bytes


def crc16(data: bytes) -> int:
    """CRC-16 of polynomial 0x1021, start 0xFFFF, not reflected."""
    return binascii.crc_hqx(data, 0xFFFF)


def cobs_encoded(data: bytes) -> bytes:
    """Consistent overhead byte stuffing: no zero byte in the result; the 0x00 that ends a frame is not added."""
    out = bytearray()
    pieces = data.split(b"\0")
    for i, piece in enumerate(pieces):
        while len(piece) >= 254:
            out += b"\xff" + piece[:254]
            piece = piece[254:]
            if not piece and i == len(pieces) - 1:
                return bytes(out)
        out.append(len(piece) + 1)
        out += piece
    return bytes(out)


def plain_frame(frame: Frame) -> bytes:
    """Header, body and CRC, before COBS."""
    if len(frame.body) != BODY_BYTES[frame.kind]:
        raise ValueError(f"a body of {len(frame.body)} bytes for kind {frame.kind:#x}")
    data = HEADER.pack(VERSION, frame.kind, frame.sequence & 0xFFFF, frame.time_us & 0xFFFFFFFF) + frame.body
    return data + struct.pack("<H", crc16(data))


def on_the_line(frame: Frame) -> bytes:
    """The bytes that are sent: COBS and the 0x00 at the end."""
    return cobs_encoded(plain_frame(frame)) + b"\0"
