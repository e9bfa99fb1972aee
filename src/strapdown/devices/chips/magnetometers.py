"""QMC5883L and HMC5883L at register level: virtual chips and drivers; the QMC5883P by its identity alone.

Data sheets: QST QMC5883L revision A, Honeywell HMC5883L (900405) revision E.
"""

from typing import NamedTuple

from strapdown.devices.chips.bus import Bus, read, write
from strapdown.devices.chips.feed import Feed, counts

QMC_ADDRESS, HMC_ADDRESS, QMCP_ADDRESS = 0x0D, 0x1E, 0x2C
QMC_PER_GAUSS = (12000, 3000)  # RNG 0: 2 G, 1: 8 G
QMC_RATES_HZ = (10, 50, 100, 200)
HMC_PER_GAUSS = (1370, 1090, 820, 660, 440, 390, 330, 230)
HMC_RATES_HZ = (0.75, 1.5, 3.0, 7.5, 15.0, 30.0, 75.0)
QMC_STATUS, QMC_CONTROL_1, QMC_CONTROL_2, QMC_PERIOD, QMC_ID = 0x06, 0x09, 0x0A, 0x0B, 0x0D
READY, OVERFLOW, SKIPPED = 1, 2, 4  # QMC5883L status
HMC_A, HMC_B, HMC_MODE, HMC_DATA, HMC_STATUS, HMC_ID = 0x00, 0x01, 0x02, 0x03, 0x09, 0x0A
HMC_OVERFLOW = -4096
HMC_BIAS_GAUSS = (1.16, 1.16, 1.08)  # of the self-test
_UT_PER_GAUSS = 100.0


class _Clocked:
    """A chip that reads its feed at its own rate."""

    def __init__(self, feed: Feed, ppm: float) -> None:
        self.feed = feed
        self.frozen = False
        self._second_us = 1e6 / (1.0 + 1e-6 * ppm)
        self._now_us = self._start_us = 0
        self._ticks = 0

    def _rate_hz(self) -> float | None:
        """Rate in Hz; None: the chip does not measure."""
        raise NotImplementedError

    def _measure(self, field_gauss: tuple[float, ...]) -> None:
        raise NotImplementedError

    def at(self, time_us: int) -> None:
        self._now_us = max(time_us, self._now_us)
        rate = self._rate_hz()
        if rate is None:
            self._restart()
            return
        due = int((self._now_us - self._start_us) * rate / self._second_us)
        if due > self._ticks:  # readings that nobody has fetched are overwritten
            self._ticks = due
            felt = self.feed.at(round(self._start_us + due * self._second_us / rate))
            self._measure(tuple(x / _UT_PER_GAUSS for x in felt.mag))

    def _restart(self) -> None:
        self._start_us, self._ticks = self._now_us, 0


class VirtualQmc5883l(_Clocked):
    """A virtual QMC5883L with its registers.

    feed: physical input of the chip. Averaging (OSR) has no effect: the noise is that of the feed.
    identity: value of the chip register.
    """

    def __init__(self, feed: Feed, *, ppm: float = 0.0, identity: int = 0xFF) -> None:
        super().__init__(feed, ppm)
        self._registers = bytearray(16)
        self._registers[QMC_ID] = identity

    def _rate_hz(self) -> float | None:
        control = self._registers[QMC_CONTROL_1]
        return QMC_RATES_HZ[control >> 2 & 3] if control & 3 == 1 else None

    def _measure(self, field_gauss: tuple[float, ...]) -> None:
        r = self._registers
        if r[QMC_STATUS] & READY:
            r[QMC_STATUS] |= SKIPPED
        r[QMC_STATUS] |= READY
        if self.frozen:
            return
        per_gauss = QMC_PER_GAUSS[min(r[QMC_CONTROL_1] >> 4 & 3, 1)]
        for i, x in enumerate(field_gauss):
            value = counts(x, per_gauss)
            if abs(value) >= 32767:
                r[QMC_STATUS] |= OVERFLOW
            r[2 * i : 2 * i + 2] = (value & 0xFFFF).to_bytes(2, "little")

    def write_register(self, register: int, value: int) -> None:
        if register == QMC_CONTROL_2 and value & 0x80:
            self._registers[:QMC_ID] = bytes(QMC_ID)
        elif QMC_CONTROL_1 <= register <= QMC_PERIOD:
            changed = register == QMC_CONTROL_1 and self._registers[register] != value
            self._registers[register] = value
            if changed:
                self._restart()

    def read_register(self, register: int) -> int:
        value = self._registers[register & 15]
        if register < QMC_STATUS:  # any data register clears the status
            self._registers[QMC_STATUS] = 0
        return value

    def after(self, register: int) -> int:
        return (register + 1) & 15


class VirtualHmc5883l(_Clocked):
    """A virtual HMC5883L with its registers.

    feed: physical input of the chip. In its self-test (MS) a field of 1.16, 1.16, 1.08 G is added.
    """

    def __init__(self, feed: Feed, *, ppm: float = 0.0) -> None:
        super().__init__(feed, ppm)
        self._registers = bytearray(16)
        self._registers[HMC_A], self._registers[HMC_B], self._registers[HMC_MODE] = 0x10, 0x20, 0x01
        self._registers[HMC_ID : HMC_ID + 3] = b"H43"

    def _rate_hz(self) -> float | None:
        r = self._registers
        return HMC_RATES_HZ[min(r[HMC_A] >> 2 & 7, 6)] if r[HMC_MODE] & 3 == 0 else None

    def _measure(self, field_gauss: tuple[float, ...]) -> None:
        r = self._registers
        r[HMC_STATUS] |= 1
        if self.frozen:
            return
        sign = (0.0, 1.0, -1.0, 0.0)[r[HMC_A] & 3]
        for place, i in enumerate((0, 2, 1)):  # x, z, y
            value = counts(field_gauss[i] + sign * HMC_BIAS_GAUSS[i], HMC_PER_GAUSS[r[HMC_B] >> 5], -2049, 2048)
            value = value if -2048 <= value <= 2047 else HMC_OVERFLOW
            r[HMC_DATA + 2 * place : HMC_DATA + 2 * place + 2] = (value & 0xFFFF).to_bytes(2, "big")

    def write_register(self, register: int, value: int) -> None:
        if register > HMC_MODE:
            return
        self._registers[register] = value
        if register == HMC_MODE and value & 3 == 1:  # single measurement, 6 ms later in the real one
            self._measure(tuple(x / _UT_PER_GAUSS for x in self.feed.at(self._now_us).mag))
        self._restart()

    def read_register(self, register: int) -> int:
        value = self._registers[register & 15]
        if register == HMC_DATA + 5:  # all six were read
            self._registers[HMC_STATUS] &= 0xFE
        return value

    def after(self, register: int) -> int:
        return HMC_DATA if register == HMC_DATA + 5 else (register + 1) % 13


class VirtualQmc5883p:
    """Only its identity: the module reports this chip and does not read it."""

    def at(self, time_us: int) -> None:
        pass

    def write_register(self, register: int, value: int) -> None:
        pass

    def read_register(self, register: int) -> int:
        return 0x80 if register == 0 else 0

    def after(self, register: int) -> int:
        return (register + 1) & 0x3F


class FieldCounts(NamedTuple):
    """One reading, in counts, x, y, z of the chip.

    wrong: the reading is beyond its range.
    """

    mag: tuple[int, int, int]
    wrong: bool


class Qmc5883l:
    """The driver."""

    per_gauss, rates_hz = QMC_PER_GAUSS, QMC_RATES_HZ
    first = (0, 3, 0)  # codes after reset: range, rate, averaging
    most = (1, 3, 3)

    def __init__(self, bus: Bus, address: int = QMC_ADDRESS) -> None:
        self.bus, self.address = bus, address

    def identity(self) -> bytes:
        return bytes((read(self.bus, self.address, QMC_ID, 1)[0], 0, 0))

    def set_up(self, range_code: int, rate_code: int, averaging: int) -> None:
        write(self.bus, self.address, QMC_PERIOD, 0x01)
        write(self.bus, self.address, QMC_CONTROL_1, averaging << 6 | range_code << 4 | rate_code << 2 | 1)

    def read(self) -> FieldCounts | None:
        """A new reading, or None."""
        status = read(self.bus, self.address, QMC_STATUS, 1)[0]
        if not status & READY:
            return None
        data = read(self.bus, self.address, 0x00, 6)
        x, y, z = (int.from_bytes(data[i : i + 2], "little", signed=True) for i in (0, 2, 4))
        return FieldCounts((x, y, z), bool(status & OVERFLOW))


class Hmc5883l:
    """The driver."""

    per_gauss, rates_hz = HMC_PER_GAUSS, HMC_RATES_HZ
    first = (1, 6, 3)
    most = (7, 6, 3)

    def __init__(self, bus: Bus, address: int = HMC_ADDRESS) -> None:
        self.bus, self.address = bus, address

    def identity(self) -> bytes:
        return read(self.bus, self.address, HMC_ID, 3)

    def set_up(self, range_code: int, rate_code: int, averaging: int, bias: int = 0) -> None:
        """Write the registers that configure the chip.

        bias: 0 normal, 1 self-test with a field added, 2 with it subtracted.
        """
        write(self.bus, self.address, HMC_A, averaging << 5 | rate_code << 2 | bias)
        write(self.bus, self.address, HMC_B, range_code << 5)
        write(self.bus, self.address, HMC_MODE, 0x00)

    def read(self) -> FieldCounts | None:
        """A new reading, or None."""
        if not read(self.bus, self.address, HMC_STATUS, 1)[0] & 1:
            return None
        data = read(self.bus, self.address, HMC_DATA, 6)
        x, z, y = (int.from_bytes(data[i : i + 2], "big", signed=True) for i in (0, 2, 4))
        return FieldCounts((x, y, z), HMC_OVERFLOW in (x, y, z))
