/* The measuring module: reads the chips, answers the host, serves buttons and lights. Free of hardware (see board.h). */
#ifndef MODULE_H
#define MODULE_H

#include "debounce.h"
#include "frame.h"
#include "lights.h"
#include "magnetometer.h"
#include "messages.h"
#include "mpu6050.h"

struct module {
    struct settings settings;
    uint16_t greatest_rate_hz;
    struct bus bus;

    struct mpu6050 imu;
    bool imu_answers;
    uint8_t imu_failures;      /* in a row */
    struct magnetometer mag;
    bool mag_answers;
    bool mag_wrong;            /* beyond its range, or did not answer */
    uint8_t mag_failures;
    uint32_t retry_us;         /* when chips that do not answer were last looked for */

    bool running;
    bool polling;              /* the data-ready wire gives no signals: ask the chip over I2C */
    uint32_t sample_us;        /* time stamp of the last sample */
    uint32_t data_us;          /* when the inertial chip last had new data */
    struct sample sample;      /* the last one: counts repeat when a chip does not answer */
    uint16_t encoder;          /* last count of the 16-bit counter */
    uint32_t samples, overruns;

    struct debounce inputs;
    uint8_t host_pattern;      /* of the host's light */
    uint8_t lights;
    uint8_t loss_seconds;      /* the fault light blinks for so many more seconds */

    struct frame_receiver receiver;
    uint16_t sequence[KIND_ANSWER + 1];
    uint32_t second_us;        /* start of the current second */
    uint32_t uptime_s;
};

/* Finds and configures the chips, and sends the first hello. */
void module_start(struct module *module);

/* One turn of the main loop. Ends within some milliseconds, also with a dead bus. */
void module_step(struct module *module);

#endif
