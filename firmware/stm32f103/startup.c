/* Vector table, start of the program, and faults. */
#include "hardware.h"
#include "registers.h"

extern uint32_t stack_top, data_in_flash, data_start, data_end, bss_start, bss_end;

int main(void);
void reset_handler(void);
void bus_fault_handler(void);

static volatile uint32_t probing, probe_failed;

/* A fault that nobody expects: start again. The host sees a hello with the reason "reset". */
static void fault_handler(void)
{
    reg_set(SCB_AIRCR, SCB_AIRCR_RESET);
    for (;;) {
    }
}

typedef void (*handler)(void);
enum { FIRST_IRQ = 16, EXTI0 = FIRST_IRQ + 6, USART1 = FIRST_IRQ + 37, BUS_FAULT = 5, VECTORS = FIRST_IRQ + 43 };

__attribute__((section(".vectors"), used)) static const handler vectors[VECTORS] = {
    [0] = (handler)&stack_top,
    [1] = reset_handler,
    [2] = fault_handler, /* NMI */
    [3] = fault_handler, /* hard fault */
    [4] = fault_handler, /* memory management */
    [BUS_FAULT] = bus_fault_handler,
    [6] = fault_handler, /* usage fault */
    [EXTI0] = exti0_interrupt,
    [USART1] = usart1_interrupt,
};

void reset_handler(void)
{
    for (uint32_t *from = &data_in_flash, *to = &data_start; to < &data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end;) {
        *to++ = 0;
    }
    main();
    fault_handler();
}

/* Skips a load of 16 bits length that failed on purpose; `stacked` is the exception frame, its word 6 the address. */
__attribute__((used)) static void bus_fault(uint32_t *stacked)
{
    if (!probing) {
        fault_handler();
    }
    probe_failed = 1;
    stacked[6] += 2;
}

__attribute__((naked)) void bus_fault_handler(void)
{
    __asm volatile("mrs r0, msp\n"
                   "push {r4, lr}\n"
                   "bl bus_fault\n"
                   "pop {r4, pc}\n");
}

bool probe_word(uint32_t address, uint32_t *value)
{
    uint32_t word;
    reg_change(SCB_SHCSR, 0, SCB_SHCSR_BUSFAULTENA);
    probe_failed = 0;
    probing = 1;
    /* low registers, so that the load has 16 bits */
    __asm volatile("ldr.n %0, [%1]\n\tdsb" : "=l"(word) : "l"(address) : "memory");
    probing = 0;
    *value = word;
    return !probe_failed;
}
