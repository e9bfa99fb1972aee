#include "module.h"

#include "board.h"
#include "config.h"
#include "control.h"
#include "sampling.h"
#include "sender.h"

enum { SECOND_US = 1000000, LOSS_SHOWN_SECONDS = 2 };

static void show_lights(struct module *module, uint32_t into_second_us)
{
    bool silent = !module->imu_answers || !magnetometer_is_read(module);
    enum light_pattern fault = silent ? LIGHT_ON : module->loss_seconds > 0 ? LIGHT_FAST : LIGHT_OFF;
    const enum light_pattern patterns[LIGHTS] = {
        [LIGHT_HEARTBEAT] = LIGHT_SLOW,
        [LIGHT_RUNNING] = module->running ? LIGHT_ON : LIGHT_OFF,
        [LIGHT_STOP] = stop_signal(module) ? LIGHT_ON : LIGHT_OFF,
        [LIGHT_FAULT] = fault,
        [LIGHT_HOST] = (enum light_pattern)module->host_pattern,
    };
    module->lights = 0;
    for (unsigned i = 0; i < LIGHTS; i++) {
        module->lights |= (uint8_t)(light_is_on(patterns[i], into_second_us) << i);
    }
    board_lights(module->lights);
}

/* True once for each second that has ended. */
static bool second_ended(struct module *module, uint32_t now_us)
{
    if (now_us - module->second_us < SECOND_US) {
        return false;
    }
    module->second_us += SECOND_US;
    module->uptime_s++;
    return true;
}

void module_start(struct module *module)
{
    uint32_t now_us = board_micros();
    *module = (struct module){.second_us = now_us, .sample_us = now_us, .retry_us = now_us};
    module->greatest_rate_hz = greatest_rate(board_baud());
    module->settings = settings_after_reset(module->greatest_rate_hz);
    module->encoder = board_encoder();
    debounce_start(&module->inputs, board_inputs(), now_us);
    find_chips(module);
    const uint8_t separator = 0; /* ends what the line carried before the reset */
    board_line_write(&separator, 1);
    send_hello(module, REASON_RESET);
    show_lights(module, 0);
}

void module_step(struct module *module)
{
    receive_commands(module);
    read_buttons(module);
    uint32_t overruns = module->overruns, failures = module->bus.errors;
    take_samples(module);
    if (module->overruns != overruns || module->bus.errors != failures) {
        module->loss_seconds = LOSS_SHOWN_SECONDS;
    }
    look_for_silent_chips(module);
    bool ended = second_ended(module, board_micros());
    if (ended) {
        check_idle_chips(module);
        if (module->loss_seconds > 0) {
            module->loss_seconds--;
        }
    }
    show_lights(module, board_micros() - module->second_us);
    if (ended) {
        send_status(module);
    }
}
