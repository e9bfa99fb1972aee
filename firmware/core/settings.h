/* Ranges, filters and rates that a host may set; codes as in the registers of the chips. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "messages.h"

enum mag_chip { MAG_NONE, MAG_QMC5883L, MAG_HMC5883L, MAG_QMC5883P };

struct settings {
    uint8_t acc_range, gyr_range, low_pass;
    uint8_t mag_range, mag_rate, mag_averaging;
    uint16_t rate_hz;
};

/* The largest divisor of 1000 Hz whose samples take at most nine tenths of the line. Baud 0: no limit by the line. */
uint16_t greatest_rate(uint32_t baud);

/* The settings after reset. */
struct settings settings_after_reset(uint16_t greatest_rate_hz);
void settings_for_magnetometer(struct settings *settings, enum mag_chip chip);

/* Applies a set command. False, and nothing changes, if one value is out of range. */
bool settings_change(struct settings *settings, const struct set_command *command, enum mag_chip chip,
                     uint16_t greatest_rate_hz);

/* SMPLRT_DIV of the inertial chip. */
uint8_t rate_divider(const struct settings *settings);

/* Counts for 1 g, 10 deg/s and 1 gauss. */
uint16_t acc_per_g(uint8_t range);
uint16_t gyr_per_10_dps(uint8_t range);
uint16_t mag_per_gauss(enum mag_chip chip, uint8_t range);

#endif
