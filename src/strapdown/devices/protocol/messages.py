"""Meaning of the frames of the protocol: hello, sample, status, answer, and the host's commands.

Numbers are the protocol's own (register codes, counts); `strapdown.devices.units` converts them to SI.
"""

import struct
from typing import NamedTuple, Self

from strapdown.devices.protocol.frame import ASK_HELLO, LIGHT, SET, START, STOP, Frame

_HELLO = struct.Struct("<BB3Bx12sIBBBBB3s7BxHHIIHHHHh3bx")
_SAMPLE = struct.Struct("<hhhhhhhhhhBBi")
_STATUS = struct.Struct("<IIIIIBBH")
_ANSWER = struct.Struct("<BBH")
_SET = struct.Struct("<6BH")

NO_CHIP = 0
MPU6050 = 1
QMC5883L, HMC5883L, QMC5883P = 1, 2, 3
ASKED, WAS_RESET, CHANGED = 0, 1, 2  # reasons of a hello
DONE, OUT_OF_RANGE, NO_ANSWER_OF_CHIP = 0, 2, 3  # results of a command; 1 is not used
MAG_NEW, STOP_SIGNAL, IMU_SILENT, MAG_WRONG = 1, 2, 4, 8  # flags of a sample
START_BUTTON, STOP_BUTTON, SWITCH_1 = 1, 2, 16  # inputs of a sample
RUNNING, IMU_ANSWERS, MAG_ANSWERS = 1, 2, 4  # state in a status
HEARTBEAT_LIGHT, RUN_LIGHT, STOP_LIGHT, FAULT_LIGHT, HOST_LIGHT = range(5)
OFF, ON, SLOW, FAST = range(4)  # patterns of a light
UNCHANGED = 0xFF
INNER_HZ = 1000  # the rates of samples divide it


class Hello(NamedTuple):
    """Identity and settings of the module: docs/device-protocol.md, "Hello"."""

    reason: int = ASKED
    running: int = 0
    firmware: tuple[int, int, int] = (0, 0, 0)
    serial_number: bytes = bytes(12)
    uptime_s: int = 0
    imu_chip: int = NO_CHIP
    imu_address: int = 0
    imu_identity: int = 0
    mag_chip: int = NO_CHIP
    mag_address: int = 0
    mag_identity: bytes = bytes(3)
    acc_range: int = 0
    gyr_range: int = 0
    low_pass: int = 3
    rate_divider: int = 9
    mag_range: int = 0
    mag_rate: int = 3
    mag_averaging: int = 0
    rate_hz: int = 100
    greatest_rate_hz: int = 1000
    baud: int = 921600
    tick_nm: int = 0
    acc_per_g: int = 16384
    gyr_per_10_dps: int = 1310
    mag_per_gauss: int = 12000
    temperature_per_c: int = 340
    temperature_zero_cc: int = 3653  # 0.01 deg C
    mag_axes: tuple[int, int, int] = (1, 2, 3)

    def packed(self) -> bytes:
        values = (
            *(self.reason, self.running, *self.firmware, self.serial_number, self.uptime_s),
            *(self.imu_chip, self.imu_address, self.imu_identity),
            *(self.mag_chip, self.mag_address, self.mag_identity),
            *self[11:27],
        )
        return _HELLO.pack(*values, *self.mag_axes)

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        v = _HELLO.unpack(body)
        return cls._make((v[0], v[1], v[2:5], *v[5:29], v[29:32]))

    @property
    def serial(self) -> str:
        """The serial number as text, for files and screens."""
        return self.serial_number.hex()


class Readings(NamedTuple):
    """One sample, in counts; the tables of flags and inputs are in docs/device-protocol.md."""

    acc: tuple[int, int, int]
    temperature: int
    gyr: tuple[int, int, int]
    mag: tuple[int, int, int]
    flags: int
    inputs: int
    ticks: int

    def packed(self) -> bytes:
        return _SAMPLE.pack(*self.acc, self.temperature, *self.gyr, *self.mag, self.flags, self.inputs, self.ticks)

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        v = _SAMPLE.unpack(body)
        return cls(v[0:3], v[3], v[4:7], v[7:10], v[10], v[11], v[12])


class Status(NamedTuple):
    """Counts of the module since reset, sent once a second."""

    uptime_s: int
    samples: int
    overruns: int
    i2c_errors: int
    bad_frames: int
    state: int
    lights: int
    rate_hz: int

    def packed(self) -> bytes:
        return _STATUS.pack(*self)

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        return cls(*_STATUS.unpack(body))


class Answer(NamedTuple):
    """Answer to a command of the host."""

    command: int
    result: int
    sequence: int

    def packed(self) -> bytes:
        return _ANSWER.pack(*self)

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        return cls(*_ANSWER.unpack(body))


class Settings(NamedTuple):
    """Values of a set command; the defaults change nothing."""

    acc_range: int = UNCHANGED
    gyr_range: int = UNCHANGED
    low_pass: int = UNCHANGED
    mag_range: int = UNCHANGED
    mag_rate: int = UNCHANGED
    mag_averaging: int = UNCHANGED
    rate_hz: int = 0

    def packed(self) -> bytes:
        return _SET.pack(*self)

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        return cls(*_SET.unpack(body))


def ask_hello(sequence: int = 0) -> Frame:
    return Frame(ASK_HELLO, sequence, 0, b"")


def start(sequence: int = 0) -> Frame:
    return Frame(START, sequence, 0, b"")


def stop(sequence: int = 0) -> Frame:
    return Frame(STOP, sequence, 0, b"")


def set_to(settings: Settings, sequence: int = 0) -> Frame:
    return Frame(SET, sequence, 0, settings.packed())


def light(number: int, pattern: int, sequence: int = 0) -> Frame:
    return Frame(LIGHT, sequence, 0, bytes((number, pattern)))


def greatest_rate(baud: int, bytes_per_sample: int = 38) -> int:
    """The largest divisor of 1000 Hz whose samples take at most nine tenths of the line; baud 0: no serial line."""
    carried = INNER_HZ if baud == 0 else 0.9 * baud / 10.0 / bytes_per_sample
    return max((rate for rate in range(1, INNER_HZ + 1) if INNER_HZ % rate == 0 and rate <= carried), default=1)
