#include "frame.h"

#include <string.h>

#include "bytes.h"

uint16_t crc16(const uint8_t *data, size_t count)
{
    uint32_t crc = 0xFFFF;
    for (size_t i = 0; i < count; i++) {
        /* one byte at a time without a table: the polynomial x^16 + x^12 + x^5 + 1 folded twice */
        uint32_t x = ((crc >> 8) ^ data[i]) & 0xFF;
        x ^= x >> 4;
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF;
    }
    return (uint16_t)crc;
}

size_t cobs_encode(const uint8_t *data, size_t count, uint8_t *out)
{
    size_t code_at = 0, written = 1;
    for (size_t i = 0; i < count; i++) {
        if (data[i] != 0) {
            out[written++] = data[i];
        }
        bool full = written - code_at == 0xFF;
        if (data[i] == 0 || (full && i + 1 < count)) {
            out[code_at] = (uint8_t)(written - code_at);
            code_at = written++;
        }
    }
    out[code_at] = (uint8_t)(written - code_at);
    return written;
}

bool cobs_decode(const uint8_t *data, size_t count, uint8_t *out, size_t *out_count)
{
    size_t read = 0, written = 0;
    while (read < count) {
        size_t code = data[read++];
        if (code == 0 || code - 1 > count - read) {
            return false;
        }
        for (size_t end = read + code - 1; read < end; read++) {
            out[written++] = data[read];
        }
        if (code < 0xFF && read < count) {
            out[written++] = 0;
        }
    }
    *out_count = written;
    return true;
}

size_t frame_plain(const struct frame *frame, uint8_t *out)
{
    uint8_t *at = put_u8(out, PROTOCOL_VERSION);
    at = put_u8(at, frame->kind);
    at = put_u16(at, frame->sequence);
    at = put_u32(at, frame->time_us);
    if (frame->body_bytes > 0) {
        memcpy(at, frame->body, frame->body_bytes);
        at += frame->body_bytes;
    }
    at = put_u16(at, crc16(out, (size_t)(at - out)));
    return (size_t)(at - out);
}

size_t frame_on_line(const struct frame *frame, uint8_t *out)
{
    uint8_t plain[FRAME_LONGEST];
    size_t count = cobs_encode(plain, frame_plain(frame, plain), out);
    out[count] = 0;
    return count + 1;
}

/* Bytes of a command's body, or -1 for a kind that no host sends. */
static int command_body(uint8_t kind)
{
    switch (kind) {
    case KIND_ASK_HELLO:
    case KIND_START:
    case KIND_STOP:
        return 0;
    case KIND_SET:
        return 8;
    case KIND_LIGHT:
        return 2;
    default:
        return -1;
    }
}

static bool command_in(uint8_t *bytes, size_t encoded, struct frame *frame)
{
    size_t count;
    if (encoded > FRAME_ENCODED || !cobs_decode(bytes, encoded, bytes, &count)) {
        return false;
    }
    if (count < FRAME_HEADER + FRAME_CRC || bytes[0] != PROTOCOL_VERSION) {
        return false;
    }
    size_t body = count - FRAME_HEADER - FRAME_CRC;
    if (crc16(bytes, count - FRAME_CRC) != get_u16(bytes + count - FRAME_CRC) || command_body(bytes[1]) != (int)body) {
        return false;
    }
    frame->kind = bytes[1];
    frame->sequence = get_u16(bytes + 2);
    frame->time_us = 0;
    frame->body = bytes + FRAME_HEADER;
    frame->body_bytes = body;
    return true;
}

bool frame_receive(struct frame_receiver *receiver, uint8_t byte, struct frame *frame)
{
    if (byte != 0) {
        if (receiver->count < FRAME_ENCODED) {
            receiver->bytes[receiver->count] = byte;
        }
        if (receiver->count <= FRAME_ENCODED) {
            receiver->count++;
        }
        return false;
    }
    size_t count = receiver->count;
    receiver->count = 0;
    if (count == 0) {
        return false;
    }
    bool good = command_in(receiver->bytes, count, frame);
    receiver->bad += !good;
    return good;
}
