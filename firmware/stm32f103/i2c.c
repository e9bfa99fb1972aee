/* I2C1 on PB6 (SCL) and PB7 (SDA), polled, with a time limit for each transfer.
 *
 * Receiving follows RM0008 26.3.3, with what the known faults of this peripheral need (ST lists them in its errata
 * sheets for the STM32F1):
 * - The last bytes are taken with the clock held low by BTF, so that an interrupt in between does no harm.
 * - Between STOP and the read that follows, interrupts are off: else a wrong byte can be read.
 * - A BUSY flag that stays set, and a misplaced stop: i2c_recover().
 */
#include "board.h"
#include "hardware.h"
#include "registers.h"

enum { TRANSFER_US = 2000 };    /* the longest, 17 bytes at 400 kHz, takes 0.4 ms */
enum { POWER_UP_US = 100000 };  /* an MPU-6050 needs so long after power-up before it answers (data sheet) */
enum { HALF_CLOCK_US = 5, CLOCKS_TO_FREE = 9 };
enum { BUS_HZ = 400000, RISE_NS = 300 };
enum { SCL = 6, SDA = 7 };
enum { FAILED = I2C_SR1_BERR | I2C_SR1_ARLO | I2C_SR1_AF };

static uint32_t apb1_hz;
static uint32_t deadline_start_us;

static void pins_to(uint32_t mode)
{
    reg_change(GPIOB + GPIO_CRL, 0xFFU << (4 * SCL), mode << (4 * SCL) | mode << (4 * SDA));
}

static bool line_is_high(uint32_t pin)
{
    return reg_get(GPIOB + GPIO_IDR) & BIT(pin);
}

/* Sets a line by hand, waits half a clock and looks whether it followed. */
static bool drive(uint32_t pin, bool high)
{
    reg_set(GPIOB + GPIO_BSRR, high ? BIT(pin) : BIT(pin + 16));
    uint32_t start_us = clock_micros();
    while (!clock_expired(start_us, HALF_CLOCK_US)) {
    }
    return line_is_high(pin) == high;
}

static void peripheral_start(void)
{
    uint32_t mhz = apb1_hz / 1000000;
    reg_set(I2C1_CR1, I2C_CR1_SWRST);
    reg_set(I2C1_CR1, 0);
    reg_set(I2C1_CR2, mhz);
    reg_set(I2C1_CCR, I2C_CCR_FAST | (apb1_hz + 3 * BUS_HZ - 1) / (3 * BUS_HZ)); /* low twice as long as high */
    reg_set(I2C1_TRISE, mhz * RISE_NS / 1000 + 1);
    reg_set(I2C1_CR1, I2C_CR1_PE);
}

bool i2c_recover(void)
{
    reg_set(I2C1_CR1, 0);
    reg_set(GPIOB + GPIO_BSRR, BIT(SCL) | BIT(SDA));
    pins_to(PIN_OPEN_DRAIN_10MHZ);
    bool free = drive(SCL, true);
    /* a chip that was cut off in mid-byte holds SDA until it has sent the rest */
    for (int i = 0; i < CLOCKS_TO_FREE && !line_is_high(SDA); i++) {
        drive(SCL, false);
        free = drive(SCL, true);
    }
    /* a start and a stop: ends the transfer, and moves both lines once as the erratum of the analog filter asks */
    free &= drive(SDA, false);
    free &= drive(SCL, false);
    free &= drive(SCL, true);
    free &= drive(SDA, true);
    pins_to(PIN_ALTERNATE_OPEN_DRAIN_10MHZ);
    peripheral_start();
    return free;
}

void i2c_start(const struct clocks *clocks)
{
    apb1_hz = clocks->apb1_hz;
    reg_change(RCC_APB1ENR, 0, RCC_APB1ENR_I2C1);
    while (!clock_expired(0, POWER_UP_US)) {
    }
    i2c_recover();
}

static bool in_time(void)
{
    return !clock_expired(deadline_start_us, TRANSFER_US);
}

/* Waits for a flag of SR1. */
static enum i2c_result wait_flag(uint32_t flag)
{
    for (;;) {
        uint32_t status = reg_get(I2C1_SR1);
        if (status & FAILED) {
            return status & I2C_SR1_AF ? I2C_NO_ANSWER : I2C_BUS_ERROR;
        }
        if (status & flag) {
            return I2C_DONE;
        }
        if (!in_time()) {
            return I2C_TIMED_OUT;
        }
    }
}

/* Start, or repeated start, and the address. The caller clears ADDR by reading SR2. */
static enum i2c_result address_chip(uint8_t address_and_direction)
{
    reg_change(I2C1_CR1, 0, I2C_CR1_START);
    enum i2c_result result = wait_flag(I2C_SR1_SB);
    if (result == I2C_DONE) {
        reg_set(I2C1_DR, address_and_direction);
        result = wait_flag(I2C_SR1_ADDR);
    }
    return result;
}

static enum i2c_result send_byte(uint8_t byte)
{
    reg_set(I2C1_DR, byte);
    return wait_flag(I2C_SR1_BTF);
}

/* The bus is free, and the stop of the last transfer is over. */
static enum i2c_result begin(uint8_t address, uint8_t reg)
{
    deadline_start_us = clock_micros();
    while ((reg_get(I2C1_CR1) & I2C_CR1_STOP) || (reg_get(I2C1_SR2) & I2C_SR2_BUSY)) {
        if (!in_time()) {
            return I2C_TIMED_OUT;
        }
    }
    reg_change(I2C1_CR1, I2C_CR1_POS, I2C_CR1_ACK);
    enum i2c_result result = address_chip((uint8_t)(address << 1));
    if (result == I2C_DONE) {
        reg_get(I2C1_SR2);
        result = send_byte(reg);
    }
    return result;
}

static enum i2c_result end(enum i2c_result result)
{
    if (result == I2C_NO_ANSWER) {
        reg_set(I2C1_SR1, ~(uint32_t)I2C_SR1_AF & 0xFFFF);
        reg_change(I2C1_CR1, 0, I2C_CR1_STOP);
    } else if (result != I2C_DONE) {
        i2c_recover();
    }
    return result;
}

static uint8_t stop_and_read(void)
{
    interrupts_off();
    reg_change(I2C1_CR1, 0, I2C_CR1_STOP);
    uint8_t byte = (uint8_t)reg_get(I2C1_DR);
    interrupts_on();
    return byte;
}

static enum i2c_result receive_one(uint8_t *data)
{
    reg_change(I2C1_CR1, I2C_CR1_ACK, 0);
    interrupts_off();
    reg_get(I2C1_SR2);
    reg_change(I2C1_CR1, 0, I2C_CR1_STOP);
    interrupts_on();
    enum i2c_result result = wait_flag(I2C_SR1_RXNE);
    if (result == I2C_DONE) {
        data[0] = (uint8_t)reg_get(I2C1_DR);
    }
    return result;
}

/* Both bytes wait in the peripheral (BTF), with the clock held low. */
static enum i2c_result receive_last_two(uint8_t *data)
{
    enum i2c_result result = wait_flag(I2C_SR1_BTF);
    if (result == I2C_DONE) {
        data[0] = stop_and_read();
        data[1] = (uint8_t)reg_get(I2C1_DR);
    }
    return result;
}

static enum i2c_result receive_two(uint8_t *data)
{
    reg_change(I2C1_CR1, 0, I2C_CR1_POS); /* the missing ACK belongs to the next byte */
    interrupts_off();
    reg_get(I2C1_SR2);
    reg_change(I2C1_CR1, I2C_CR1_ACK, 0);
    interrupts_on();
    return receive_last_two(data);
}

static enum i2c_result receive_many(uint8_t *data, size_t count)
{
    reg_get(I2C1_SR2);
    enum i2c_result result = I2C_DONE;
    for (; count > 3 && result == I2C_DONE; count--) {
        result = wait_flag(I2C_SR1_RXNE);
        if (result == I2C_DONE) {
            *data++ = (uint8_t)reg_get(I2C1_DR);
        }
    }
    if (result == I2C_DONE) {
        result = wait_flag(I2C_SR1_BTF);
    }
    if (result == I2C_DONE) {
        reg_change(I2C1_CR1, I2C_CR1_ACK, 0);
        *data++ = (uint8_t)reg_get(I2C1_DR);
        result = receive_last_two(data);
    }
    return result;
}

enum i2c_result board_i2c_read(uint8_t address, uint8_t reg, uint8_t *data, size_t count)
{
    enum i2c_result result = begin(address, reg);
    if (result == I2C_DONE) {
        result = address_chip((uint8_t)(address << 1 | 1));
    }
    if (result == I2C_DONE) {
        result = count == 1 ? receive_one(data) : count == 2 ? receive_two(data) : receive_many(data, count);
    }
    return end(result);
}

enum i2c_result board_i2c_write(uint8_t address, uint8_t reg, uint8_t value)
{
    enum i2c_result result = begin(address, reg);
    if (result == I2C_DONE) {
        result = send_byte(value);
    }
    if (result == I2C_DONE) {
        reg_change(I2C1_CR1, 0, I2C_CR1_STOP);
    }
    return end(result);
}
