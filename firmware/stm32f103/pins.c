/* Buttons, switches, lights, data-ready signal, encoder. The pin map is in docs/firmware.md. */
#include "board.h"
#include "config.h"
#include "hardware.h"
#include "lights.h"
#include "registers.h"

enum { EXTI0_IRQ = 6, DATA_READY_PIN = 0 };

struct pin {
    uint32_t port, number;
};

/* In the order of the bits of board_inputs(). All close to ground: low is pressed. */
static const struct {
    struct pin pin;
    uint8_t input;
} INPUTS[] = {
    {{GPIOB, 12}, INPUT_START},
    {{GPIOB, 13}, INPUT_STOP_BUTTON},
    {{GPIOB, 14}, INPUT_STOP_LINE},
    {{GPIOB, 8}, 1 << 4},
    {{GPIOB, 9}, 1 << 5},
    {{GPIOB, 10}, 1 << 6},
    {{GPIOB, 11}, 1 << 7},
};
enum { INPUT_COUNT = sizeof INPUTS / sizeof INPUTS[0] };

/* The light on the Blue Pill itself is on when its pin is low, the others when it is high. */
static const struct {
    struct pin pin;
    bool on_when_low;
} LIGHT_PINS[LIGHTS] = {
    [LIGHT_HEARTBEAT] = {{GPIOC, 13}, true},
    [LIGHT_RUNNING] = {{GPIOA, 1}, false},
    [LIGHT_STOP] = {{GPIOA, 2}, false},
    [LIGHT_FAULT] = {{GPIOA, 3}, false},
    [LIGHT_HOST] = {{GPIOA, 4}, false},
};

static const struct pin USART_TX = {GPIOA, 9}, USART_RX = {GPIOA, 10};
static const struct pin ENCODER_A = {GPIOA, 6}, ENCODER_B = {GPIOA, 7};
static const struct pin DATA_READY = {GPIOB, DATA_READY_PIN};

static volatile uint32_t signals, signal_us;

static void set_level(struct pin pin, bool high)
{
    reg_set(pin.port + GPIO_BSRR, BIT(high ? pin.number : pin.number + 16));
}

static void set_mode(struct pin pin, uint32_t mode)
{
    uint32_t control = pin.port + (pin.number < 8 ? GPIO_CRL : GPIO_CRH);
    uint32_t shift = 4 * (pin.number % 8);
    reg_change(control, 0xFU << shift, mode << shift);
}

static void set_input(struct pin pin, bool pulled_up)
{
    set_level(pin, pulled_up);
    set_mode(pin, PIN_INPUT_PULLED);
}

static void encoder_start(void)
{
    set_input(ENCODER_A, true);
    set_input(ENCODER_B, true);
    reg_change(RCC_APB1ENR, 0, RCC_APB1ENR_TIM3);
    reg_set(TIM3_ARR, 0xFFFF);
    reg_set(TIM3_CCMR1, 0xF1F1); /* both channels are inputs with the longest filter */
    reg_set(TIM3_SMCR, 3);       /* counts every edge of both channels */
    reg_set(TIM3_CR1, 1);
}

void pins_start(void)
{
    reg_change(RCC_APB2ENR, 0, RCC_APB2ENR_AFIO | RCC_APB2ENR_GPIOA | RCC_APB2ENR_GPIOB | RCC_APB2ENR_GPIOC);
    for (unsigned i = 0; i < INPUT_COUNT; i++) {
        set_input(INPUTS[i].pin, true);
    }
    for (unsigned i = 0; i < LIGHTS; i++) {
        set_level(LIGHT_PINS[i].pin, LIGHT_PINS[i].on_when_low);
        set_mode(LIGHT_PINS[i].pin, PIN_OUTPUT_2MHZ);
    }
    set_mode(USART_TX, PIN_ALTERNATE_10MHZ);
    set_input(USART_RX, true);
    /* pulled down: without the wire the pin is quiet and the chip is asked over I2C */
    set_input(DATA_READY, false);
    reg_change(AFIO_EXTICR1, 0xF, AFIO_EXTI0_PORT_B);
    reg_change(EXTI_RTSR, 0, BIT(DATA_READY_PIN));
    reg_change(EXTI_IMR, 0, BIT(DATA_READY_PIN));
    reg_set(NVIC_ISER0, BIT(EXTI0_IRQ));
    if (ENCODER_TICK_NM != 0) {
        encoder_start();
    }
}

void exti0_interrupt(void)
{
    signal_us = clock_micros();
    signals = signals + 1;
    reg_set(EXTI_PR, BIT(DATA_READY_PIN));
}

uint32_t board_data_ready(uint32_t *stamp_us)
{
    interrupts_off();
    uint32_t count = signals;
    *stamp_us = signal_us;
    signals = 0;
    interrupts_on();
    return count;
}

uint8_t board_inputs(void)
{
    uint8_t active = 0;
    for (unsigned i = 0; i < INPUT_COUNT; i++) {
        bool high = reg_get(INPUTS[i].pin.port + GPIO_IDR) & BIT(INPUTS[i].pin.number);
        active |= high ? 0 : INPUTS[i].input;
    }
    return active;
}

void board_lights(uint8_t on)
{
    for (unsigned i = 0; i < LIGHTS; i++) {
        set_level(LIGHT_PINS[i].pin, ((on >> i) & 1) != LIGHT_PINS[i].on_when_low);
    }
}

uint16_t board_encoder(void)
{
    return ENCODER_TICK_NM != 0 ? (uint16_t)reg_get(TIM3_CNT) : 0;
}

void board_serial_number(uint8_t out[12])
{
    for (unsigned i = 0; i < 12; i += 4) {
        uint32_t word;
        if (!probe_word(DEVICE_IDENTITY + i, &word)) {
            word = 0;
        }
        for (unsigned k = 0; k < 4; k++) {
            out[i + k] = (uint8_t)(word >> (8 * k));
        }
    }
}
