/* USART1 on PA9 and PA10 with a ring in each direction. */
#include "board.h"
#include "hardware.h"
#include "registers.h"
#include "ring.h"

enum { SEND_BYTES = 2048, RECEIVE_BYTES = 256, FALLBACK_BAUD = 115200, LEAST_DIVIDER = 16, GREATEST_DIVIDER = 0xFFFF };
enum { USART1_IRQ = 37 };

static uint8_t send_bytes[SEND_BYTES], receive_bytes[RECEIVE_BYTES];
static struct ring sending = {.bytes = send_bytes, .size = SEND_BYTES};
static struct ring receiving = {.bytes = receive_bytes, .size = RECEIVE_BYTES};
static uint32_t line_baud;

uint32_t baud_divider(uint32_t clock_hz, uint32_t baud)
{
    if (baud == 0) {
        return 0;
    }
    uint32_t divider = (clock_hz + baud / 2) / baud;
    if (divider < LEAST_DIVIDER || divider > GREATEST_DIVIDER) {
        return 0;
    }
    uint32_t real = clock_hz / divider;
    uint32_t error = real > baud ? real - baud : baud - real;
    return error > baud / 40 ? 0 : divider;
}

void serial_start(const struct clocks *clocks, uint32_t baud)
{
    line_baud = baud;
    if (baud_divider(clocks->core_hz, baud) == 0) {
        line_baud = FALLBACK_BAUD;
    }
    reg_change(RCC_APB2ENR, 0, RCC_APB2ENR_USART1);
    reg_set(USART1_BRR, baud_divider(clocks->core_hz, line_baud));
    reg_set(USART1_CR1, USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE);
    reg_set(NVIC_ISER1, BIT(USART1_IRQ - 32));
}

/* Gives the transmitter one byte if it can take one. Called with interrupts off. */
static void feed_transmitter(void)
{
    uint8_t byte;
    if (!(reg_get(USART1_SR) & USART_SR_TXE)) {
        return;
    }
    if (ring_get(&sending, &byte)) {
        reg_set(USART1_DR, byte);
    } else {
        reg_change(USART1_CR1, USART_CR1_TXEIE, 0);
    }
}

void usart1_interrupt(void)
{
    if (reg_get(USART1_SR) & USART_SR_RXNE) {
        /* A full ring, and an overrun of the receiver, lose bytes: the frame's CRC shows it and the host repeats. */
        ring_put(&receiving, (uint8_t)reg_get(USART1_DR));
    }
    feed_transmitter();
}

bool board_line_read(uint8_t *byte)
{
    /* The interrupt does the work. This call serves a line whose interrupts are lost (and an emulator without them). */
    interrupts_off();
    feed_transmitter();
    interrupts_on();
    return ring_get(&receiving, byte);
}

size_t board_line_free(void)
{
    return ring_free(&sending);
}

bool board_line_write(const uint8_t *data, size_t count)
{
    bool taken = ring_put_all(&sending, data, count);
    interrupts_off();
    reg_change(USART1_CR1, 0, USART_CR1_TXEIE);
    interrupts_on();
    return taken;
}

uint32_t board_baud(void)
{
    return line_baud;
}
