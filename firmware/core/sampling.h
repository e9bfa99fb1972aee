/* When to read the chips, what to do when they are silent. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "module.h"

/* Finds chips that do not answer and configures them. */
void find_chips(struct module *module);

/* Writes the settings to the chips that answer. False if one is silent. */
bool configure_chips(struct module *module);

void start_sampling(struct module *module);

/* Takes a sample if one is due and sends it. */
void take_samples(struct module *module);

/* Twice a second: chips that stopped answering, or came back. */
void look_for_silent_chips(struct module *module);

/* While no samples are taken: do the chips still answer? */
void check_idle_chips(struct module *module);

/* A chip answers and is of a kind that the module reads. */
bool magnetometer_is_read(const struct module *module);

#endif
