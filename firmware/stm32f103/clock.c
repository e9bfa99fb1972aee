/* Clock tree, and time in microseconds from the 24-bit SysTick counter. */
#include "board.h"
#include "hardware.h"
#include "registers.h"

enum { HSI_HZ = 8000000, HSE_HZ = 8000000 };
enum { CRYSTAL_START_US = 100000, PLL_LOCK_US = 2000, SWITCH_US = 1000 }; /* data sheet: 2 ms typical, 200 us at most */
enum { COUNTER = 0xFFFFFF };

static uint32_t cycles_per_us = HSI_HZ / 1000000;
static uint32_t last_count, spare_cycles, micros;

static void counter_start(void)
{
    reg_set(SYST_RVR, COUNTER);
    reg_set(SYST_CVR, 0);
    reg_set(SYST_CSR, 5); /* on, core clock, no interrupt */
    last_count = reg_get(SYST_CVR) & COUNTER;
}

/* The counter runs down and wraps after 0.23 s at 72 MHz; the main loop asks far more often. */
uint32_t clock_micros(void)
{
    interrupts_off();
    uint32_t count = reg_get(SYST_CVR) & COUNTER;
    spare_cycles += (last_count - count) & COUNTER;
    last_count = count;
    uint32_t whole = spare_cycles / cycles_per_us;
    spare_cycles -= whole * cycles_per_us;
    micros += whole;
    uint32_t now_us = micros;
    interrupts_on();
    return now_us;
}

bool clock_expired(uint32_t start_us, uint32_t limit_us)
{
    return clock_micros() - start_us >= limit_us;
}

uint32_t board_micros(void)
{
    return clock_micros();
}

static bool wait_for(uint32_t address, uint32_t mask, uint32_t value, uint32_t limit_us)
{
    uint32_t start_us = clock_micros();
    while ((reg_get(address) & mask) != value) {
        if (clock_expired(start_us, limit_us)) {
            return false;
        }
    }
    return true;
}

/* The PLL gives the core clock; APB1 runs at half of it (36 MHz at most). */
static bool switch_to_pll(uint32_t source, uint32_t times, uint32_t hz)
{
    reg_set(RCC_CFGR, source | RCC_CFGR_PLLMUL(times) | RCC_CFGR_PPRE1_HALF);
    reg_change(RCC_CR, 0, RCC_CR_PLLON);
    if (!wait_for(RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY, PLL_LOCK_US)) {
        reg_change(RCC_CR, RCC_CR_PLLON, 0);
        return false;
    }
    reg_set(FLASH_ACR, FLASH_ACR_TWO_WAITS_PREFETCH);
    reg_change(RCC_CFGR, 0, RCC_CFGR_SW_PLL);
    if (!wait_for(RCC_CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS_PLL, SWITCH_US)) {
        return false;
    }
    clock_micros(); /* what has passed was at the old rate */
    cycles_per_us = hz / 1000000;
    return true;
}

struct clocks clock_start(void)
{
    counter_start();
    reg_change(RCC_CR, 0, RCC_CR_HSEON);
    if (wait_for(RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY, CRYSTAL_START_US)
        && switch_to_pll(RCC_CFGR_PLLSRC_HSE, 9, 9 * HSE_HZ)) {
        return (struct clocks){9 * HSE_HZ, 9 * HSE_HZ / 2};
    }
    reg_change(RCC_CR, RCC_CR_HSEON, 0);
    if (switch_to_pll(0, 16, 16 * (HSI_HZ / 2))) { /* the internal oscillator enters the PLL at half its rate */
        return (struct clocks){16 * (HSI_HZ / 2), 16 * (HSI_HZ / 2) / 2};
    }
    reg_set(RCC_CFGR, 0);
    return (struct clocks){HSI_HZ, HSI_HZ};
}
