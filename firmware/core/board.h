/* What the portable part needs from a board. The STM32F103 implements it in stm32f103/, the tests on the host. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum i2c_result { I2C_DONE, I2C_NO_ANSWER, I2C_TIMED_OUT, I2C_BUS_ERROR };

/* Inputs, 1: pressed, closed or active. */
enum {
    INPUT_START = 1 << 0,
    INPUT_STOP_BUTTON = 1 << 1,
    INPUT_STOP_LINE = 1 << 2,   /* from the vehicle's controller */
    INPUT_SWITCHES = 0xF0,      /* switches 1 to 4 in bits 4 to 7 */
};

/* Microseconds since reset; wraps. */
uint32_t board_micros(void);

/* Registers of an I2C chip. Each call ends within a few milliseconds; the board clears a blocked bus by itself. */
enum i2c_result board_i2c_read(uint8_t address, uint8_t reg, uint8_t *data, size_t count);
enum i2c_result board_i2c_write(uint8_t address, uint8_t reg, uint8_t value);

/* Data-ready signals of the inertial chip since the last call, and the instant of the latest. 0 if its wire is missing. */
uint32_t board_data_ready(uint32_t *stamp_us);

/* The serial line, buffered. A write is taken whole or refused. */
bool board_line_read(uint8_t *byte);
size_t board_line_free(void);
bool board_line_write(const uint8_t *data, size_t count);
uint32_t board_baud(void);

uint8_t board_inputs(void);
void board_lights(uint8_t on);
uint16_t board_encoder(void);
void board_serial_number(uint8_t out[12]);

#endif
