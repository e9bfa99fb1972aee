"""The MPU-6050 at register level: a virtual chip, and a driver. Register map: RM-MPU-6000A-00, revision 4.2.

The virtual chip has its own inner clock: 1 kHz behind the digital low-pass, 8 kHz without it. The chip has sample rate
divider, ranges, FIFO, data-ready, sleep, reset and self-test.
"""

from collections import deque
from typing import NamedTuple

from strapdown.devices.chips.bus import Bus, I2cError, read, write
from strapdown.devices.chips.feed import Feed, Felt, LowPass, counts
from strapdown.devices.protocol.units import ACC_DELAY_S, ACC_HZ, GYR_DELAY_S, GYR_HZ
from strapdown.earth import STANDARD_GRAVITY

ADDRESS = 0x68
SELF_TEST_X, SMPLRT_DIV, CONFIG, GYRO_CONFIG, ACCEL_CONFIG = 0x0D, 0x19, 0x1A, 0x1B, 0x1C
FIFO_EN, INT_PIN_CFG, INT_ENABLE, INT_STATUS, ACCEL_XOUT_H = 0x23, 0x37, 0x38, 0x3A, 0x3B
USER_CTRL, PWR_MGMT_1, FIFO_COUNTH, FIFO_R_W, WHO_AM_I = 0x6A, 0x6B, 0x72, 0x74, 0x75
DATA_READY, FIFO_OVERFLOW = 0x01, 0x10  # INT_STATUS
SLEEP, DEVICE_RESET = 0x40, 0x80  # PWR_MGMT_1
FIFO_ON, FIFO_RESET = 0x40, 0x04  # USER_CTRL
FIFO_BYTES = 1024
GENUINE, CLONE, MPU6500 = 0x68, 0x98, 0x70
ACC_PER_G = (16384, 8192, 4096, 2048)
GYR_PER_10_DPS = (1310, 655, 328, 164)
TEMPERATURE_PER_C, TEMPERATURE_ZERO_CC = 340, 3653
_DEG = 57.29577951308232
_TRIM = (12, 12, 12, 10, 10, 10)  # factory codes of the self-test: accelerometer x, y, z, gyroscope x, y, z


def self_test_response(code: int, gyroscope: bool, axis: int) -> float:
    """Response trimmed at the factory: counts at 8 g or 250 deg/s. Source: PS-MPU-6000A-00 and RM 4.2, sections 4.1 to
    4.4.
    """
    if code == 0:
        return 0.0
    if gyroscope:
        return (-1.0 if axis == 1 else 1.0) * 25.0 * 131.0 * 1.046 ** (code - 1)
    return 4096.0 * 0.34 * (0.92 / 0.34) ** ((code - 1) / 30.0)


class VirtualMpu6050:
    """A virtual MPU-6050 with its registers.

    feed: physical input of the chip.
    identity: WHO_AM_I.
    ppm: error of its own clock.
    response: response of the self-test, 1 is as trimmed at the factory.
    filtered: the input was low-passed before, as in a recording, and the chip's own low-pass does nothing.
    frozen: its readings no longer change, though it answers.
    """

    def __init__(
        self,
        feed: Feed,
        identity: int = GENUINE,
        *,
        ppm: float = 0.0,
        response: float = 1.0,
        filtered: bool = False,
    ) -> None:
        self.feed, self.identity, self.response, self._filtered = feed, identity, response, filtered
        self.frozen = False
        self._second_us = 1e6 / (1.0 + 1e-6 * ppm)
        self._now_us = 0
        self._reset()

    def _reset(self) -> None:
        self._registers = bytearray(128)
        self._registers[PWR_MGMT_1] = SLEEP
        acc, gyr = _TRIM[:3], _TRIM[3:]
        # accelerometer codes are split: bits 4-2 above, bits 1-0 in register 0x10
        for i in range(3):
            self._registers[SELF_TEST_X + i] = (acc[i] >> 2) << 5 | gyr[i]
        self._registers[SELF_TEST_X + 3] = (acc[0] & 3) << 4 | (acc[1] & 3) << 2 | (acc[2] & 3)
        self._fifo: deque[int] = deque()
        self._restart()

    def _restart(self) -> None:
        """The inner clock starts again, as after a change of its settings."""
        code = self._registers[CONFIG] & 7
        self._inner_us = self._second_us / (8000.0 if code in (0, 7) else 1000.0)
        code = min(code, 6)
        step_s = self._inner_us * 1e-6
        acc_hz, gyr_hz = (None, None) if self._filtered else (ACC_HZ[code], GYR_HZ[code])
        self._filters = LowPass(acc_hz, ACC_DELAY_S[code], step_s), LowPass(gyr_hz, GYR_DELAY_S[code], step_s)
        self._start_us, self._ticks = self._now_us, 0

    @property
    def asleep(self) -> bool:
        return bool(self._registers[PWR_MGMT_1] & SLEEP)

    @property
    def next_ready_us(self) -> float | None:
        """Time at which the next sample will be ready; None: asleep."""
        if self.asleep:
            return None
        each = self._registers[SMPLRT_DIV] + 1
        return self._start_us + (self._ticks // each + 1) * each * self._inner_us

    def at(self, time_us: int) -> None:
        """Let the inner clock run until time_us."""
        self._now_us = max(time_us, self._now_us)
        if self.asleep:
            self._start_us, self._ticks = self._now_us, 0
            return
        if self._filtered:  # no memory between the samples
            due = int((self._now_us - self._start_us + 0.5) / self._inner_us)
            self._ticks = max(self._ticks, due - due % (self._registers[SMPLRT_DIV] + 1) - 1)
        each = self._registers[SMPLRT_DIV] + 1
        while self._start_us + (self._ticks + 1) * self._inner_us <= self._now_us + 0.5:
            self._ticks += 1
            felt = self.feed.at(round(self._start_us + self._ticks * self._inner_us))
            acc, gyr = self._filters[0].step(felt.acc), self._filters[1].step(felt.gyr)
            if self._ticks % each == 0 and not self.frozen:
                self._sample(Felt(acc, gyr, felt.mag, felt.celsius))
            elif self._ticks % each == 0:
                self._ready()

    def _sample(self, felt: Felt) -> None:
        r = self._registers
        acc_code, gyr_code = r[ACCEL_CONFIG] >> 3 & 3, r[GYRO_CONFIG] >> 3 & 3
        acc_unit, gyr_unit = ACC_PER_G[acc_code] / STANDARD_GRAVITY, 0.1 * GYR_PER_10_DPS[gyr_code] * _DEG
        values = [*self._tested(felt.acc, ACCEL_CONFIG, acc_unit, ACC_PER_G[acc_code] / 4096.0)]
        values.append(counts(felt.celsius - 0.01 * TEMPERATURE_ZERO_CC, TEMPERATURE_PER_C))
        values += self._tested(felt.gyr, GYRO_CONFIG, gyr_unit, GYR_PER_10_DPS[gyr_code] / 1310.0)
        for i, value in enumerate(values):
            r[ACCEL_XOUT_H + 2 * i : ACCEL_XOUT_H + 2 * i + 2] = (value & 0xFFFF).to_bytes(2, "big")
        self._ready()
        if r[USER_CTRL] & FIFO_ON:
            self._store()

    def _tested(self, x: tuple[float, float, float], config: int, unit: float, scale: float) -> list[int]:
        """Counts of a triad, with the self-test's force on the axes where it is switched on."""
        gyroscope = config == GYRO_CONFIG
        found = []
        for i in range(3):
            added = 0.0
            if self._registers[config] >> (7 - i) & 1:
                code = _TRIM[3 * gyroscope + i]
                added = self.response * scale * self_test_response(code, gyroscope, i)
            found.append(counts(x[i] * unit + added, 1.0))
        return found

    def _ready(self) -> None:
        self._registers[INT_STATUS] |= DATA_READY

    def _store(self) -> None:
        on, r = self._registers[FIFO_EN], self._registers
        parts = ((3, 0, 6), (7, 6, 2), (6, 8, 2), (5, 10, 2), (4, 12, 2))  # bit of FIFO_EN, offset, bytes
        for bit, offset, size in parts:
            if on >> bit & 1:
                self._fifo.extend(r[ACCEL_XOUT_H + offset : ACCEL_XOUT_H + offset + size])
        while len(self._fifo) > FIFO_BYTES:  # the oldest are overwritten
            self._fifo.popleft()
            r[INT_STATUS] |= FIFO_OVERFLOW

    def write_register(self, register: int, value: int) -> None:
        r = self._registers
        if register == PWR_MGMT_1 and value & DEVICE_RESET:
            self._reset()
            return
        if register == USER_CTRL and value & FIFO_RESET:
            self._fifo.clear()
            value &= ~FIFO_RESET
        if register == FIFO_R_W or INT_STATUS <= register < USER_CTRL - 2 or register >= FIFO_COUNTH:
            return  # read-only
        changed = r[register & 0x7F] != value
        r[register & 0x7F] = value
        if changed and register in (SMPLRT_DIV, CONFIG, PWR_MGMT_1):
            self._restart()

    def read_register(self, register: int) -> int:
        if register == WHO_AM_I:
            return self.identity
        if register == FIFO_COUNTH:
            return len(self._fifo) >> 8
        if register == FIFO_COUNTH + 1:
            return len(self._fifo) & 0xFF
        if register == FIFO_R_W:
            return self._fifo.popleft() if self._fifo else 0xFF
        value = self._registers[register & 0x7F]
        if register == INT_STATUS:
            self._registers[INT_STATUS] = 0
        return value

    def after(self, register: int) -> int:
        return register if register == FIFO_R_W else (register + 1) & 0x7F


class InertialCounts(NamedTuple):
    """One reading, in counts."""

    acc: tuple[int, int, int]
    temperature: int
    gyr: tuple[int, int, int]


def _from_registers(data: bytes) -> InertialCounts:
    v = [int.from_bytes(data[i : i + 2], "big", signed=True) for i in range(0, 14, 2)]
    return InertialCounts((v[0], v[1], v[2]), v[3], (v[4], v[5], v[6]))


class Mpu6050:
    """The driver: the register traffic of the firmware, in Python."""

    def __init__(self, bus: Bus, address: int = ADDRESS) -> None:
        self.bus, self.address = bus, address

    def identity(self) -> int:
        return read(self.bus, self.address, WHO_AM_I, 1)[0]

    def set_up(self, acc_range: int, gyr_range: int, low_pass: int, rate_hz: int) -> int:
        """Wake the chip and set ranges, low-pass and rate; returns the divider."""
        divider = (8000 if low_pass == 0 else 1000) // rate_hz - 1
        for register, value in (
            (PWR_MGMT_1, 0x01),  # awake, on the gyroscope's clock
            (SMPLRT_DIV, divider),
            (CONFIG, low_pass),
            (GYRO_CONFIG, gyr_range << 3),
            (ACCEL_CONFIG, acc_range << 3),
            (INT_PIN_CFG, 0x00),
            (INT_ENABLE, DATA_READY),
        ):
            write(self.bus, self.address, register, value)
        return divider

    def ready(self) -> bool:
        return bool(read(self.bus, self.address, INT_STATUS, 1)[0] & DATA_READY)

    def read(self) -> InertialCounts:
        return _from_registers(read(self.bus, self.address, ACCEL_XOUT_H, 14))

    def start_fifo(self) -> None:
        """Route all instruments into the FIFO, which is emptied."""
        write(self.bus, self.address, USER_CTRL, FIFO_RESET)
        write(self.bus, self.address, FIFO_EN, 0xF8)
        write(self.bus, self.address, USER_CTRL, FIFO_ON)

    def read_fifo(self) -> tuple[list[InertialCounts], bool]:
        """Whole samples of the FIFO, oldest first, and whether it had overflowed. In that case it is emptied and
        started again.
        """
        if read(self.bus, self.address, INT_STATUS, 1)[0] & FIFO_OVERFLOW:
            self.start_fifo()
            return [], True
        high, low = read(self.bus, self.address, FIFO_COUNTH, 2)
        data = read(self.bus, self.address, FIFO_R_W, (high << 8 | low) // 14 * 14)
        return [_from_registers(data[i : i + 14]) for i in range(0, len(data), 14)], False

    def sleep(self) -> None:
        write(self.bus, self.address, PWR_MGMT_1, SLEEP)

    def trim(self) -> tuple[int, ...]:
        """Factory codes of the self-test: accelerometer x, y, z, gyroscope x, y, z."""
        x, y, z, low = read(self.bus, self.address, SELF_TEST_X, 4)
        acc = (x >> 5 << 2 | low >> 4 & 3, y >> 5 << 2 | low >> 2 & 3, z >> 5 << 2 | low & 3)
        return (*acc, x & 31, y & 31, z & 31)

    def self_test(self, on: bool) -> None:
        """Switch the self-test's force on all axes on or off, at 8 g and 250 deg/s."""
        bits = 0xE0 if on else 0
        write(self.bus, self.address, ACCEL_CONFIG, bits | 2 << 3)
        write(self.bus, self.address, GYRO_CONFIG, bits)


def self_test_change(off: InertialCounts, on: InertialCounts, trim: tuple[int, ...]) -> tuple[float, ...]:
    """Change of the response of each axis against that of the factory, 0 is unchanged; the data sheet allows 0.14.

    off, on: means of readings without and with the force.
    """
    found = []
    for i in range(6):
        gyroscope, axis = i >= 3, i % 3
        pair = (off.gyr, on.gyr) if gyroscope else (off.acc, on.acc)
        expected = self_test_response(trim[i], gyroscope, axis)
        found.append((pair[1][axis] - pair[0][axis]) / expected - 1.0 if expected else float("inf"))
    return tuple(found)


__all__ = ["I2cError", "InertialCounts", "Mpu6050", "VirtualMpu6050", "self_test_change", "self_test_response"]
