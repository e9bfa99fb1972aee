#include "bus.h"

#include "board.h"

bool bus_read(struct bus *bus, uint8_t address, uint8_t reg, uint8_t *data, size_t count)
{
    bool done = board_i2c_read(address, reg, data, count) == I2C_DONE;
    bus->errors += !done;
    return done;
}

bool bus_write_all(struct bus *bus, uint8_t address, const struct register_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (board_i2c_write(address, values[i].reg, values[i].value) != I2C_DONE) {
            bus->errors++;
            return false;
        }
    }
    return true;
}
