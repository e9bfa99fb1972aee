/* The lights of the indication block and their patterns. Meaning: docs/firmware.md. */
#ifndef LIGHTS_H
#define LIGHTS_H

#include <stdbool.h>
#include <stdint.h>

enum { LIGHT_HEARTBEAT, LIGHT_RUNNING, LIGHT_STOP, LIGHT_FAULT, LIGHT_HOST, LIGHTS };
enum light_pattern { LIGHT_OFF, LIGHT_ON, LIGHT_SLOW, LIGHT_FAST, LIGHT_PATTERNS };

/* Is a light with this pattern on, at this time since the start of the second (us)? Each second starts with "on". */
static inline bool light_is_on(enum light_pattern pattern, uint32_t into_second_us)
{
    switch (pattern) {
    case LIGHT_ON:
        return true;
    case LIGHT_SLOW:
        return into_second_us < 500000;
    case LIGHT_FAST:
        return into_second_us / 125000 % 2 == 0;
    default:
        return false;
    }
}

#endif
