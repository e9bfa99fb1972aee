#include "control.h"

#include "board.h"
#include "sampling.h"
#include "sender.h"

static uint8_t change_settings(struct module *module, const struct frame *command)
{
    const struct set_command wanted = unpack_set(command->body);
    if (!settings_change(&module->settings, &wanted, module->mag.chip, module->greatest_rate_hz)) {
        return RESULT_OUT_OF_RANGE;
    }
    return configure_chips(module) ? RESULT_DONE : RESULT_CHIP_SILENT;
}

static uint8_t set_light(struct module *module, const struct frame *command)
{
    if (command->body[0] != LIGHT_HOST || command->body[1] >= LIGHT_PATTERNS) {
        return RESULT_OUT_OF_RANGE;
    }
    module->host_pattern = command->body[1];
    return RESULT_DONE;
}

static void obey(struct module *module, const struct frame *command)
{
    switch (command->kind) {
    case KIND_ASK_HELLO:
        send_answer(module, command, RESULT_DONE);
        send_hello(module, REASON_ASKED);
        break;
    case KIND_START:
        start_sampling(module);
        send_answer(module, command, RESULT_DONE);
        break;
    case KIND_STOP:
        module->running = false;
        send_answer(module, command, RESULT_DONE);
        break;
    case KIND_SET:
        send_answer(module, command, change_settings(module, command));
        send_hello(module, REASON_CHANGED);
        break;
    case KIND_LIGHT:
        send_answer(module, command, set_light(module, command));
        break;
    }
}

void receive_commands(struct module *module)
{
    struct frame command;
    uint8_t byte;
    /* at most one command each turn, so that samples are not kept waiting */
    while (board_line_read(&byte)) {
        if (frame_receive(&module->receiver, byte, &command)) {
            obey(module, &command);
            return;
        }
    }
}

void read_buttons(struct module *module)
{
    uint8_t pressed;
    debounce_step(&module->inputs, board_inputs(), board_micros(), &pressed);
    if (pressed & INPUT_START) {
        if (module->running) {
            module->running = false;
        } else {
            start_sampling(module);
        }
    }
}

bool stop_signal(const struct module *module)
{
    return module->inputs.level & (INPUT_STOP_BUTTON | INPUT_STOP_LINE);
}
