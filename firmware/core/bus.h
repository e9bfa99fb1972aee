/* The I2C bus as the drivers of the chips see it: every transfer that fails is counted. */
#ifndef BUS_H
#define BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus {
    uint32_t errors; /* transfers without an answer or beyond their time limit */
};

bool bus_read(struct bus *bus, uint8_t address, uint8_t reg, uint8_t *data, size_t count);

struct register_value {
    uint8_t reg, value;
};

/* Writes in order; stops at the first that fails. */
bool bus_write_all(struct bus *bus, uint8_t address, const struct register_value *values, size_t count);

#endif
