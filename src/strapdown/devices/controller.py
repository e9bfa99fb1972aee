"""The module's controller in Python: reads the chips through their drivers and uses the protocol.

This controller is the twin of the firmware: what firmware/ does on an STM32, this does on a virtual bus, byte for byte.
The controller has no clock of its own. Its caller calls step() at each data-ready signal, or each period.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from strapdown.devices.chips.bus import Bus, I2cError
from strapdown.devices.chips.found import Chip, find_inertial, find_magnetometer
from strapdown.devices.chips.magnetometers import Hmc5883l, Qmc5883l
from strapdown.devices.chips.mpu6050 import (
    ACC_PER_G,
    GYR_PER_10_DPS,
    TEMPERATURE_PER_C,
    TEMPERATURE_ZERO_CC,
    InertialCounts,
    Mpu6050,
)
from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder
from strapdown.devices.protocol.frame import Frame, on_the_line

COMMANDS = (of.ASK_HELLO, of.START, of.STOP, of.SET, of.LIGHT)
FIRMWARE = (1, 0, 0)
_SECOND_US = 1_000_000
_RETRY_US = 500_000
_FAILURES = 3  # transfers in a row without an answer: then a chip counts as silent
_LOSS_SECONDS = 2  # the fault light blinks so long after a loss
_NOTHING = InertialCounts((0, 0, 0), 0, (0, 0, 0))


class Inputs(NamedTuple):
    """State of the control block and the wheel.

    buttons: bits of a sample's inputs.
    ticks: encoder count.
    """

    stop: bool = False
    buttons: int = 0
    ticks: int = 0


@dataclass(frozen=True)
class Identity:
    """Properties that do not change while the module runs. baud 0: the line is not a serial one. tick_nm 0: no
    encoder.
    """

    serial_number: bytes = bytes(12)
    baud: int = 921600
    tick_nm: int = 0
    mag_axes: tuple[int, int, int] = (1, 2, 3)
    firmware: tuple[int, int, int] = FIRMWARE


class CountedBus:
    """A bus that counts transfers without an answer."""

    def __init__(self, bus: Bus) -> None:
        self._bus, self.errors = bus, 0

    def read(self, address: int, register: int, count: int) -> bytes | None:
        found = self._bus.read(address, register, count)
        self.errors += found is None
        return found

    def write(self, address: int, data: bytes) -> bool:
        done = self._bus.write(address, data)
        self.errors += not done
        return done


class Controller:
    """The program of the module's controller, from one power-up on.

    send: takes bytes for the line. False: the send buffer is full, and the bytes are lost. One object is one power-up.
    """

    def __init__(self, bus: Bus, send: Callable[[bytes], bool], identity: Identity = Identity()) -> None:
        self.bus, self.send, self.identity = CountedBus(bus), send, identity
        self.running = False
        self.greatest_hz = say.greatest_rate(identity.baud)
        self.settings = say.Settings(0, 0, 3, 0, 0, 0, min(100, self.greatest_hz))
        self.overruns = self.samples = 0
        self._imu_failures = self._mag_failures = self._loss_seconds = 0
        self.host_light = say.OFF
        self._decoder = Decoder(COMMANDS)
        self._sequence = dict.fromkeys((of.HELLO, of.SAMPLE, of.STATUS, of.ANSWER), 0)
        self._last, self._mag = _NOTHING, (0, 0, 0)
        self._mag_wrong = False
        self._imu: Mpu6050 | None = None
        self._compass: Qmc5883l | Hmc5883l | None = None
        self._imu_chip, self._mag_chip = Chip(), Chip(identity=bytes(3))
        self._stop = False
        self._tried_us = 0
        self._status_us = _SECOND_US
        self._find()
        send(b"\0")
        self._hello(0, say.WAS_RESET)

    @property
    def i2c_errors(self) -> int:
        return self.bus.errors

    def receive(self, data: bytes, time_us: int) -> None:
        """Receive bytes from the host."""
        for frame in self._decoder.feed(data):
            result, reason = say.DONE, None
            if frame.kind == of.ASK_HELLO:
                reason = say.ASKED
            elif frame.kind in (of.START, of.STOP):
                self.running = frame.kind == of.START
            elif frame.kind == of.SET:
                result, reason = self._set(say.Settings.unpacked(frame.body)), say.CHANGED
            elif frame.body[0] == say.HOST_LIGHT and frame.body[1] <= say.FAST:
                self.host_light = frame.body[1]
            else:
                result = say.OUT_OF_RANGE
            answer = say.Answer(frame.kind, result, frame.sequence)
            self._put(of.ANSWER, time_us, answer.packed())
            if reason is not None:
                self._hello(time_us, reason)

    def step(self, time_us: int, inputs: Inputs = Inputs()) -> None:  # noqa: B008
        """A data-ready signal, or a period in which none came.

        time_us: time of the module's clock, not wrapped.
        """
        self._stop = inputs.stop
        self._retry(time_us)
        before = self.overruns, self.i2c_errors
        flags = say.STOP_SIGNAL if inputs.stop else 0
        reading = self._inertial()
        if reading is None:
            flags |= say.IMU_SILENT
        flags |= self._field()
        if self.running:
            self.samples += 1
            counts = reading or self._last
            body = say.Readings(*counts, self._mag, flags, inputs.buttons, _signed(inputs.ticks)).packed()
            if not self._put(of.SAMPLE, time_us, body):
                self.overruns += 1
        self._last = reading or self._last
        if (self.overruns, self.i2c_errors) != before:
            self._loss_seconds = _LOSS_SECONDS
        if time_us >= self._status_us:
            self._status_us = (time_us // _SECOND_US + 1) * _SECOND_US
            self._loss_seconds = max(self._loss_seconds - 1, 0)
            self._status(time_us)

    def _inertial(self) -> InertialCounts | None:
        """A new reading. None: the chip is silent or has none."""
        if self._imu is None:
            return None
        try:
            reading = self._imu.read() if self._imu.ready() else None
        except I2cError:
            self._imu_failures += 1
            if self._imu_failures >= _FAILURES:
                self._imu = None
            return None
        self._imu_failures = 0
        return reading

    def _field(self) -> int:
        """Read the magnetometer: returns its flags; its last counts are kept."""
        if self._compass is None:
            return say.MAG_WRONG if self._mag_chip.kind in (say.QMC5883L, say.HMC5883L) else 0
        try:
            reading = self._compass.read()
        except I2cError:
            self._mag_failures += 1
            if self._mag_failures >= _FAILURES:
                self._compass = None
            self._mag_wrong = True
            return say.MAG_WRONG
        self._mag_failures = 0
        if reading is None:
            return say.MAG_WRONG if self._mag_wrong else 0
        self._mag, self._mag_wrong = reading.mag, reading.wrong
        return say.MAG_NEW | (say.MAG_WRONG if reading.wrong else 0)

    def _retry(self, time_us: int) -> None:
        """Twice a second, search again for a chip that does not answer."""
        silent = self._imu is None or (self._compass is None and self._mag_chip.kind != say.QMC5883P)
        if silent and time_us - self._tried_us >= _RETRY_US:
            self._tried_us = time_us
            before = self._imu_chip, self._mag_chip
            self._find()
            if (self._imu_chip, self._mag_chip) != before:
                self._hello(time_us, say.CHANGED)

    def _find(self) -> None:
        """Look for the chips that are silent, and set them up."""
        if self._imu is None:
            found = find_inertial(self.bus)
            if found.kind:
                self._imu_chip, self._imu, self._imu_failures = found, Mpu6050(self.bus, found.address), 0
        if self._compass is None:
            found = find_magnetometer(self.bus)
            if found.kind:
                first = found.kind != self._mag_chip.kind
                self._mag_chip = found
                if found.kind in (say.QMC5883L, say.HMC5883L):
                    driver = Qmc5883l if found.kind == say.QMC5883L else Hmc5883l
                    self._compass = compass = driver(self.bus, found.address)
                    if first:
                        codes = zip(("mag_range", "mag_rate", "mag_averaging"), compass.first, strict=True)
                        self.settings = self.settings._replace(**dict(codes))
                self._mag_failures = 0
        self._set_up()

    def _set_up(self) -> bool:
        """Write the settings to the chips. False: one did not answer; it gets them when it answers again."""
        s, fine = self.settings, self._imu is not None
        try:
            if self._imu is not None:
                self._imu.set_up(s.acc_range, s.gyr_range, s.low_pass, s.rate_hz)
        except I2cError:
            self._imu, fine = None, False
        try:
            if self._compass is not None:
                self._compass.set_up(s.mag_range, s.mag_rate, s.mag_averaging)
        except I2cError:
            self._compass, fine = None, False
        return fine

    def _set(self, wanted: say.Settings) -> int:
        codes = [w if w != say.UNCHANGED else h for w, h in zip(wanted[:6], self.settings[:6], strict=True)]
        rate = wanted.rate_hz or self.settings.rate_hz
        mag_most = (1, 3, 3) if self._mag_chip.kind != say.HMC5883L else Hmc5883l.most
        in_range = all(code <= most for code, most in zip(codes, (3, 3, 6, *mag_most), strict=True))
        if not (in_range and 4 <= rate <= self.greatest_hz and say.INNER_HZ % rate == 0):
            return say.OUT_OF_RANGE
        if codes[2] == 0 and 8 * say.INNER_HZ // rate > 256:  # the divider has eight bits
            return say.OUT_OF_RANGE
        self.settings = say.Settings._make((*codes, rate))
        return say.DONE if self._set_up() else say.NO_ANSWER_OF_CHIP

    @property
    def period_us(self) -> float:
        return _SECOND_US / self.settings.rate_hz

    def hello(self, reason: int, time_us: int) -> say.Hello:
        s, one = self.settings, self.identity
        per_gauss = self._compass.per_gauss[s.mag_range] if self._compass is not None else 0
        return say.Hello(
            *(reason, int(self.running), one.firmware, one.serial_number, time_us // _SECOND_US),
            *(self._imu_chip.kind, self._imu_chip.address, self._imu_chip.identity[0]),
            *(self._mag_chip.kind, self._mag_chip.address, self._mag_chip.identity),
            *(s.acc_range, s.gyr_range, s.low_pass, (8000 if s.low_pass == 0 else 1000) // s.rate_hz - 1),
            *(s.mag_range, s.mag_rate, s.mag_averaging, s.rate_hz, self.greatest_hz, one.baud, one.tick_nm),
            *(ACC_PER_G[s.acc_range], GYR_PER_10_DPS[s.gyr_range], per_gauss),
            *(TEMPERATURE_PER_C, TEMPERATURE_ZERO_CC, one.mag_axes),
        )

    def _hello(self, time_us: int, reason: int) -> None:
        self._put(of.HELLO, time_us, self.hello(reason, time_us).packed())

    def _status(self, time_us: int) -> None:
        state = (
            (say.RUNNING if self.running else 0)
            | (say.IMU_ANSWERS if self._imu is not None else 0)
            | (say.MAG_ANSWERS if self._compass is not None else 0)
        )
        second = time_us // _SECOND_US
        fault = self._imu is None or self._compass is None or self._loss_seconds > 0
        # a second begins with "on" of every pattern, and a status is sent at its begin
        lit = (True, self.running, self._stop, fault, self.host_light != say.OFF)
        lights = sum(1 << i for i, on in enumerate(lit) if on)
        numbers = (second, self.samples, self.overruns, self.i2c_errors, self._decoder.bad, state, lights)
        self._put(of.STATUS, time_us, say.Status(*numbers, self.settings.rate_hz).packed())

    def _put(self, kind: int, time_us: int, body: bytes) -> bool:
        """Send a frame. A frame that finds no space is lost, and its sequence number with it: the host detects the
        gap.
        """
        sequence = self._sequence[kind]
        self._sequence[kind] = sequence + 1 & 0xFFFF
        return self.send(on_the_line(Frame(kind, sequence, time_us & 0xFFFFFFFF, body)))


def _signed(ticks: int) -> int:
    """The value as the 32 bits of a sample carry it."""
    return (ticks + 0x80000000 & 0xFFFFFFFF) - 0x80000000
