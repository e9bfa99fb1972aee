#include "ring.h"

bool ring_put(struct ring *ring, uint8_t byte)
{
    return ring_put_all(ring, &byte, 1);
}

bool ring_get(struct ring *ring, uint8_t *byte)
{
    if (ring_used(ring) == 0) {
        return false;
    }
    *byte = ring->bytes[ring->tail & (ring->size - 1)];
    ring->tail = ring->tail + 1;
    return true;
}

bool ring_put_all(struct ring *ring, const uint8_t *data, size_t count)
{
    if (ring_free(ring) < count) {
        return false;
    }
    uint32_t head = ring->head;
    for (size_t i = 0; i < count; i++) {
        ring->bytes[head++ & (ring->size - 1)] = data[i];
    }
    ring->head = head; /* the reader sees the bytes only now */
    return true;
}
