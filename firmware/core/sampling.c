#include "sampling.h"

#include "board.h"
#include "control.h"
#include "sender.h"

enum {
    RETRY_US = 500000,
    FAILURES_IN_A_ROW = 3,   /* then a chip counts as silent */
    PERIODS_WITHOUT_SIGNAL = 4,
    START_UP_US = 50000,     /* the gyroscope needs 30 ms after sleep (data sheet) */
};

static uint32_t period_us(const struct module *module)
{
    return 1000000U / module->settings.rate_hz;
}

bool magnetometer_is_read(const struct module *module)
{
    return module->mag_answers && module->mag.chip != MAG_QMC5883P;
}

static bool find_imu(struct module *module)
{
    struct mpu6050 found;
    if (!mpu6050_find(&found, &module->bus) || !mpu6050_configure(&found, &module->bus, &module->settings)) {
        return false;
    }
    bool news = found.address != module->imu.address || found.identity != module->imu.identity;
    module->imu = found;
    module->imu_answers = true;
    module->imu_failures = 0;
    module->polling = true;
    module->data_us = board_micros();
    return news;
}

static bool find_magnetometer(struct module *module)
{
    enum mag_chip chip = module->mag.chip;
    if (!magnetometer_find(&module->mag, &module->bus)) {
        return false;
    }
    if (module->mag.chip != chip) {
        settings_for_magnetometer(&module->settings, module->mag.chip);
    }
    module->mag_answers = magnetometer_configure(&module->mag, &module->bus, &module->settings);
    module->mag_failures = 0;
    return module->mag.chip != chip;
}

/* True if a chip is new to the host. */
static bool find_missing(struct module *module)
{
    bool news = false;
    if (!module->imu_answers) {
        news |= find_imu(module);
    }
    if (!module->mag_answers) {
        news |= find_magnetometer(module);
    }
    return news;
}

void find_chips(struct module *module)
{
    find_missing(module);
}

void look_for_silent_chips(struct module *module)
{
    uint32_t now_us = board_micros();
    if (now_us - module->retry_us < RETRY_US) {
        return;
    }
    module->retry_us = now_us;
    if (find_missing(module)) {
        send_hello(module, REASON_CHANGED);
    }
}

bool configure_chips(struct module *module)
{
    bool imu = module->imu_answers && mpu6050_configure(&module->imu, &module->bus, &module->settings);
    bool mag = !module->mag_answers || magnetometer_configure(&module->mag, &module->bus, &module->settings);
    module->imu_answers = imu;
    module->mag_answers = module->mag_answers && mag;
    module->data_us = board_micros();
    return imu && mag;
}

void check_idle_chips(struct module *module)
{
    if (module->running) {
        return;
    }
    module->imu_answers = module->imu_answers && mpu6050_answers(&module->imu, &module->bus);
    module->mag_answers = module->mag_answers && magnetometer_answers(&module->mag, &module->bus);
}

void start_sampling(struct module *module)
{
    if (module->running) {
        return;
    }
    uint32_t stamp_us;
    bool ready; /* forget the signals from before, on the wire and in the chip */
    board_data_ready(&stamp_us);
    if (module->imu_answers) {
        mpu6050_data_ready(&module->imu, &module->bus, &ready);
    }
    module->running = true;
    module->sample_us = module->data_us = board_micros();
}

static void read_imu(struct module *module)
{
    struct imu_counts counts;
    struct sample *sample = &module->sample;
    if (!module->imu_answers || !mpu6050_read(&module->imu, &module->bus, &counts)) {
        sample->flags |= FLAG_IMU_SILENT;
        module->imu_answers = module->imu_answers && ++module->imu_failures < FAILURES_IN_A_ROW;
        return;
    }
    module->imu_failures = 0;
    for (int i = 0; i < 3; i++) {
        sample->acc[i] = counts.acc[i];
        sample->gyr[i] = counts.gyr[i];
    }
    sample->temperature = counts.temperature;
}

static void read_magnetometer(struct module *module)
{
    struct sample *sample = &module->sample;
    if (!magnetometer_is_read(module)) {
        /* one that was never there, or is not read, gives no readings that could be wrong */
        module->mag_wrong = module->mag.chip == MAG_QMC5883L || module->mag.chip == MAG_HMC5883L;
    } else {
        enum mag_reading reading =
            magnetometer_read(&module->mag, &module->bus, &module->settings, board_micros(), sample->mag);
        if (reading == MAG_FAILED) {
            module->mag_wrong = true;
            module->mag_answers = ++module->mag_failures < FAILURES_IN_A_ROW;
        } else if (reading != MAG_OLD) {
            module->mag_failures = 0;
            module->mag_wrong = reading == MAG_BEYOND_RANGE;
            sample->flags |= FLAG_MAG_NEW;
        }
    }
    sample->flags |= module->mag_wrong ? FLAG_MAG_WRONG : 0;
}

/* One sample with this time stamp, after so many that were missed. */
static void take_sample(struct module *module, uint32_t stamp_us, uint32_t missed)
{
    struct sample *sample = &module->sample;
    uint16_t encoder = board_encoder();
    sample->ticks = (int32_t)((uint32_t)sample->ticks + (uint32_t)(int16_t)(encoder - module->encoder));
    module->encoder = encoder;
    sample->flags = stop_signal(module) ? FLAG_STOP : 0;
    sample->inputs = module->inputs.level & (INPUT_START | INPUT_STOP_BUTTON | INPUT_SWITCHES);
    read_imu(module);
    read_magnetometer(module);
    module->sample_us = stamp_us;
    module->samples++;
    module->overruns += missed;
    module->sequence[KIND_SAMPLE] = (uint16_t)(module->sequence[KIND_SAMPLE] + missed);
    module->overruns += !send_sample(module, stamp_us);
}

/* Periods that passed without a sample, if one is taken at this instant. */
static uint32_t missed_until(const struct module *module, uint32_t stamp_us)
{
    uint32_t periods = (stamp_us - module->sample_us + period_us(module) / 2) / period_us(module);
    return periods > 1 ? periods - 1 : 0;
}

/* The chip has no data-ready wire, or no signal came through it. */
static void ask_for_data(struct module *module, uint32_t now_us)
{
    bool ready;
    if (!mpu6050_data_ready(&module->imu, &module->bus, &ready)) {
        take_sample(module, now_us, missed_until(module, now_us));
        return;
    }
    if (!ready) {
        return;
    }
    uint32_t stamp_us;
    if (board_data_ready(&stamp_us) > 0) { /* a signal of this very sample: there is a wire */
        module->polling = false;
    } else {
        stamp_us = now_us;
    }
    module->data_us = stamp_us;
    take_sample(module, stamp_us, missed_until(module, stamp_us));
}

void take_samples(struct module *module)
{
    uint32_t stamp_us, signals = board_data_ready(&stamp_us);
    uint32_t now_us = board_micros(), period = period_us(module);
    if (signals > 0) {
        module->polling = false;
    }
    if (!module->running) {
        return;
    }
    if (!module->imu_answers) {
        /* the module's own clock gives the pace, and each sample carries FLAG_IMU_SILENT */
        if (now_us - module->sample_us >= period) {
            uint32_t missed = missed_until(module, now_us);
            take_sample(module, module->sample_us + (missed + 1) * period, missed);
        }
    } else if (signals > 0) {
        module->data_us = stamp_us;
        take_sample(module, stamp_us, signals - 1);
    } else if (now_us - module->data_us >= PERIODS_WITHOUT_SIGNAL * period + START_UP_US) {
        module->imu_answers = false; /* asleep after a power failure, or stuck: find_imu() wakes it */
    } else if (module->polling && now_us - module->sample_us >= period - period / 4) {
        ask_for_data(module, now_us);
    } else if (now_us - module->sample_us >= PERIODS_WITHOUT_SIGNAL * period) {
        module->polling = true;
    }
}
