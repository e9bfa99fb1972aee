/* Driver of the magnetometer on a GY-273 board: QMC5883L, or HMC5883L. A QMC5883P is recognised and not read. */
#ifndef MAGNETOMETER_H
#define MAGNETOMETER_H

#include "bus.h"
#include "settings.h"

struct magnetometer {
    enum mag_chip chip;
    uint8_t address;     /* 0: none found */
    uint8_t identity[3]; /* identity registers as read */
    uint32_t read_us;    /* when it was last read */
};

enum mag_reading { MAG_FAILED, MAG_OLD, MAG_NEW, MAG_BEYOND_RANGE };

/* Looks at 0x0D, 0x1E and 0x2C in this order. */
bool magnetometer_find(struct magnetometer *mag, struct bus *bus);
bool magnetometer_configure(const struct magnetometer *mag, struct bus *bus, const struct settings *settings);
bool magnetometer_answers(const struct magnetometer *mag, struct bus *bus);

/* A new reading changes `counts` (x, y, z of the chip), also one beyond the range. */
enum mag_reading magnetometer_read(struct magnetometer *mag, struct bus *bus, const struct settings *settings,
                                   uint32_t now_us, int16_t counts[3]);

#endif
