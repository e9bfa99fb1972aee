/* Bodies of the module's frames and of the host's commands. Byte tables: docs/device-protocol.md. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

enum { HELLO_BYTES = 64, SAMPLE_BYTES = 26, STATUS_BYTES = 24, ANSWER_BYTES = 4, SET_BYTES = 8, LIGHT_BYTES = 2 };
enum { REASON_ASKED, REASON_RESET, REASON_CHANGED };
enum { RESULT_DONE, RESULT_UNKNOWN, RESULT_OUT_OF_RANGE, RESULT_CHIP_SILENT };
enum { FLAG_MAG_NEW = 1, FLAG_STOP = 2, FLAG_IMU_SILENT = 4, FLAG_MAG_WRONG = 8 };
enum { STATE_RUNNING = 1, STATE_IMU_ANSWERS = 2, STATE_MAG_ANSWERS = 4 };
enum { UNCHANGED = 0xFF };

struct hello {
    uint8_t reason, running;
    uint8_t firmware[3];
    uint8_t serial_number[12];
    uint32_t uptime_s;
    uint8_t imu_chip, imu_address, imu_identity;
    uint8_t mag_chip, mag_address, mag_identity[3];
    uint8_t acc_range, gyr_range, low_pass, rate_divider;
    uint8_t mag_range, mag_rate, mag_averaging;
    uint16_t rate_hz, greatest_rate_hz;
    uint32_t baud, tick_nm;
    uint16_t acc_per_g, gyr_per_10_dps, mag_per_gauss, temperature_per_c;
    int16_t temperature_zero_cc;
    int8_t mag_axes[3];
};

struct sample {
    int16_t acc[3];
    int16_t temperature;
    int16_t gyr[3];
    int16_t mag[3];
    uint8_t flags, inputs;
    int32_t ticks;
};

struct status {
    uint32_t uptime_s, samples, overruns, i2c_errors, bad_frames;
    uint8_t state, lights;
    uint16_t rate_hz;
};

struct answer {
    uint8_t command, result;
    uint16_t sequence;
};

/* Body of a set command; UNCHANGED, and rate 0, keep what is set. */
struct set_command {
    uint8_t acc_range, gyr_range, low_pass, mag_range, mag_rate, mag_averaging;
    uint16_t rate_hz;
};

void pack_hello(const struct hello *hello, uint8_t body[HELLO_BYTES]);
void pack_sample(const struct sample *sample, uint8_t body[SAMPLE_BYTES]);
void pack_status(const struct status *status, uint8_t body[STATUS_BYTES]);
void pack_answer(const struct answer *answer, uint8_t body[ANSWER_BYTES]);
struct set_command unpack_set(const uint8_t body[SET_BYTES]);

#endif
