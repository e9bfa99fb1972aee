#include "messages.h"

#include <string.h>

#include "bytes.h"

static uint8_t *put_bytes(uint8_t *at, const void *from, size_t count)
{
    memcpy(at, from, count);
    return at + count;
}

static uint8_t *put_axes(uint8_t *at, const int16_t axes[3])
{
    for (int i = 0; i < 3; i++) {
        at = put_u16(at, (uint16_t)axes[i]);
    }
    return at;
}

void pack_hello(const struct hello *hello, uint8_t body[HELLO_BYTES])
{
    uint8_t *at = put_u8(body, hello->reason);
    at = put_u8(at, hello->running);
    at = put_bytes(at, hello->firmware, sizeof hello->firmware);
    at = put_u8(at, 0);
    at = put_bytes(at, hello->serial_number, sizeof hello->serial_number);
    at = put_u32(at, hello->uptime_s);
    at = put_u8(at, hello->imu_chip);
    at = put_u8(at, hello->imu_address);
    at = put_u8(at, hello->imu_identity);
    at = put_u8(at, hello->mag_chip);
    at = put_u8(at, hello->mag_address);
    at = put_bytes(at, hello->mag_identity, sizeof hello->mag_identity);
    at = put_u8(at, hello->acc_range);
    at = put_u8(at, hello->gyr_range);
    at = put_u8(at, hello->low_pass);
    at = put_u8(at, hello->rate_divider);
    at = put_u8(at, hello->mag_range);
    at = put_u8(at, hello->mag_rate);
    at = put_u8(at, hello->mag_averaging);
    at = put_u8(at, 0);
    at = put_u16(at, hello->rate_hz);
    at = put_u16(at, hello->greatest_rate_hz);
    at = put_u32(at, hello->baud);
    at = put_u32(at, hello->tick_nm);
    at = put_u16(at, hello->acc_per_g);
    at = put_u16(at, hello->gyr_per_10_dps);
    at = put_u16(at, hello->mag_per_gauss);
    at = put_u16(at, hello->temperature_per_c);
    at = put_u16(at, (uint16_t)hello->temperature_zero_cc);
    at = put_bytes(at, hello->mag_axes, sizeof hello->mag_axes);
    put_u8(at, 0);
}

void pack_sample(const struct sample *sample, uint8_t body[SAMPLE_BYTES])
{
    uint8_t *at = put_axes(body, sample->acc);
    at = put_u16(at, (uint16_t)sample->temperature);
    at = put_axes(at, sample->gyr);
    at = put_axes(at, sample->mag);
    at = put_u8(at, sample->flags);
    at = put_u8(at, sample->inputs);
    put_u32(at, (uint32_t)sample->ticks);
}

void pack_status(const struct status *status, uint8_t body[STATUS_BYTES])
{
    uint8_t *at = put_u32(body, status->uptime_s);
    at = put_u32(at, status->samples);
    at = put_u32(at, status->overruns);
    at = put_u32(at, status->i2c_errors);
    at = put_u32(at, status->bad_frames);
    at = put_u8(at, status->state);
    at = put_u8(at, status->lights);
    put_u16(at, status->rate_hz);
}

void pack_answer(const struct answer *answer, uint8_t body[ANSWER_BYTES])
{
    uint8_t *at = put_u8(body, answer->command);
    at = put_u8(at, answer->result);
    put_u16(at, answer->sequence);
}

struct set_command unpack_set(const uint8_t body[SET_BYTES])
{
    return (struct set_command){
        .acc_range = body[0],
        .gyr_range = body[1],
        .low_pass = body[2],
        .mag_range = body[3],
        .mag_rate = body[4],
        .mag_averaging = body[5],
        .rate_hz = get_u16(body + 6),
    };
}
