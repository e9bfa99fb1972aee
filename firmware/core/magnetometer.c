#include "magnetometer.h"

#include <string.h>

#include "bytes.h"

/* QMC5883L, data sheet 1.0 */
enum { QMC_DATA = 0x00, QMC_STATUS = 0x06, QMC_CONTROL_1 = 0x09, QMC_CONTROL_2 = 0x0A, QMC_SET_RESET = 0x0B };
enum { QMC_DRDY = 0x01, QMC_OVL = 0x02, QMC_CONTINUOUS = 0x01, QMC_PIN_OFF = 0x01, QMC_SET_RESET_RECOMMENDED = 0x01 };
/* HMC5883L, data sheet of February 2013 */
enum { HMC_CONFIG_A = 0x00, HMC_CONFIG_B = 0x01, HMC_MODE = 0x02, HMC_DATA = 0x03, HMC_STATUS = 0x09 };
enum { HMC_RDY = 0x01, HMC_CONTINUOUS = 0x00, HMC_OVERFLOW = -4096 };

struct place {
    enum mag_chip chip;
    uint8_t address, identity_reg, identity_count;
};

static const struct place PLACES[] = {
    {MAG_QMC5883L, 0x0D, 0x0D, 1},
    {MAG_HMC5883L, 0x1E, 0x0A, 3},
    {MAG_QMC5883P, 0x2C, 0x00, 1},
};

static const uint32_t HMC_PERIOD_US[] = {1333333, 666667, 333333, 133333, 66667, 33333, 13333};

bool magnetometer_find(struct magnetometer *mag, struct bus *bus)
{
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        const struct place *place = &PLACES[i];
        uint8_t identity[3] = {0};
        if (bus_read(bus, place->address, place->identity_reg, identity, place->identity_count)) {
            mag->chip = place->chip;
            mag->address = place->address;
            memcpy(mag->identity, identity, sizeof identity);
            return true;
        }
    }
    return false;
}

bool magnetometer_configure(const struct magnetometer *mag, struct bus *bus, const struct settings *settings)
{
    if (mag->chip == MAG_QMC5883L) {
        uint8_t control = (uint8_t)(settings->mag_averaging << 6 | settings->mag_range << 4 | settings->mag_rate << 2
                                    | QMC_CONTINUOUS);
        const struct register_value values[] = {
            {QMC_SET_RESET, QMC_SET_RESET_RECOMMENDED},
            {QMC_CONTROL_2, QMC_PIN_OFF},
            {QMC_CONTROL_1, control},
        };
        return bus_write_all(bus, mag->address, values, sizeof values / sizeof values[0]);
    }
    if (mag->chip == MAG_HMC5883L) {
        const struct register_value values[] = {
            {HMC_CONFIG_A, (uint8_t)(settings->mag_averaging << 5 | settings->mag_rate << 2)},
            {HMC_CONFIG_B, (uint8_t)(settings->mag_range << 5)},
            {HMC_MODE, HMC_CONTINUOUS},
        };
        return bus_write_all(bus, mag->address, values, sizeof values / sizeof values[0]);
    }
    return mag->chip == MAG_QMC5883P;
}

bool magnetometer_answers(const struct magnetometer *mag, struct bus *bus)
{
    uint8_t identity[3] = {0};
    const struct place *place = &PLACES[mag->chip - MAG_QMC5883L];
    return bus_read(bus, mag->address, place->identity_reg, identity, place->identity_count)
           && memcmp(identity, mag->identity, sizeof identity) == 0;
}

static enum mag_reading read_qmc(struct magnetometer *mag, struct bus *bus, int16_t counts[3])
{
    uint8_t status, data[6];
    /* the status comes first: reading the data clears DRDY */
    if (!bus_read(bus, mag->address, QMC_STATUS, &status, 1)) {
        return MAG_FAILED;
    }
    if (!(status & QMC_DRDY)) {
        return MAG_OLD;
    }
    if (!bus_read(bus, mag->address, QMC_DATA, data, sizeof data)) {
        return MAG_FAILED;
    }
    for (int i = 0; i < 3; i++) {
        counts[i] = get_i16(data + 2 * i);
    }
    return status & QMC_OVL ? MAG_BEYOND_RANGE : MAG_NEW;
}

static enum mag_reading read_hmc(struct magnetometer *mag, struct bus *bus, int16_t counts[3])
{
    uint8_t status, data[6];
    if (!bus_read(bus, mag->address, HMC_STATUS, &status, 1)) {
        return MAG_FAILED;
    }
    if (!(status & HMC_RDY)) {
        return MAG_OLD;
    }
    if (!bus_read(bus, mag->address, HMC_DATA, data, sizeof data)) {
        return MAG_FAILED;
    }
    counts[0] = get_i16_big_endian(data);
    counts[2] = get_i16_big_endian(data + 2); /* the registers are in the order x, z, y */
    counts[1] = get_i16_big_endian(data + 4);
    bool beyond = counts[0] == HMC_OVERFLOW || counts[1] == HMC_OVERFLOW || counts[2] == HMC_OVERFLOW;
    return beyond ? MAG_BEYOND_RANGE : MAG_NEW;
}

enum mag_reading magnetometer_read(struct magnetometer *mag, struct bus *bus, const struct settings *settings,
                                   uint32_t now_us, int16_t counts[3])
{
    if (mag->chip == MAG_QMC5883L) {
        return read_qmc(mag, bus, counts);
    }
    /* RDY of an HMC5883L stays set after a read. Its nominal period decides when a reading is new. */
    uint32_t period_us = HMC_PERIOD_US[settings->mag_rate];
    if (now_us - mag->read_us < period_us) {
        return MAG_OLD;
    }
    enum mag_reading reading = read_hmc(mag, bus, counts);
    if (reading == MAG_NEW || reading == MAG_BEYOND_RANGE) {
        bool late = now_us - mag->read_us >= 2 * period_us;
        mag->read_us = late ? now_us : mag->read_us + period_us;
    }
    return reading;
}
