/* The hardware layer of the STM32F103 on the host: a model of the peripherals answers each register access. */
#include "registers.h"

#include "board.h"
#include "config.h"
#include "hardware.h"
#include "module.h"

typedef uint32_t (*get_hook)(uint32_t address);
typedef void (*set_hook)(uint32_t address, uint32_t value);
typedef void (*mask_hook)(int masked);

void host_registers(get_hook get, set_hook set, mask_hook mask);
void host_start(uint32_t clocks[2], uint32_t baud);
void host_module_start(void);
void host_module_step(void);

static get_hook get_register;
static set_hook set_register;
static mask_hook set_mask;
static struct module module;

void host_registers(get_hook get, set_hook set, mask_hook mask)
{
    set_mask = mask;
    get_register = get;
    set_register = set;
}

uint32_t reg_get(uint32_t address)
{
    return get_register(address);
}

void reg_set(uint32_t address, uint32_t value)
{
    set_register(address, value);
}

void interrupts_off(void)
{
    set_mask(1);
}

void interrupts_on(void)
{
    set_mask(0);
}

bool probe_word(uint32_t address, uint32_t *value)
{
    *value = get_register(address);
    return true;
}

/* As main() does. */
void host_start(uint32_t clocks[2], uint32_t baud)
{
    struct clocks found = clock_start();
    clocks[0] = found.core_hz;
    clocks[1] = found.apb1_hz;
    watchdog_start();
    pins_start();
    serial_start(&found, baud);
    i2c_start(&found);
}

void host_module_start(void)
{
    module_start(&module);
}

void host_module_step(void)
{
    module_step(&module);
}
