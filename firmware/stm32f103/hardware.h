/* The parts of the STM32F103 layer. main() starts them in this order. */
#ifndef HARDWARE_H
#define HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clocks after clock_start(). */
struct clocks {
    uint32_t core_hz; /* also of APB2: USART1 */
    uint32_t apb1_hz; /* I2C1 */
};

/* 72 MHz from the 8 MHz crystal; 64 MHz from the internal oscillator without it; 8 MHz if the PLL does not lock. */
struct clocks clock_start(void);
uint32_t clock_micros(void);

/* Has the limit passed since the start? For every wait. */
bool clock_expired(uint32_t start_us, uint32_t limit_us);

/* The divider of a baud rate: 16 is the least, the greatest error is 2.5 %. 0: this clock cannot make that rate. */
uint32_t baud_divider(uint32_t clock_hz, uint32_t baud);

/* Takes the wanted baud rate, or 115200 if the clock cannot make it. */
void serial_start(const struct clocks *clocks, uint32_t baud);

/* Waits until the chips have had time to start. */
void i2c_start(const struct clocks *clocks);

/* Frees a blocked bus and starts the peripheral again. False if a line stays low. */
bool i2c_recover(void);

void pins_start(void);
void watchdog_start(void);
void watchdog_feed(void);

/* Handlers, named in the vector table. */
void exti0_interrupt(void);
void usart1_interrupt(void);

/* A word that a chip may lack: false instead of a bus fault. */
bool probe_word(uint32_t address, uint32_t *value);

#endif
