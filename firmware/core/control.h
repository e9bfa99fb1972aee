/* What acts on the module: commands of the host, buttons and switches. */
#ifndef CONTROL_H
#define CONTROL_H

#include "module.h"

void receive_commands(struct module *module);
void read_buttons(struct module *module);

/* The stop-signal button is pressed or the vehicle's controller holds its stop line. */
bool stop_signal(const struct module *module);

#endif
