#include "debounce.h"

void debounce_start(struct debounce *state, uint8_t raw, uint32_t now_us)
{
    state->level = state->candidate = raw;
    for (int i = 0; i < DEBOUNCE_INPUTS; i++) {
        state->since_us[i] = now_us;
    }
}

uint8_t debounce_step(struct debounce *state, uint8_t raw, uint32_t now_us, uint8_t *pressed)
{
    uint8_t before = state->level;
    for (int i = 0; i < DEBOUNCE_INPUTS; i++) {
        uint8_t bit = (uint8_t)(1U << i);
        if ((raw ^ state->candidate) & bit) {
            state->since_us[i] = now_us;
        } else if (now_us - state->since_us[i] >= DEBOUNCE_US) {
            state->level = (uint8_t)((state->level & ~bit) | (raw & bit));
            /* keeps the age small, so that a wrap of the clock never makes it look young */
            state->since_us[i] = now_us - DEBOUNCE_US;
        }
    }
    state->candidate = raw;
    *pressed = (uint8_t)(state->level & ~before);
    return state->level;
}
