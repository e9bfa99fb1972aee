"""A virtual measuring module: chips on a motion, a controller, and a line of limited speed.

A program at the other end of the line cannot distinguish it from the real module. The virtual module sends the same
frames, takes the same commands, loses samples when its line is too slow, and can be reset.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from strapdown.devices.chips.bus import RegisterChip, VirtualBus
from strapdown.devices.chips.feed import Feed
from strapdown.devices.chips.magnetometers import (
    HMC_ADDRESS,
    QMC_ADDRESS,
    QMCP_ADDRESS,
    VirtualHmc5883l,
    VirtualQmc5883l,
    VirtualQmc5883p,
)
from strapdown.devices.chips.mpu6050 import ADDRESS, GENUINE, VirtualMpu6050
from strapdown.devices.controller import Controller, Identity, Inputs
from strapdown.errors import InputError

SEND_BUFFER = 1024  # bytes, as in the firmware
MAGNETOMETERS = ("QMC5883L", "HMC5883L", "QMC5883P", "none")


@dataclass(frozen=True)
class Make:
    """Properties of the module.

    clock_ppm: error of the controller's clock.
    chip_ppm: error of the clocks of the chips.
    first_us: its clock at power-up, for a wrap of the time stamps.
    imu_identity: WHO_AM_I.
    filtered: the input of the chips was low-passed before.
    """

    serial_number: bytes = b"virtual-0001"
    baud: int = 921600
    tick_nm: int = 0
    magnetometer: str = "QMC5883L"
    imu_identity: int = GENUINE
    clock_ppm: float = 0.0
    chip_ppm: float = 0.0
    first_us: int = 0
    filtered: bool = False

    def __post_init__(self) -> None:
        if self.magnetometer not in MAGNETOMETERS:
            raise InputError(f'magnetometer "{self.magnetometer}" is not known; valid: {", ".join(MAGNETOMETERS)}')


def chips(feed: Feed, make: Make) -> dict[int, RegisterChip]:
    """The chips of a module by their addresses."""
    found: dict[int, RegisterChip] = {
        ADDRESS: VirtualMpu6050(feed, make.imu_identity, ppm=make.chip_ppm, filtered=make.filtered)
    }
    if make.magnetometer == "QMC5883L":
        found[QMC_ADDRESS] = VirtualQmc5883l(feed, ppm=make.chip_ppm)
    elif make.magnetometer == "HMC5883L":
        found[HMC_ADDRESS] = VirtualHmc5883l(feed, ppm=make.chip_ppm)
    elif make.magnetometer == "QMC5883P":
        found[QMCP_ADDRESS] = VirtualQmc5883p()
    return found


class VirtualModule:
    """A virtual measuring module: chips and controller.

    feed: input of the chips.
    inputs: state of the control block at a time (s).

    Time is the simulation's (us).
    """

    def __init__(
        self,
        feed: Feed,
        make: Make = Make(),
        inputs: Callable[[float], Inputs] = lambda t_s: Inputs(),
    ) -> None:
        self.feed, self.make, self.inputs = feed, make, inputs
        self.time_us = 0
        self.bus = VirtualBus(chips(feed, make))
        self._out = bytearray()  # the send buffer, and what the line has carried since the last read
        self._queued = 0.0  # bytes in the send buffer, of which the line carries baud / 10 a second
        self._queued_us = 0
        self._power_up()

    def _power_up(self) -> None:
        self._began_us = self.time_us
        identity = Identity(self.make.serial_number, self.make.baud, self.make.tick_nm)
        self.controller = Controller(self.bus, self._send, identity)

    def reset(self) -> None:
        """Reset, as by its button or a dip of its supply: the clock starts again, and the module does not run."""
        self.make = replace(self.make, first_us=0)
        self._power_up()

    def clock_us(self, time_us: int) -> int:
        """The controller's clock at a time of the simulation."""
        return self.make.first_us + round((time_us - self._began_us) * (1.0 + 1e-6 * self.make.clock_ppm))

    def _send(self, data: bytes) -> bool:
        if self.make.baud:
            carried = (self.time_us - self._queued_us) * 1e-6 * self.make.baud / 10.0
            self._queued, self._queued_us = max(self._queued - carried, 0.0), self.time_us
            if self._queued + len(data) > SEND_BUFFER:
                return False
            self._queued += len(data)
        self._out += data
        return True

    def receive(self, data: bytes) -> None:
        """Bytes from the host, now."""
        self.bus.time_us = self.time_us
        self.controller.receive(data, self.clock_us(self.time_us))

    def run_until(self, time_us: int) -> bytes:
        """Let the module run; returns the bytes that it has sent."""
        while True:
            next_us = self._next_us()
            if next_us > time_us:
                break
            self.time_us = max(next_us, self.time_us)
            self.bus.time_us = self.time_us
            self.controller.step(self.clock_us(self.time_us), self.inputs(self.time_us * 1e-6))
        self.time_us = max(time_us, self.time_us)
        sent = bytes(self._out)
        self._out.clear()
        return sent

    def _next_us(self) -> int:
        """Time of the next data-ready signal; for a chip that gives none, one period is waited."""
        chip = self.bus.chips.get(ADDRESS)
        period_us = self.controller.period_us
        if isinstance(chip, VirtualMpu6050) and ADDRESS not in self.bus.stuck:
            chip.at(self.time_us)
            ready = chip.next_ready_us
            if ready is not None:
                return max(round(ready), self.time_us + 1)
        return self.time_us + round(period_us)
