/* Frames from the module to the host. */
#ifndef SENDER_H
#define SENDER_H

#include "module.h"

void send_hello(struct module *module, uint8_t reason);
void send_status(struct module *module);
void send_answer(struct module *module, const struct frame *command, uint8_t result);

/* False: the line has no space. The sequence number counts the sample all the same. */
bool send_sample(struct module *module, uint32_t stamp_us);

#endif
