/* What the tests call; see board.c and entry.c. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int (*host_i2c_read)(uint8_t address, uint8_t reg, uint8_t *data, uint32_t count);
typedef int (*host_i2c_write)(uint8_t address, uint8_t reg, uint8_t value);

void host_bus(host_i2c_read read, host_i2c_write write);
size_t host_receive(uint8_t *data, size_t most);
bool host_send(const uint8_t *data, size_t count);
void host_signal(uint32_t stamp_us);

void host_module_start(void);
void host_module_step(void);
void host_sample_sequence(uint16_t next);
uint32_t host_receiver_bad(const uint8_t *data, size_t count, uint32_t *good);
size_t host_frame(uint8_t kind, uint16_t sequence, uint32_t time_us, const int64_t *values, uint8_t *plain, uint8_t *line,
                  size_t *line_count);
uint8_t host_debounce(uint8_t raw, uint32_t now_us, bool start, uint8_t *pressed);
size_t host_ring(uint32_t start, const uint8_t *data, size_t count, uint8_t *out);

#endif
