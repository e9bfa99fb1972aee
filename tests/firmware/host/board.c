/* A board in the memory of the host: time, line and panel are variables, the I2C bus is two functions of the test. */
#include "board.h"
#include "host.h"
#include "ring.h"

enum { LINE_BYTES = 2048, BIT_US_TIMES_2 = 5 }; /* 400 kHz */

uint32_t host_us, host_baud = 921600, host_signals, host_signal_us;
uint8_t host_inputs, host_lights, host_serial[12];
uint16_t host_encoder;

static host_i2c_read bus_read_hook;
static host_i2c_write bus_write_hook;
static uint8_t to_host_bytes[LINE_BYTES], from_host_bytes[LINE_BYTES];
static struct ring to_host = {.bytes = to_host_bytes, .size = LINE_BYTES};
static struct ring from_host = {.bytes = from_host_bytes, .size = LINE_BYTES};

void host_bus(host_i2c_read read, host_i2c_write write)
{
    bus_read_hook = read;
    bus_write_hook = write;
}

size_t host_receive(uint8_t *data, size_t most)
{
    size_t count = 0;
    while (count < most && ring_get(&to_host, data + count)) {
        count++;
    }
    return count;
}

bool host_send(const uint8_t *data, size_t count)
{
    return ring_put_all(&from_host, data, count);
}

void host_signal(uint32_t stamp_us)
{
    host_signals++;
    host_signal_us = stamp_us;
}

uint32_t board_micros(void)
{
    return host_us;
}

/* start, address, register, repeated start, address, data, stop */
enum i2c_result board_i2c_read(uint8_t address, uint8_t reg, uint8_t *data, size_t count)
{
    host_us += (uint32_t)(3 + 9 * (3 + count)) * BIT_US_TIMES_2 / 2;
    return (enum i2c_result)bus_read_hook(address, reg, data, (uint32_t)count);
}

enum i2c_result board_i2c_write(uint8_t address, uint8_t reg, uint8_t value)
{
    host_us += (2 + 9 * 3) * BIT_US_TIMES_2 / 2;
    return (enum i2c_result)bus_write_hook(address, reg, value);
}

uint32_t board_data_ready(uint32_t *stamp_us)
{
    uint32_t count = host_signals;
    *stamp_us = host_signal_us;
    host_signals = 0;
    return count;
}

bool board_line_read(uint8_t *byte)
{
    return ring_get(&from_host, byte);
}

size_t board_line_free(void)
{
    return ring_free(&to_host);
}

bool board_line_write(const uint8_t *data, size_t count)
{
    return ring_put_all(&to_host, data, count);
}

uint32_t board_baud(void)
{
    return host_baud;
}

uint8_t board_inputs(void)
{
    return host_inputs;
}

void board_lights(uint8_t on)
{
    host_lights = on;
}

uint16_t board_encoder(void)
{
    return host_encoder;
}

void board_serial_number(uint8_t out[12])
{
    for (int i = 0; i < 12; i++) {
        out[i] = host_serial[i];
    }
}
