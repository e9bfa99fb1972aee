"""Frames of the module's protocol out of a stream of bytes: COBS, CRC-16, length by kind (docs/device-protocol.md)."""

import numpy as np

from strapdown.kernels.jit import kernel

LONGEST = 128  # bytes of a frame before COBS
# counters of a decoder
GOOD, BAD, BAD_BYTES, PENDING, SKIPPING = range(5)
COUNTERS = 5


def _crc_table():
    table = np.zeros(256, dtype=np.uint16)
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
        table[byte] = crc & 0xFFFF
    table.flags.writeable = False
    return table


CRC_TABLE = _crc_table()


@kernel
def decode(data, pending, counters, crc_table, lengths, version, frames, sizes):
    """Decode the frames that end in data, into rows of `frames` with their `sizes`; returns their number.

    pending: bytes of a frame that has begun; counters[PENDING] of them are there. counters[SKIPPING]: the bytes until
        the next zero are too many for a frame, and are dropped.
    lengths: size of a frame by its kind, 0: not a kind.

    A frame is good if its code, CRC, version, kind and length are right.
    """
    count = 0
    have = counters[PENDING]
    for byte in data:
        if byte != 0:
            if have <= LONGEST:  # one more than a frame: the code byte
                pending[have] = byte
                have += 1
            else:
                counters[SKIPPING] += 1
            continue
        if have == 0 and counters[SKIPPING] == 0:
            continue
        out = frames[count]
        size, at = np.int64(0), np.int64(0)
        good = counters[SKIPPING] == 0
        while good and at < have:
            code = np.int64(pending[at])
            if at + code > have:
                good = False
                break
            for k in range(at + 1, at + code):
                if size < LONGEST:
                    out[size] = pending[k]
                size += 1
            at += code
            if at < have and code < 255:
                if size < LONGEST:
                    out[size] = 0
                size += 1
        if good:
            good = 10 <= size <= LONGEST and out[0] == version and np.int64(lengths[out[1]]) == size
        if good:
            crc = np.int64(0xFFFF)
            for k in range(size - 2):
                crc = ((crc << 8) & 0xFFFF) ^ np.int64(crc_table[(crc >> 8) ^ out[k]])
            good = crc == np.int64(out[size - 2]) + 256 * np.int64(out[size - 1])
        if good:
            sizes[count] = size
            count += 1
            counters[GOOD] += 1
        else:
            counters[BAD] += 1
            counters[BAD_BYTES] += have + counters[SKIPPING] + 1
        have = 0
        counters[SKIPPING] = 0
    counters[PENDING] = have
    return count
