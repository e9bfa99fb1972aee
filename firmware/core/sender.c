#include "sender.h"

#include <string.h>

#include "board.h"
#include "config.h"
#include "sampling.h"

/* Space that samples leave for an answer, a hello and a status, which must not be lost on a full line. */
enum { RESERVED = ANSWER_BYTES + HELLO_BYTES + STATUS_BYTES + 3 * (FRAME_HEADER + FRAME_CRC + FRAME_ON_LINE - FRAME_LONGEST) };

static bool send(struct module *module, uint8_t kind, uint32_t time_us, const uint8_t *body, size_t bytes,
                 size_t reserved)
{
    uint8_t line[FRAME_ON_LINE];
    const struct frame frame = {kind, module->sequence[kind]++, time_us, body, bytes};
    size_t count = frame_on_line(&frame, line);
    return board_line_free() >= count + reserved && board_line_write(line, count);
}

void send_hello(struct module *module, uint8_t reason)
{
    const struct settings *settings = &module->settings;
    struct hello hello = {
        .reason = reason,
        .running = module->running,
        .firmware = FIRMWARE_VERSION,
        .uptime_s = module->uptime_s,
        .imu_chip = module->imu.address != 0,
        .imu_address = module->imu.address,
        .imu_identity = module->imu.identity,
        .mag_chip = (uint8_t)module->mag.chip,
        .mag_address = module->mag.address,
        .acc_range = settings->acc_range,
        .gyr_range = settings->gyr_range,
        .low_pass = settings->low_pass,
        .rate_divider = rate_divider(settings),
        .mag_range = settings->mag_range,
        .mag_rate = settings->mag_rate,
        .mag_averaging = settings->mag_averaging,
        .rate_hz = settings->rate_hz,
        .greatest_rate_hz = module->greatest_rate_hz,
        .baud = board_baud(),
        .tick_nm = ENCODER_TICK_NM,
        .acc_per_g = acc_per_g(settings->acc_range),
        .gyr_per_10_dps = gyr_per_10_dps(settings->gyr_range),
        .mag_per_gauss = mag_per_gauss(module->mag.chip, settings->mag_range),
        .temperature_per_c = 340,
        .temperature_zero_cc = 3653,
        .mag_axes = MAGNETOMETER_AXES,
    };
    memcpy(hello.mag_identity, module->mag.identity, sizeof hello.mag_identity);
    board_serial_number(hello.serial_number);
    uint8_t body[HELLO_BYTES];
    pack_hello(&hello, body);
    send(module, KIND_HELLO, board_micros(), body, sizeof body, 0);
}

void send_status(struct module *module)
{
    const struct status status = {
        .uptime_s = module->uptime_s,
        .samples = module->samples,
        .overruns = module->overruns,
        .i2c_errors = module->bus.errors,
        .bad_frames = module->receiver.bad,
        .state = (uint8_t)(module->running * STATE_RUNNING | module->imu_answers * STATE_IMU_ANSWERS
                           | magnetometer_is_read(module) * STATE_MAG_ANSWERS),
        .lights = module->lights,
        .rate_hz = module->settings.rate_hz,
    };
    uint8_t body[STATUS_BYTES];
    pack_status(&status, body);
    send(module, KIND_STATUS, board_micros(), body, sizeof body, 0);
}

void send_answer(struct module *module, const struct frame *command, uint8_t result)
{
    const struct answer answer = {command->kind, result, command->sequence};
    uint8_t body[ANSWER_BYTES];
    pack_answer(&answer, body);
    send(module, KIND_ANSWER, board_micros(), body, sizeof body, 0);
}

bool send_sample(struct module *module, uint32_t stamp_us)
{
    uint8_t body[SAMPLE_BYTES];
    pack_sample(&module->sample, body);
    return send(module, KIND_SAMPLE, stamp_us, body, sizeof body, RESERVED);
}
