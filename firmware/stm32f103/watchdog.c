/* The independent watchdog resets a controller that does not come round the main loop for 1.3 to 2.7 s. */
#include "hardware.h"
#include "registers.h"

enum { FEED = 0xAAAA, UNLOCK = 0x5555, START = 0xCCCC, DIVIDE_BY_64 = 4, COUNTS = 1250 };

void watchdog_start(void)
{
    reg_set(IWDG_KR, START);
    reg_set(IWDG_KR, UNLOCK);
    reg_set(IWDG_PR, DIVIDE_BY_64);
    reg_set(IWDG_RLR, COUNTS);
}

void watchdog_feed(void)
{
    reg_set(IWDG_KR, FEED);
}
