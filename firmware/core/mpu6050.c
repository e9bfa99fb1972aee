#include "mpu6050.h"

#include "bytes.h"

enum {
    SMPLRT_DIV = 0x19,
    CONFIG = 0x1A,
    GYRO_CONFIG = 0x1B,
    ACCEL_CONFIG = 0x1C,
    FIFO_EN = 0x23,
    INT_PIN_CFG = 0x37,
    INT_ENABLE = 0x38,
    INT_STATUS = 0x3A,
    ACCEL_XOUT_H = 0x3B,
    USER_CTRL = 0x6A,
    PWR_MGMT_1 = 0x6B,
    PWR_MGMT_2 = 0x6C,
    WHO_AM_I = 0x75,
};
enum { DATA_RDY = 0x01, CLKSEL_PLL_X_GYRO = 0x01, DATA_BYTES = 14 };
enum { ALL_AXES_ON = 0x00, NO_FIFO = 0x00, SIGNAL_HIGH_PULSE = 0x00 };

static const uint8_t ADDRESSES[] = {0x68, 0x69};

bool mpu6050_find(struct mpu6050 *chip, struct bus *bus)
{
    for (size_t i = 0; i < sizeof ADDRESSES; i++) {
        uint8_t identity;
        if (bus_read(bus, ADDRESSES[i], WHO_AM_I, &identity, 1) && identity != 0x00 && identity != 0xFF) {
            *chip = (struct mpu6050){ADDRESSES[i], identity};
            return true;
        }
    }
    return false;
}

bool mpu6050_configure(const struct mpu6050 *chip, struct bus *bus, const struct settings *settings)
{
    /* No device reset: it would need 100 ms of silence. All that matters is written instead. */
    const struct register_value values[] = {
        {PWR_MGMT_1, CLKSEL_PLL_X_GYRO}, /* wakes it, and takes the gyroscope's clock, which the manual recommends */
        {PWR_MGMT_2, ALL_AXES_ON},
        {USER_CTRL, NO_FIFO},
        {FIFO_EN, NO_FIFO},
        {CONFIG, settings->low_pass},
        {GYRO_CONFIG, (uint8_t)(settings->gyr_range << 3)},
        {ACCEL_CONFIG, (uint8_t)(settings->acc_range << 3)},
        {SMPLRT_DIV, rate_divider(settings)},
        {INT_PIN_CFG, SIGNAL_HIGH_PULSE}, /* 50 us for each sample, read or not, so that missed ones can be counted */
        {INT_ENABLE, DATA_RDY},
    };
    return bus_write_all(bus, chip->address, values, sizeof values / sizeof values[0]);
}

bool mpu6050_answers(const struct mpu6050 *chip, struct bus *bus)
{
    uint8_t identity;
    return bus_read(bus, chip->address, WHO_AM_I, &identity, 1) && identity == chip->identity;
}

bool mpu6050_data_ready(const struct mpu6050 *chip, struct bus *bus, bool *ready)
{
    uint8_t status = 0;
    bool done = bus_read(bus, chip->address, INT_STATUS, &status, 1);
    *ready = done && (status & DATA_RDY);
    return done;
}

bool mpu6050_read(const struct mpu6050 *chip, struct bus *bus, struct imu_counts *counts)
{
    uint8_t data[DATA_BYTES];
    if (!bus_read(bus, chip->address, ACCEL_XOUT_H, data, sizeof data)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        counts->acc[i] = get_i16_big_endian(data + 2 * i);
        counts->gyr[i] = get_i16_big_endian(data + 8 + 2 * i);
    }
    counts->temperature = get_i16_big_endian(data + 6);
    return true;
}
