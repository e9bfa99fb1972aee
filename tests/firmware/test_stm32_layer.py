"""The hardware layer of the STM32F103 on a model of its peripherals: clocks, I2C with its errata, line, pins."""

import ctypes
import itertools

import pytest
from module_on_host import Wobble, usual_chips
from stm32_model import GPIOA, GPIOB, GPIOC, USART1, Stm32

from strapdown.devices.chips.mpu6050 import VirtualMpu6050
from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder

DONE, NO_ANSWER, TIMED_OUT, BUS_ERROR = range(4)
TRANSFER_US = 2000


class Memory:
    """A chip of 256 registers."""

    def __init__(self):
        self.registers = bytearray((7 * i + 1) & 0xFF for i in range(256))

    def at(self, time_us):
        pass

    def read_register(self, register):
        return self.registers[register]

    def write_register(self, register, value):
        self.registers[register] = value

    def after(self, register):
        return (register + 1) & 0xFF


@pytest.fixture
def stm32(tmp_path):
    model = Stm32(tmp_path, {0x68: Memory()})
    model.start()
    return model


def elapsed_us(model, call):
    before = model.now_ns
    result = call()
    return result, (model.now_ns - before) / 1000


@pytest.mark.parametrize("crystal, pll, clocks, divider, line_baud", [
    (True, True, (72_000_000, 36_000_000), 78, 921600),
    (False, True, (64_000_000, 32_000_000), 69, 921600),
    (False, False, (8_000_000, 8_000_000), 69, 115200),
    (True, False, (8_000_000, 8_000_000), 69, 115200),
])  # fmt: skip
def test_clock_tree_and_its_fallbacks(tmp_path, crystal, pll, clocks, divider, line_baud):
    model = Stm32(tmp_path, {0x68: Memory()}, crystal=crystal, pll=pll)
    assert model.start() == clocks and model.core_hz == clocks[0]
    assert 100e6 < model.now_ns < 120e6  # the chips had 100 ms to start, and every wait has an end
    assert (model.register(USART1 + 8), model.lib.board_baud()) == (divider, line_baud)
    assert abs(clocks[0] / divider / line_baud - 1) < 0.01
    assert 370e3 < 1e9 / model.i2c.bit_ns <= 400e3
    assert model.read(0x68, 0x75, 1) == (DONE, bytes([7 * 0x75 + 1 & 0xFF]))


def test_i2c_timing_is_that_of_the_data_sheet(stm32):
    """DS5319 table 41: 0x801E for 400 kHz at 36 MHz; rise time 300 ns."""
    assert [stm32.i2c._registers[r] for r in (0x04, 0x1C, 0x20)] == [36, 0x801E, 11]


@pytest.mark.parametrize("baud, divider", [
    (9600, 7500), (115200, 625), (921600, 78), (2_000_000, 36), (4_500_000, 16),
    (4_600_000, 16), (4_700_000, 0), (9_000_000, 0), (0, 0), (1000, 0), (1200, 60000),
])  # fmt: skip
def test_baud_limits(stm32, baud, divider):
    """16 clocks for a bit at least, 16 bits of divider, at most 2.5 % of error."""
    assert stm32.lib.baud_divider(72_000_000, ctypes.c_uint32(baud)) == divider


def test_baud_error_is_bounded(stm32):
    """4.365 MBd lies 3.1 % below 72 MHz / 16, 3.69 MBd 2.4 % above 72 MHz / 20."""
    assert stm32.lib.baud_divider(72_000_000, 4_365_000) == 0
    assert stm32.lib.baud_divider(72_000_000, 3_690_000) == 20


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 14])
@pytest.mark.parametrize("interrupt_us", [0, 15, 120])
def test_reads_of_every_length_with_interrupts_at_every_place(stm32, count, interrupt_us):
    """An interrupt delays each register access in turn. The bytes stay right, and the chip sends none too many."""
    stm32.interrupt_us = interrupt_us
    expected = bytes(stm32.bus.chips[0x68].registers[0x3B : 0x3B + count])
    for every in (1, 2, 3, 5, 7, 11, 13, 17, 23, 31) if interrupt_us else (0,):
        stm32.delay_every = every
        result, data = stm32.read(0x68, 0x3B, count)
        if every * 20 < interrupt_us:  # so many interrupts leave no time for the transfer: it ends by its time limit
            assert result in (DONE, TIMED_OUT)
        else:
            assert result == DONE
        if result == DONE:
            assert data == expected and stm32.i2c.sent_by_chip[-1] == count
    assert stm32.i2c.stops_after_ack == 0


def test_writes_reach_the_chip(stm32):
    for register, value in ((0x6B, 0x01), (0x19, 0xFF), (0x00, 0x00)):
        assert stm32.write(0x68, register, value) == DONE
        assert stm32.bus.chips[0x68].registers[register] == value
    result, us = elapsed_us(stm32, lambda: stm32.read(0x68, 0x3B, 14)[0])
    assert result == DONE and 380 < us < 480  # 17 bytes at 400 kHz


def test_a_chip_that_does_not_answer_is_a_nack_and_the_next_transfer_works(stm32):
    resets = stm32.i2c.resets
    for _ in range(3):
        (result, _), us = elapsed_us(stm32, lambda: stm32.read(0x0D, 0, 6))
        assert result == NO_ANSWER and us < 100
        assert stm32.write(0x1E, 0, 0) == NO_ANSWER
        assert stm32.read(0x68, 0x75, 2)[0] == DONE
    assert stm32.i2c.resets == resets  # a NACK needs no recovery


def test_a_clock_held_low_ends_in_time_and_the_bus_works_again(stm32):
    stm32.scl_low = True
    for call in (lambda: stm32.read(0x68, 0x3B, 14)[0], lambda: stm32.write(0x68, 0x19, 1)):
        result, us = elapsed_us(stm32, call)
        assert result == TIMED_OUT and TRANSFER_US <= us < TRANSFER_US + 300
    assert not stm32.lib.i2c_recover()
    stm32.scl_low = False
    assert stm32.lib.i2c_recover()
    assert stm32.read(0x68, 0x75, 1)[0] == DONE


def test_a_clock_that_stops_in_mid_transfer_ends_in_time(stm32):
    """At whatever register access the bus stops, the driver returns within its limit and the next transfer works."""
    for access in range(1, 120, 7):
        stop_at = stm32._accesses + access
        original = stm32._access

        def stopping(stop_at=stop_at, original=original):
            original()
            stm32.scl_low = stm32._accesses >= stop_at

        stm32._access = stopping
        result, us = elapsed_us(stm32, lambda: stm32.read(0x68, 0x3B, 14)[0])
        stm32._access = original
        stm32.scl_low = False
        assert result in (DONE, TIMED_OUT) and us < TRANSFER_US + 500
        stm32.lib.i2c_recover()
        assert stm32.read(0x68, 0x3B, 4)[0] == DONE


@pytest.mark.parametrize("clocks", [1, 5, 9])
def test_a_chip_that_holds_the_data_line_is_clocked_free(stm32, clocks):
    """A controller that is reset in mid-read leaves the chip sending: nine clocks end it (UM10204 rev. 6, 3.1.16)."""
    stm32.sda_clocks = clocks
    assert stm32.read(0x68, 0x75, 1)[0] == TIMED_OUT
    assert stm32.sda_clocks == 0
    assert stm32.read(0x68, 0x75, 1)[0] == DONE


def test_a_data_line_held_for_ever_is_reported(stm32):
    stm32.sda_clocks = -1
    assert not stm32.lib.i2c_recover()
    result, us = elapsed_us(stm32, lambda: stm32.read(0x68, 0x75, 1)[0])
    assert result == TIMED_OUT and us < TRANSFER_US + 500


def test_a_busy_flag_locked_by_the_analog_filter_is_freed(stm32):
    stm32.i2c.busy_locked, stm32.i2c.filter_freed = True, False
    stm32._toggled.clear()
    assert stm32.read(0x68, 0x75, 1)[0] == TIMED_OUT
    assert stm32.read(0x68, 0x75, 1)[0] == DONE


def test_bus_errors_and_lost_arbitration_are_recovered(stm32):
    for flag in (1 << 8, 1 << 9):
        stm32.i2c.sr1 |= flag
        assert stm32.read(0x68, 0x75, 1)[0] == BUS_ERROR
        assert stm32.read(0x68, 0x75, 1)[0] == DONE


def test_microseconds_follow_the_core_clock_and_wrap(stm32):
    stm32.lib.board_micros.restype = ctypes.c_uint32
    begin, ns = stm32.lib.board_micros(), stm32.now_ns
    for _ in range(50):
        stm32.idle(100_000)  # the 24-bit counter wraps every 0.23 s
        passed = stm32.lib.board_micros() - begin & 0xFFFFFFFF
        assert abs(passed - (stm32.now_ns - ns) / 1000) < 2
    micros = ctypes.c_uint32  # the stamps on both sides of the wrap of 32 bits
    steps = []
    while len(steps) < 20:
        stm32.idle(230_000)
        steps.append(stm32.lib.board_micros())
    assert all(micros(b - a).value in range(229_990, 230_010) for a, b in itertools.pairwise(steps))


def test_data_ready_signals_are_stamped_and_counted(stm32):
    stm32.lib.board_micros.restype = ctypes.c_uint32
    stamp = ctypes.c_uint32()
    assert stm32.lib.board_data_ready(ctypes.byref(stamp)) == 0
    for _ in range(3):
        stm32.idle(1000)
        stm32.lib.exti0_interrupt()
    now = stm32.lib.board_micros()
    stm32.idle(500)
    assert stm32.lib.board_data_ready(ctypes.byref(stamp)) == 3
    assert 0 <= now - stamp.value <= 2
    assert stm32.lib.board_data_ready(ctypes.byref(stamp)) == 0
    # the pin: rising edge of PB0, line 0 on port B
    assert [stm32.register(a) & 1 for a in (0x40010400, 0x40010408)] == [1, 1]
    assert stm32.register(0x40010008) & 0xF == 1 and stm32.register(0xE000E100) == 1 << 6


def test_pins(stm32):
    pulled, output, alternate = 0b1000, 0b0010, 0b1001
    for pin in (8, 9, 10, 11, 12, 13, 14):
        assert stm32.mode(GPIOB, pin) == pulled and stm32._pins[GPIOB] >> pin & 1  # pull-up
    assert stm32.mode(GPIOB, 0) == pulled and not stm32._pins[GPIOB] & 1  # pull-down
    assert all(stm32.mode(GPIOA, pin) == output for pin in (1, 2, 3, 4)) and stm32.mode(GPIOC, 13) == output
    assert stm32.mode(GPIOA, 9) == alternate and stm32.mode(GPIOA, 10) == pulled
    assert all(stm32.mode(GPIOA, pin) == 0b0100 for pin in (13, 14))  # the debugger keeps its pins


@pytest.mark.parametrize("pin, bit", [(12, 0), (13, 1), (14, 2), (8, 4), (9, 5), (10, 6), (11, 7)])
def test_inputs_close_to_ground(stm32, pin, bit):
    assert stm32.lib.board_inputs() == 0
    stm32.pressed = {pin}
    assert stm32.lib.board_inputs() == 1 << bit


@pytest.mark.parametrize(
    "light, port, pin", [(0, GPIOC, 13), (1, GPIOA, 1), (2, GPIOA, 2), (3, GPIOA, 3), (4, GPIOA, 4)]
)
def test_lights_and_their_polarity(stm32, light, port, pin):
    low_is_on = port == GPIOC
    assert bool(stm32._pins[port] >> pin & 1) == low_is_on  # off after reset
    stm32.lib.board_lights(1 << light)
    assert bool(stm32._pins[port] >> pin & 1) != low_is_on
    stm32.lib.board_lights(0x1F & ~(1 << light))
    assert bool(stm32._pins[port] >> pin & 1) == low_is_on


def test_encoder_counts_both_edges_of_both_channels(tmp_path):
    model = Stm32(tmp_path, {}, kind="encoder")
    model.start()
    model.lib.host_module_start()
    model.serve()
    assert say.Hello.unpacked(Decoder().feed(bytes(model.sent))[0].body).tick_nm == 250_000
    timer = 0x40000400
    assert (model.register(timer), model.register(timer + 8), model.register(timer + 0x2C)) == (1, 3, 0xFFFF)
    assert model.register(timer + 0x18) & 0x303 == 0x101  # channel 1 on input 1, channel 2 on input 2
    assert model.register(0x4002101C) & 2 and all(model.mode(GPIOA, pin) == 0b1000 for pin in (6, 7))
    model._registers[timer + 0x24] = 0xFFFE
    assert model.lib.board_encoder() & 0xFFFF == 0xFFFE


def test_without_an_encoder_its_timer_stays_off(stm32):
    assert not stm32.register(0x4002101C) & 2 and stm32.lib.board_encoder() == 0


def test_a_flood_of_received_bytes_is_cut_and_not_mixed(stm32):
    """Nobody reads: the ring of 256 bytes keeps the first ones."""
    stm32.to_receive = [i & 0xFF for i in range(400)]
    stm32.serve()
    byte, found = ctypes.c_uint8(), bytearray()
    while stm32.lib.board_line_read(ctypes.byref(byte)):
        found.append(byte.value)
    assert bytes(found) == bytes(range(256))


def test_a_full_send_ring_refuses_a_whole_frame(stm32):
    frame = bytes(range(38))
    taken = 0
    while stm32.lib.board_line_write(frame, ctypes.c_size_t(38)):
        taken += 1
    assert taken == 2048 // 38
    stm32.serve()
    assert bytes(stm32.sent) == taken * frame
    assert not stm32.register(USART1 + 0xC) & 1 << 7  # the transmitter rests


def test_bytes_leave_without_interrupts(stm32):
    """The main loop alone empties the ring, one byte a turn (an emulator may lack the interrupt)."""
    stm32.lib.board_line_write(b"abc", ctypes.c_size_t(3))
    byte = ctypes.c_uint8()
    for _ in range(3):
        stm32.lib.board_line_read(ctypes.byref(byte))
    assert stm32.sent == b"abc"


def test_the_watchdog_is_set_to_two_seconds(stm32):
    assert stm32.register(0x40003000) == 0x5555  # unlocked to write the two
    assert 4 << stm32.register(0x40003004) == 64 and 64 * stm32.register(0x40003008) / 40e3 == 2.0


def test_the_whole_firmware_on_the_register_model(tmp_path):
    """Module, hardware layer and virtual chips together: samples at 100 Hz with stamps of the data-ready signal."""
    model = Stm32(tmp_path, usual_chips(), serial=bytes(range(12)))
    model.start()
    model.lib.host_module_start()
    model.to_receive = list(of.on_the_line(say.start()))
    decoder, frames, chip = Decoder(), [], model.bus.chips[0x68]
    while model.now_ns < 0.45e9:
        due = chip.next_ready_us
        if due is not None and due * 1000 <= model.now_ns:
            chip.at(round(due))
            model.lib.exti0_interrupt()
        model.lib.host_module_step()
        model.serve()
        model.idle(30)
        frames += decoder.feed(bytes(model.sent))
        model.sent.clear()
    hello = say.Hello.unpacked(frames[0].body)
    assert (hello.serial_number, hello.imu_identity, hello.mag_identity[0]) == (bytes(range(12)), 0x68, 0xFF)
    samples = [f for f in frames if f.kind == of.SAMPLE]
    assert len(samples) > 25 and decoder.bad == 0
    gaps = [b.time_us - a.time_us for a, b in itertools.pairwise(samples)]
    assert all(abs(gap - 10_000) < 900 for gap in gaps)  # a turn of this test's loop that reads both chips
    readings = [say.Readings.unpacked(f.body) for f in samples]
    assert all(r.flags == say.MAG_NEW for r in readings[1:]) and len({r.acc for r in readings}) == len(readings)


def test_the_whole_firmware_with_a_dead_bus_goes_on(tmp_path):
    model = Stm32(tmp_path, {0x68: VirtualMpu6050(Wobble())})
    model.scl_low = True
    model.start()
    model.lib.host_module_start()
    longest = 0.0
    while model.now_ns < 2.3e9:
        _, us = elapsed_us(model, model.lib.host_module_step)
        longest = max(longest, us)
        model.serve()
        model.idle(2000)
    frames = Decoder().feed(bytes(model.sent))
    assert [f.kind for f in frames] == [of.HELLO, of.STATUS, of.STATUS]
    assert say.Hello.unpacked(frames[0].body).imu_chip == 0
    status = say.Status.unpacked(frames[-1].body)
    assert status.i2c_errors >= 20 and status.state == 0 and status.lights >> say.FAULT_LIGHT & 1
    assert longest < 15_000  # five transfers of 2 ms and their recoveries
