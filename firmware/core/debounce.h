/* Buttons and switches bounce for some milliseconds: an input changes when it has kept its new level long enough. */
#ifndef DEBOUNCE_H
#define DEBOUNCE_H

#include <stdint.h>

enum { DEBOUNCE_INPUTS = 8, DEBOUNCE_US = 10000 };

struct debounce {
    uint8_t level;                        /* debounced, one bit for each input */
    uint8_t candidate;                    /* levels last seen */
    uint32_t since_us[DEBOUNCE_INPUTS];   /* when the candidate level appeared */
};

/* Takes the levels as they are: an input that is held at power-up is no press. */
void debounce_start(struct debounce *state, uint8_t raw, uint32_t now_us);

/* Returns the debounced levels. `pressed` are the inputs that went from 0 to 1 by this call. */
uint8_t debounce_step(struct debounce *state, uint8_t raw, uint32_t now_us, uint8_t *pressed);

#endif
