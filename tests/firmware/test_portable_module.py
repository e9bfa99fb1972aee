"""The portable firmware with virtual chips: samples, chips that fall silent, commands, buttons, lights, time."""

import itertools

import pytest
from module_on_host import SERIAL, ModuleOnHost, Wobble, usual_chips

from strapdown.devices.chips.bus import VirtualBus
from strapdown.devices.chips.magnetometers import VirtualHmc5883l, VirtualQmc5883l, VirtualQmc5883p
from strapdown.devices.chips.mpu6050 import CLONE, MPU6500, VirtualMpu6050
from strapdown.devices.controller import Controller, Identity, Inputs
from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder

SECOND = 1_000_000
START_BUTTON, STOP_BUTTON, STOP_LINE = 1, 2, 4


@pytest.fixture
def module(tmp_path):
    return ModuleOnHost(tmp_path).power_up()


def steps(values, modulo):
    return {(b - a) % modulo for a, b in itertools.pairwise(values)}


def test_the_first_frame_after_reset_is_a_hello_behind_a_zero_byte(module):
    assert module.raw[0] == 0
    hello = say.Hello.unpacked(module.frames[0].body)
    assert (hello.reason, hello.running, hello.serial_number) == (say.WAS_RESET, 0, SERIAL)
    assert (hello.imu_chip, hello.imu_address, hello.imu_identity) == (say.MPU6050, 0x68, 0x68)
    assert (hello.mag_chip, hello.mag_address, hello.mag_identity) == (say.QMC5883L, 0x0D, b"\xff\0\0")
    assert (hello.rate_hz, hello.greatest_rate_hz, hello.rate_divider) == (100, 1000, 9)
    assert module.of_kind(of.SAMPLE, module.run(50_000)) == []  # it does not run by itself


@pytest.mark.parametrize("rate_hz", [4, 100, 1000])
@pytest.mark.parametrize("wire", [True, False])
def test_samples_come_at_the_set_rate_without_loss(tmp_path, rate_hz, wire):
    module = ModuleOnHost(tmp_path, wire=wire).power_up()
    assert module.command(say.set_to, say.Settings(rate_hz=rate_hz)) == say.DONE
    assert module.command(say.start) == say.DONE
    count = max(rate_hz // 10, 5)
    frames = [f for f in module.run(count * SECOND // rate_hz, turn_us=20) if f.kind == of.SAMPLE]
    assert abs(len(frames) - count) <= 1
    period = SECOND // rate_hz
    # without the wire the stamp waits for the next look at INT_STATUS: a transfer of 0.1 ms and one turn of the loop
    late = 0 if wire else 250
    assert all(abs(step - period) <= late for step in steps([f.time_us for f in frames], 2**32))
    assert steps([f.sequence for f in frames], 2**16) == {1}
    accelerations = [say.Readings.unpacked(f.body).acc for f in frames]
    assert len(set(accelerations)) == len(accelerations)  # every reading is a new one


class Replay:
    """A bus whose chips hold the counts of one sample that the firmware has sent."""

    def __init__(self, mag_address):
        self.sample, self.mag_address = None, mag_address

    def write(self, address, data):
        return address in (0x68, self.mag_address)

    def read(self, address, register, count):
        if address == 0x68:
            return {0x75: b"\x68", 0x3A: b"\x01"}.get(register) or self._words(
                (*self.sample.acc, self.sample.temperature, *self.sample.gyr), "big"
            )
        if address != self.mag_address:
            return None
        x, y, z = self.sample.mag if self.sample else (0, 0, 0)
        new = bytes((self.sample.flags & say.MAG_NEW if self.sample else 0,))
        if address == 0x0D:
            return {0x0D: b"\xff", 0x06: new, 0x00: self._words((x, y, z), "little")}[register]
        return {0x0A: b"H43", 0x09: new, 0x03: self._words((x, z, y), "big")}[register]

    @staticmethod
    def _words(values, order):
        return b"".join(v.to_bytes(2, order, signed=True) for v in values)


@pytest.mark.parametrize("make_mag, address", [(VirtualQmc5883l, 0x0D), (VirtualHmc5883l, 0x1E)])
def test_frames_equal_those_of_the_controller_in_python_byte_for_byte(tmp_path, make_mag, address):
    """The controller in Python gets the same registers, stamps and inputs. Its hello and samples are the same bytes."""
    module = ModuleOnHost(tmp_path, {0x68: VirtualMpu6050(Wobble()), address: make_mag(Wobble())}).power_up()
    settings = say.Settings(acc_range=1, gyr_range=2, low_pass=2, rate_hz=200)
    module.command(say.set_to, settings)
    module.command(say.start)
    module.press(STOP_BUTTON | 0x50)
    module.run(30_000)
    frames = [f for f in module.run(SECOND // 10) if f.kind == of.SAMPLE]
    begin = next(i for i, f in enumerate(frames) if f.body[20] & say.MAG_NEW)

    lines, bus = [], Replay(address)
    twin = Controller(bus, lambda data: lines.append(data) or True, Identity(SERIAL))
    hellos = [f for f in module.frames if f.kind == of.HELLO]
    assert lines[1] == of.on_the_line(hellos[0]._replace(time_us=0))
    lines.clear()
    twin.receive(of.on_the_line(say.set_to(settings)), hellos[1].time_us)
    assert lines[1] == of.on_the_line(hellos[1])
    lines.clear()
    twin.running = True
    for frame in frames[begin:]:
        bus.sample = say.Readings.unpacked(frame.body)
        twin._sequence[of.SAMPLE] = frame.sequence
        twin.step(frame.time_us, Inputs(True, STOP_BUTTON | 0x50, 0))
    expected = [of.on_the_line(frame) for frame in frames[begin:]]
    assert len(expected) >= 17 and lines == expected
    assert all(line in module.raw for line in expected)


@pytest.mark.parametrize(
    ("chips", "errors_of_a_search"),
    [
        (lambda: {}, 5),
        (lambda: {0x68: VirtualMpu6050(Wobble())}, 3),
        (lambda: {0x69: VirtualMpu6050(Wobble()), 0x1E: VirtualHmc5883l(Wobble())}, 0),
        (lambda: {0x68: VirtualMpu6050(Wobble()), 0x0D: VirtualQmc5883l(Wobble())}, 0),
        (lambda: {0x68: VirtualMpu6050(Wobble()), 0x2C: VirtualQmc5883p()}, 0),
    ],
)
def test_status_frames_equal_those_of_the_controller_in_python(tmp_path, chips, errors_of_a_search):
    """Errors of each transfer, state and lights: with no chip, one, both, and one that is not read."""
    module = ModuleOnHost(tmp_path, chips()).power_up()
    expected = [f.body for f in module.run(3 * SECOND) if f.kind == of.STATUS]
    sent, bus = bytearray(), VirtualBus(chips())
    twin = Controller(bus, lambda data: sent.extend(data) or True, Identity(SERIAL))
    for time_us in range(10_000, 3 * SECOND + 1, 10_000):
        bus.time_us = time_us
        twin.step(time_us)
    found = [f.body for f in Decoder().feed(bytes(sent)) if f.kind == of.STATUS]
    assert len(expected) == len(found) == 3
    for ours, theirs in zip(map(say.Status.unpacked, found), map(say.Status.unpacked, expected), strict=True):
        # a search at the end of a second comes before or after its status
        assert abs(ours.i2c_errors - theirs.i2c_errors) in (0, errors_of_a_search)
        assert ours._replace(i2c_errors=0) == theirs._replace(i2c_errors=0)


def test_the_fault_light_of_both_shows_a_failed_transfer_in_one_status(tmp_path):
    """It blinks for 2 s: the status of the second in which it failed has it, the second one after does not."""
    module = ModuleOnHost(tmp_path).power_up()
    module.command(say.start)
    module.run(SECOND // 4)
    module.bus.stuck.add(0x0D)  # read without a data-ready signal
    module.run(15_000)
    module.bus.stuck.clear()
    shown = [s.lights >> say.FAULT_LIGHT & 1 for s in module.of_kind(of.STATUS, module.run(3 * SECOND))]
    sent, bus = bytearray(), VirtualBus(usual_chips())
    twin = Controller(bus, lambda data: sent.extend(data) or True, Identity(SERIAL))
    twin.running = True
    for time_us in range(10_000, 3 * SECOND + 1, 10_000):
        bus.time_us, bus.stuck = time_us, {0x0D} if time_us == 250_000 else set()
        twin.step(time_us)
    statuses = [say.Status.unpacked(f.body) for f in Decoder().feed(bytes(sent)) if f.kind == of.STATUS]
    assert [s.lights >> say.FAULT_LIGHT & 1 for s in statuses] == shown[:3] == [1, 0, 0]


@pytest.mark.parametrize("chips, expected", [
    ({0x68: VirtualMpu6050(Wobble(), CLONE)}, (1, 0x68, 0x98, 0, 0, bytes(3))),
    ({0x69: VirtualMpu6050(Wobble(), MPU6500)}, (1, 0x69, 0x70, 0, 0, bytes(3))),
    ({0x68: VirtualMpu6050(Wobble(), 0x00), 0x69: VirtualMpu6050(Wobble(), 0xFF)}, (0, 0, 0, 0, 0, bytes(3))),
    ({0x0D: VirtualQmc5883l(Wobble())}, (0, 0, 0, 1, 0x0D, b"\xff\0\0")),
    ({0x1E: VirtualHmc5883l(Wobble())}, (0, 0, 0, 2, 0x1E, b"H43")),
    ({0x2C: VirtualQmc5883p()}, (0, 0, 0, 3, 0x2C, b"\x80\0\0")),
    ({0x0D: VirtualQmc5883l(Wobble()), 0x1E: VirtualHmc5883l(Wobble())}, (0, 0, 0, 1, 0x0D, b"\xff\0\0")),
    ({}, (0, 0, 0, 0, 0, bytes(3))),
])  # fmt: skip
def test_chips_and_fakes_are_reported_as_read(tmp_path, chips, expected):
    hello = ModuleOnHost(tmp_path, chips).power_up().of_kind(of.HELLO)[0]
    found = (
        hello.imu_chip,
        hello.imu_address,
        hello.imu_identity,
        hello.mag_chip,
        hello.mag_address,
        hello.mag_identity,
    )
    assert found == expected
    per_gauss = {0: 0, 1: 12000, 2: 1090, 3: 0}[hello.mag_chip]
    codes = (1, 6, 3) if hello.mag_chip == say.HMC5883L else (0, 3, 0)
    assert (hello.mag_per_gauss, hello.mag_range, hello.mag_rate, hello.mag_averaging) == (per_gauss, *codes)


def test_fakes_are_read_like_the_chip_they_replace(tmp_path):
    for identity in (CLONE, MPU6500):
        module = ModuleOnHost(tmp_path, {0x68: VirtualMpu6050(Wobble(), identity)}).power_up()
        module.command(say.start)
        samples = module.of_kind(of.SAMPLE, module.run(100_000))
        assert len(samples) >= 9 and all(s.flags == 0 and s.acc[2] > 15000 for s in samples)


def test_missing_chips_are_reported_once_a_second(tmp_path):
    module = ModuleOnHost(tmp_path, {}).power_up()
    assert module.of_kind(of.STATUS, module.run(SECOND))[0].i2c_errors == 3 * 5  # five places, every 0.5 s
    status = module.of_kind(of.STATUS, module.run(3 * SECOND))
    assert [s.uptime_s for s in status] == [2, 3, 4]
    assert all(s.state == 0 and s.lights >> say.FAULT_LIGHT & 1 for s in status)
    assert module.command(say.start) == say.DONE
    samples = module.of_kind(of.SAMPLE, module.run(SECOND // 2))
    assert abs(len(samples) - 50) <= 1 and {s.flags for s in samples} == {say.IMU_SILENT}


def test_a_chip_that_appears_is_announced_and_read(tmp_path):
    module = ModuleOnHost(tmp_path, {}).power_up()
    module.run(SECOND)
    module.bus.chips.update({0x68: VirtualMpu6050(Wobble()), 0x1E: VirtualHmc5883l(Wobble())})
    (hello,) = module.of_kind(of.HELLO, module.run(SECOND))
    assert (hello.reason, hello.imu_chip, hello.mag_chip, hello.mag_rate) == (say.CHANGED, 1, say.HMC5883L, 6)
    module.command(say.start)
    assert module.of_kind(of.SAMPLE, module.run(100_000))[-1].flags & say.IMU_SILENT == 0


@pytest.mark.parametrize("wire", [True, False])
@pytest.mark.parametrize("hang", [True, False])
def test_a_silent_inertial_chip_is_flagged_counted_and_taken_up_again(tmp_path, wire, hang):
    module = ModuleOnHost(tmp_path, wire=wire).power_up()
    module.command(say.start)
    module.run(200_000)
    errors = len(module.of_kind(of.STATUS))
    (module.hangs if hang else module.bus.stuck).add(0x68)
    silent = module.of_kind(of.SAMPLE, module.run(SECOND))
    flagged = [s for s in silent if s.flags & say.IMU_SILENT]
    assert len(flagged) >= len(silent) - 2 and abs(len(silent) - 100) <= 3
    assert len({s.acc for s in flagged}) == 1  # the last counts repeat
    module.hangs.clear(), module.bus.stuck.clear()
    module.run(600_000)
    frames = module.run(SECOND)
    back = module.of_kind(of.SAMPLE, frames)
    assert all(s.flags & say.IMU_SILENT == 0 for s in back) and abs(len(back) - 100) <= 1
    status = module.of_kind(of.STATUS)[-1]
    assert status.i2c_errors >= 4 > errors and status.state == say.RUNNING | say.IMU_ANSWERS | say.MAG_ANSWERS
    # a gap in the sequence counts every loss
    samples = [f for f in module.frames if f.kind == of.SAMPLE]
    assert samples[-1].sequence + 1 - len(samples) == status.overruns


def test_a_chip_that_lost_its_settings_is_set_up_again(module):
    """A dip of the supply puts the MPU-6050 to sleep: it still answers, and has no new data."""
    module.command(say.set_to, say.Settings(acc_range=3, rate_hz=200))
    module.command(say.start)
    module.run(100_000)
    module.bus.chips[0x68]._reset()
    module.run(700_000)
    samples = module.of_kind(of.SAMPLE, module.run(100_000))
    assert len(samples) == 20 and all(s.flags & say.IMU_SILENT == 0 for s in samples)
    assert abs(samples[0].acc[2] - 2048) < 200  # 16 g, as it was set


def test_a_wire_that_breaks_in_mid_run_costs_a_few_samples(module):
    module.command(say.start)
    module.run(100_000)
    module.wire = False
    module.run(SECOND)
    frames = [f for f in module.frames if f.kind == of.SAMPLE]
    assert len(frames) >= 105 and module.of_kind(of.SAMPLE, frames)[-1].flags & say.IMU_SILENT == 0
    lost = module.of_kind(of.STATUS)[-1].overruns
    assert 1 <= lost <= 4 and frames[-1].sequence + 1 == len(frames) + lost


def test_magnetometer_flags(tmp_path):
    module = ModuleOnHost(tmp_path).power_up()
    module.command(say.start)
    module.run(50_000)
    assert all(s.flags == say.MAG_NEW for s in module.of_kind(of.SAMPLE, module.run(100_000)))  # 200 Hz are faster
    module.command(say.set_to, say.Settings(mag_rate=0))  # 10 Hz
    module.run(100_000)
    new = [s for s in module.of_kind(of.SAMPLE, module.run(SECOND)) if s.flags & say.MAG_NEW]
    assert 9 <= len(new) <= 11
    module.bus.stuck.add(0x0D)
    module.run(50_000)
    silent = module.of_kind(of.SAMPLE, module.run(100_000))
    assert {s.flags for s in silent} == {say.MAG_WRONG} and {s.mag for s in silent} == {new[-1].mag}
    module.bus.stuck.clear()
    module.run(600_000)
    assert module.of_kind(of.SAMPLE, module.run(200_000))[-1].flags & say.MAG_WRONG == 0


@pytest.mark.parametrize("make, address", [(VirtualQmc5883l, 0x0D), (VirtualHmc5883l, 0x1E)])
def test_a_field_beyond_the_range_is_flagged(tmp_path, make, address):
    class Strong(Wobble):
        def at(self, time_us):
            return super().at(time_us)._replace(mag=(900.0, 0.0, 0.0))

    module = ModuleOnHost(tmp_path, {0x68: VirtualMpu6050(Strong()), address: make(Strong())}).power_up()
    module.command(say.start)
    module.run(50_000)
    samples = module.of_kind(of.SAMPLE, module.run(100_000))
    assert all(s.flags & say.MAG_WRONG for s in samples) and any(s.flags & say.MAG_NEW for s in samples)


def test_hmc5883l_has_its_axes_in_the_order_x_y_z_and_its_own_rate(tmp_path):
    module = ModuleOnHost(tmp_path, {0x68: VirtualMpu6050(Wobble()), 0x1E: VirtualHmc5883l(Wobble())}).power_up()
    module.command(say.set_to, say.Settings(rate_hz=500))
    module.command(say.start)
    samples = module.of_kind(of.SAMPLE, module.run(SECOND))
    x, y, z = samples[-1].mag
    # 21, -10, -41 uT at 1090 counts per gauss
    assert abs(x - 229) <= 10 and abs(y + 109) <= 2 and abs(z + 447) <= 10
    assert abs(sum(s.flags & say.MAG_NEW for s in samples) - 75) <= 2


def test_missed_data_ready_signals_are_counted(module):
    module.command(say.set_to, say.Settings(rate_hz=1000))
    module.command(say.start)
    module.run(20_000)
    module.run(50_000, turn_us=5000)  # the main loop is held up: five periods each turn
    frames = [f for f in module.run(SECOND) if f.kind == of.SAMPLE]
    samples = [f for f in module.frames if f.kind == of.SAMPLE]
    lost = samples[-1].sequence + 1 - len(samples)
    assert 30 <= lost <= 50 and module.of_kind(of.STATUS)[-1].overruns == lost
    assert len(frames) >= 995


def test_a_full_line_loses_samples_and_keeps_answers(module):
    module.command(say.set_to, say.Settings(rate_hz=1000))
    module.command(say.start)
    module.drains = False
    module.run(200_000)
    module.send(say.ask_hello(77))
    module.run(2000)
    module.drains = True
    frames = module.run(SECOND)
    assert [a.sequence for a in module.of_kind(of.ANSWER, frames)] == [77]
    assert len(module.of_kind(of.HELLO, frames)) == 1
    samples = [f for f in module.frames if f.kind == of.SAMPLE]
    lost = samples[-1].sequence + 1 - len(samples)
    assert 140 <= lost <= 170 and module.of_kind(of.STATUS)[-1].overruns == lost
    place = max(i for i, f in enumerate(module.frames) if f.kind == of.STATUS)
    before = [f for f in module.frames[:place] if f.kind == of.SAMPLE]
    assert say.Status.unpacked(module.frames[place].body).samples == before[-1].sequence + 1


def test_time_stamp_wraps_without_a_gap(tmp_path):
    module = ModuleOnHost(tmp_path, start_us=2**32 - 1_500_000).power_up()
    module.command(say.start)
    module.run(4 * SECOND)
    samples = [f for f in module.frames if f.kind == of.SAMPLE]
    assert steps([f.time_us for f in samples], 2**32) == {10_000}
    assert min(f.time_us for f in samples) < 1_000_000 < 2**32 - 1_000_000 < max(f.time_us for f in samples)
    status = module.of_kind(of.STATUS)
    assert [s.uptime_s for s in status] == [1, 2, 3, 4] and status[-1].overruns == 0


def test_sequence_number_of_samples_wraps(module):
    module.lib.host_sample_sequence(65530)
    module.command(say.start)
    module.run(200_000)
    sequence = [f.sequence for f in module.frames if f.kind == of.SAMPLE]
    assert {65535, 0} < set(sequence) and steps(sequence, 2**16) == {1}


@pytest.mark.parametrize("settings, result", [
    (say.Settings(), say.DONE),
    (say.Settings(3, 3, 6, 1, 0, 3, 1000), say.DONE),
    (say.Settings(acc_range=4), say.OUT_OF_RANGE),
    (say.Settings(gyr_range=4), say.OUT_OF_RANGE),
    (say.Settings(low_pass=7), say.OUT_OF_RANGE),
    (say.Settings(mag_range=2), say.OUT_OF_RANGE),
    (say.Settings(mag_rate=4), say.OUT_OF_RANGE),
    (say.Settings(mag_averaging=4), say.OUT_OF_RANGE),
    (say.Settings(rate_hz=3), say.OUT_OF_RANGE),
    (say.Settings(rate_hz=300), say.OUT_OF_RANGE),
    (say.Settings(rate_hz=2000), say.OUT_OF_RANGE),
    (say.Settings(acc_range=1, gyr_range=9, rate_hz=200), say.OUT_OF_RANGE),
    (say.Settings(low_pass=0, rate_hz=25), say.OUT_OF_RANGE),  # its divider has eight bits
    (say.Settings(low_pass=0, rate_hz=40), say.DONE),
])  # fmt: skip
def test_set_command(module, settings, result):
    before = module.of_kind(of.HELLO)[0]
    assert module.command(say.set_to, settings) == result
    hello = module.of_kind(of.HELLO)[-1]
    wanted = say.Settings() if result == say.OUT_OF_RANGE else settings
    names = ("acc_range", "gyr_range", "low_pass", "mag_range", "mag_rate", "mag_averaging")
    for name in names:
        value = getattr(wanted, name)
        assert getattr(hello, name) == (getattr(before, name) if value == say.UNCHANGED else value)
    assert hello.rate_hz == (wanted.rate_hz or before.rate_hz) and hello.reason == say.CHANGED
    assert hello.rate_divider == (8000 if hello.low_pass == 0 else 1000) // hello.rate_hz - 1
    registers = module.bus.chips[0x68]._registers
    assert (registers[0x19], registers[0x1A]) == (hello.rate_divider, hello.low_pass)
    assert (registers[0x1B], registers[0x1C]) == (hello.gyr_range << 3, hello.acc_range << 3)
    units = (16384 >> hello.acc_range, (1310, 655, 328, 164)[hello.gyr_range], (12000, 3000)[hello.mag_range])
    assert (hello.acc_per_g, hello.gyr_per_10_dps, hello.mag_per_gauss) == units


def test_settings_wait_for_a_silent_chip(module):
    module.bus.stuck.add(0x68)
    assert module.command(say.set_to, say.Settings(acc_range=2)) == say.NO_ANSWER_OF_CHIP
    module.bus.stuck.clear()
    module.run(SECOND)
    assert module.bus.chips[0x68]._registers[0x1C] == 2 << 3


def test_a_slow_line_limits_the_rate(tmp_path):
    module = ModuleOnHost(tmp_path, baud=115200).power_up()
    hello = module.of_kind(of.HELLO)[0]
    assert (hello.baud, hello.greatest_rate_hz, hello.rate_hz) == (115200, 250, 100)
    assert module.command(say.set_to, say.Settings(rate_hz=500)) == say.OUT_OF_RANGE
    assert module.command(say.set_to, say.Settings(rate_hz=250)) == say.DONE
    slow = ModuleOnHost(tmp_path, baud=9600).power_up().of_kind(of.HELLO)[0]
    assert (slow.greatest_rate_hz, slow.rate_hz) == (20, 20)


def test_bad_frames_get_no_answer_and_are_counted(module):
    whole = of.on_the_line(say.start(5))
    module.send(whole[:4] + b"\0" + bytes((whole[0] ^ 8,)) + whole[1:] + b"\0\0\0" + whole[:-3] + b"\0")
    frames = module.run(SECOND)
    assert module.of_kind(of.ANSWER, frames) == [] and module.of_kind(of.STATUS, frames)[0].bad_frames == 3
    assert module.of_kind(of.SAMPLE) == []


def test_many_commands_at_once_are_all_answered(module):
    for i in range(20):
        module.send(say.ask_hello(i))
    frames = module.run(10_000)
    assert [a.sequence for a in module.of_kind(of.ANSWER, frames)] == list(range(20))
    assert [h.reason for h in module.of_kind(of.HELLO, frames)] == [say.ASKED] * 20


def test_encoder_ticks_go_beyond_sixteen_bits_both_ways(module):
    module.command(say.start)
    count = 0
    for step in [30_000] * 5 + [-30_000] * 12:
        count += step
        module.turn_encoder(count)
        assert module.of_kind(of.SAMPLE, module.run(20_000))[-1].ticks == count


def test_start_button_starts_and_stops(module):
    def push(level, us=15_000):
        module.press(level)
        return module.run(us)

    push(START_BUTTON), push(0)
    assert module.of_kind(of.SAMPLE, module.run(100_000)) and module.lights >> say.RUN_LIGHT & 1
    push(START_BUTTON), push(0)
    assert module.of_kind(of.SAMPLE, module.run(100_000)) == [] and not module.lights >> say.RUN_LIGHT & 1
    for _ in range(20):  # contacts that bounce for 20 ms and end open
        push(START_BUTTON, 500), push(0, 500)
    assert module.of_kind(of.SAMPLE, module.run(100_000)) == []


def test_a_start_button_held_at_power_up_does_nothing(tmp_path):
    module = ModuleOnHost(tmp_path)
    module.press(START_BUTTON)
    module.power_up()
    module.run(500_000)
    assert module.of_kind(of.SAMPLE) == []


@pytest.mark.parametrize("level, inputs", [(STOP_BUTTON, say.STOP_BUTTON), (STOP_LINE, 0)])
def test_stop_signal_is_debounced_and_shown(module, level, inputs):
    module.command(say.start)
    module.run(20_000)
    module.press(level)
    early = module.of_kind(of.SAMPLE, module.run(9_000))
    assert all(s.flags & say.STOP_SIGNAL == 0 for s in early)
    module.run(12_000)
    held = module.of_kind(of.SAMPLE, module.run(50_000))
    assert {(s.flags & say.STOP_SIGNAL, s.inputs) for s in held} == {(say.STOP_SIGNAL, inputs)}
    assert module.lights >> say.STOP_LIGHT & 1
    module.press(0)
    module.run(25_000)
    assert {s.flags & say.STOP_SIGNAL for s in module.of_kind(of.SAMPLE, module.run(50_000))} == {0}


def test_switches_are_reported(module):
    module.command(say.start)
    for switches in (0x10, 0x20, 0x40, 0x80, 0xF0):
        module.press(switches)
        module.run(30_000)
        assert module.of_kind(of.SAMPLE, module.run(20_000))[-1].inputs == switches


def pattern(module, light):
    """How many times the light goes on in a second, and the part of it for which it is on."""
    seen = []
    for _ in range(200):
        module.run(5_000, turn_us=1000)
        seen.append(module.lights >> light & 1)
    return sum(b > a for a, b in itertools.pairwise([seen[-1], *seen])), sum(seen) / len(seen)


def test_lights_and_their_patterns(module):
    module.run(SECOND)
    assert pattern(module, say.HEARTBEAT_LIGHT) == (1, pytest.approx(0.5, abs=0.02))
    for code, expected in ((say.ON, (0, 1.0)), (say.SLOW, (1, 0.5)), (say.FAST, (4, 0.5)), (say.OFF, (0, 0.0))):
        assert module.command(say.light, say.HOST_LIGHT, code) == say.DONE
        assert pattern(module, say.HOST_LIGHT) == (expected[0], pytest.approx(expected[1], abs=0.02))
    assert module.command(say.light, say.FAULT_LIGHT, say.ON) == say.OUT_OF_RANGE
    assert module.command(say.light, say.HOST_LIGHT, 4) == say.OUT_OF_RANGE


def test_fault_light_blinks_after_a_loss_and_stays_on_without_a_chip(module):
    module.command(say.start)
    module.run(SECOND)
    assert pattern(module, say.FAULT_LIGHT) == (0, 0.0)
    module.bus.stuck.add(0x0D)
    module.run(5_000)
    module.run(5_000)
    module.bus.stuck.clear()
    assert pattern(module, say.FAULT_LIGHT)[0] >= 3
    module.run(3 * SECOND)
    assert pattern(module, say.FAULT_LIGHT) == (0, 0.0)
    module.bus.stuck.add(0x68)
    module.run(100_000)
    assert pattern(module, say.FAULT_LIGHT) == (0, 1.0)


def test_idle_chips_are_watched(module):
    module.run(SECOND)
    module.bus.stuck.update((0x68, 0x0D))
    module.run(2 * SECOND)
    assert module.of_kind(of.STATUS)[-1].state == 0
    module.bus.stuck.clear()
    module.run(2 * SECOND)
    assert module.of_kind(of.STATUS)[-1].state == say.IMU_ANSWERS | say.MAG_ANSWERS


def test_usual_chips_answer_without_an_error(module):
    module.command(say.start)
    module.run(2 * SECOND)
    assert module.of_kind(of.STATUS)[-1].i2c_errors == 0
    assert list(usual_chips()) == [0x68, 0x0D]
