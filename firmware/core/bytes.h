/* Numbers in byte buffers: the protocol and the QMC5883L are little-endian, the MPU-6050 and the HMC5883L big-endian. */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>

static inline uint8_t *put_u8(uint8_t *at, uint8_t value)
{
    *at = value;
    return at + 1;
}

static inline uint8_t *put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

static inline uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    return put_u16(put_u16(at, (uint16_t)value), (uint16_t)(value >> 16));
}

static inline uint16_t get_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline int16_t get_i16(const uint8_t *at)
{
    return (int16_t)get_u16(at);
}

static inline int16_t get_i16_big_endian(const uint8_t *at)
{
    return (int16_t)(at[0] << 8 | at[1]);
}

#endif
