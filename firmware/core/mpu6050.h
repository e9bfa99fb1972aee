/* Driver of the inertial chip MPU-6050 (register map RM-MPU-6000A-00). Chips sold as MPU-6050 answer the same registers. */
#ifndef MPU6050_H
#define MPU6050_H

#include "bus.h"
#include "settings.h"

struct mpu6050 {
    uint8_t address;  /* 0x68 or 0x69; 0: none found */
    uint8_t identity; /* WHO_AM_I as read */
};

struct imu_counts {
    int16_t acc[3];
    int16_t temperature;
    int16_t gyr[3];
};

/* Looks at both addresses. Any identity other than 0x00 and 0xFF is a chip; the host judges it. */
bool mpu6050_find(struct mpu6050 *chip, struct bus *bus);

/* Wakes the chip and writes every register that this driver depends on. */
bool mpu6050_configure(const struct mpu6050 *chip, struct bus *bus, const struct settings *settings);

/* Is the identity still there? */
bool mpu6050_answers(const struct mpu6050 *chip, struct bus *bus);

/* For a module without the data-ready wire. Reading clears the chip's flag. */
bool mpu6050_data_ready(const struct mpu6050 *chip, struct bus *bus, bool *ready);

bool mpu6050_read(const struct mpu6050 *chip, struct bus *bus, struct imu_counts *counts);

#endif
