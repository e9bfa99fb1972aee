/* Entry points of the portable part with plain arguments, for ctypes. */
#include "host.h"

#include "bytes.h"
#include "debounce.h"
#include "frame.h"
#include "messages.h"
#include "module.h"
#include "ring.h"

static struct module module;

void host_module_start(void)
{
    module_start(&module);
}

void host_module_step(void)
{
    module_step(&module);
}

void host_sample_sequence(uint16_t next)
{
    module.sequence[KIND_SAMPLE] = next;
}

/* Bad frames, and good ones, in a stream of bytes. */
uint32_t host_receiver_bad(const uint8_t *data, size_t count, uint32_t *good)
{
    struct frame_receiver receiver = {.count = 0};
    struct frame frame;
    *good = 0;
    for (size_t i = 0; i < count; i++) {
        *good += frame_receive(&receiver, data[i], &frame);
    }
    return receiver.bad;
}

#define TAKE(field) field = (__typeof__(field))*values++

static void hello_body(const int64_t *values, uint8_t *body)
{
    struct hello h = {.reason = 0};
    TAKE(h.reason), TAKE(h.running);
    for (int i = 0; i < 3; i++) {
        TAKE(h.firmware[i]);
    }
    for (int i = 0; i < 12; i++) {
        TAKE(h.serial_number[i]);
    }
    TAKE(h.uptime_s), TAKE(h.imu_chip), TAKE(h.imu_address), TAKE(h.imu_identity), TAKE(h.mag_chip), TAKE(h.mag_address);
    for (int i = 0; i < 3; i++) {
        TAKE(h.mag_identity[i]);
    }
    TAKE(h.acc_range), TAKE(h.gyr_range), TAKE(h.low_pass), TAKE(h.rate_divider), TAKE(h.mag_range), TAKE(h.mag_rate);
    TAKE(h.mag_averaging), TAKE(h.rate_hz), TAKE(h.greatest_rate_hz), TAKE(h.baud), TAKE(h.tick_nm), TAKE(h.acc_per_g);
    TAKE(h.gyr_per_10_dps), TAKE(h.mag_per_gauss), TAKE(h.temperature_per_c), TAKE(h.temperature_zero_cc);
    for (int i = 0; i < 3; i++) {
        TAKE(h.mag_axes[i]);
    }
    pack_hello(&h, body);
}

static void sample_body(const int64_t *values, uint8_t *body)
{
    struct sample s = {.flags = 0};
    for (int i = 0; i < 3; i++) {
        TAKE(s.acc[i]);
    }
    TAKE(s.temperature);
    for (int i = 0; i < 3; i++) {
        TAKE(s.gyr[i]);
    }
    for (int i = 0; i < 3; i++) {
        TAKE(s.mag[i]);
    }
    TAKE(s.flags), TAKE(s.inputs), TAKE(s.ticks);
    pack_sample(&s, body);
}

static void status_body(const int64_t *values, uint8_t *body)
{
    struct status s;
    TAKE(s.uptime_s), TAKE(s.samples), TAKE(s.overruns), TAKE(s.i2c_errors), TAKE(s.bad_frames), TAKE(s.state);
    TAKE(s.lights), TAKE(s.rate_hz);
    pack_status(&s, body);
}

static void answer_body(const int64_t *values, uint8_t *body)
{
    struct answer a;
    TAKE(a.command), TAKE(a.result), TAKE(a.sequence);
    pack_answer(&a, body);
}

/* A frame of the module from the values of its fields, in the order of the body. Returns the bytes before COBS. */
size_t host_frame(uint8_t kind, uint16_t sequence, uint32_t time_us, const int64_t *values, uint8_t *plain, uint8_t *line,
                  size_t *line_count)
{
    static void (*const BODY[])(const int64_t *, uint8_t *) = {
        [KIND_HELLO] = hello_body, [KIND_SAMPLE] = sample_body, [KIND_STATUS] = status_body, [KIND_ANSWER] = answer_body};
    static const size_t BYTES[] = {
        [KIND_HELLO] = HELLO_BYTES, [KIND_SAMPLE] = SAMPLE_BYTES, [KIND_STATUS] = STATUS_BYTES, [KIND_ANSWER] = ANSWER_BYTES};
    uint8_t body[HELLO_BYTES];
    BODY[kind](values, body);
    struct frame frame = {kind, sequence, time_us, body, BYTES[kind]};
    *line_count = frame_on_line(&frame, line);
    return frame_plain(&frame, plain);
}

uint8_t host_debounce(uint8_t raw, uint32_t now_us, bool start, uint8_t *pressed)
{
    static struct debounce state;
    *pressed = 0;
    if (start) {
        debounce_start(&state, raw, now_us);
    }
    return debounce_step(&state, raw, now_us, pressed);
}

/* Bytes through a ring of 8, whose counters begin at `start`, in portions of up to 5. Returns how many came out. */
size_t host_ring(uint32_t start, const uint8_t *data, size_t count, uint8_t *out)
{
    uint8_t bytes[8];
    struct ring ring = {.bytes = bytes, .size = sizeof bytes, .head = start, .tail = start};
    size_t in = 0, done = 0;
    while (done < count) {
        size_t portion = count - in < 5 ? count - in : 5;
        while (portion > 0 && ring_put_all(&ring, data + in, portion)) {
            in += portion;
            portion = count - in < 5 ? count - in : 5;
        }
        if (!ring_get(&ring, out + done)) {
            break;
        }
        done++;
    }
    return done;
}
