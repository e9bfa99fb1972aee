/* A ring of bytes between one writer and one reader, one of which may be an interrupt handler. */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
    uint8_t *bytes;
    uint32_t size;           /* a power of two */
    volatile uint32_t head;  /* bytes ever written: the writer alone changes it */
    volatile uint32_t tail;  /* bytes ever read: the reader alone changes it */
};

static inline uint32_t ring_used(const struct ring *ring)
{
    return ring->head - ring->tail;
}

static inline uint32_t ring_free(const struct ring *ring)
{
    return ring->size - ring_used(ring);
}

/* False and no change when the ring is full. */
bool ring_put(struct ring *ring, uint8_t byte);

/* False when the ring is empty. */
bool ring_get(struct ring *ring, uint8_t *byte);

/* All bytes or none. */
bool ring_put_all(struct ring *ring, const uint8_t *data, size_t count);

#endif
