/* Frames of the module's protocol, version 1: header, body, CRC-16, COBS. Byte tables: docs/device-protocol.md. */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROTOCOL_VERSION = 1,
    FRAME_HEADER = 8,
    FRAME_CRC = 2,
    FRAME_LONGEST = 128,                /* before COBS */
    FRAME_ENCODED = FRAME_LONGEST + 1,  /* COBS adds one byte to less than 255 */
    FRAME_ON_LINE = FRAME_ENCODED + 1,  /* and 0x00 ends it */
};

enum frame_kind {
    KIND_HELLO = 0x01,
    KIND_SAMPLE = 0x02,
    KIND_STATUS = 0x03,
    KIND_ANSWER = 0x04,
    KIND_ASK_HELLO = 0x10,
    KIND_START = 0x11,
    KIND_STOP = 0x12,
    KIND_SET = 0x13,
    KIND_LIGHT = 0x14,
};

struct frame {
    uint8_t kind;
    uint16_t sequence;
    uint32_t time_us;
    const uint8_t *body;
    size_t body_bytes;
};

/* CRC-16 of polynomial 0x1021, start 0xFFFF, not reflected. */
uint16_t crc16(const uint8_t *data, size_t count);

/* COBS without the 0x00 at the end. `out` holds count + 1 + count / 254 bytes. Returns the bytes written. */
size_t cobs_encode(const uint8_t *data, size_t count, uint8_t *out);

/* The reverse; `out` may be `data`. Returns false if a code is 0 or points beyond the end. */
bool cobs_decode(const uint8_t *data, size_t count, uint8_t *out, size_t *out_count);

/* The bytes of a frame before COBS (at most FRAME_LONGEST), and those on the line (at most FRAME_ON_LINE). */
size_t frame_plain(const struct frame *frame, uint8_t *out);
size_t frame_on_line(const struct frame *frame, uint8_t *out);

/* Collects bytes of the line until a frame of the host is complete. */
struct frame_receiver {
    uint8_t bytes[FRAME_ENCODED];
    size_t count;    /* may be FRAME_ENCODED + 1: too long */
    uint32_t bad;    /* frames with a wrong code, CRC, version, kind or length */
};

/* Feed one byte. True: `frame` is a good command; its body points into the receiver and is valid until the next byte. */
bool frame_receive(struct frame_receiver *receiver, uint8_t byte, struct frame *frame);

#endif
