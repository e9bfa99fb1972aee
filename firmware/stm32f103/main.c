#include "config.h"
#include "hardware.h"
#include "module.h"

static struct module module;

int main(void)
{
    struct clocks clocks = clock_start();
    watchdog_start();
    pins_start();
    serial_start(&clocks, LINE_BAUD);
    i2c_start(&clocks);
    module_start(&module);
    for (;;) {
        watchdog_feed();
        module_step(&module);
    }
}
