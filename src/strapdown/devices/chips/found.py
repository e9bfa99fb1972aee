"""Chips on a bus, and whether they are genuine."""

from dataclasses import dataclass

from strapdown.devices.chips.bus import Bus
from strapdown.devices.chips.magnetometers import HMC_ADDRESS, HMC_ID, QMC_ADDRESS, QMC_ID, QMCP_ADDRESS
from strapdown.devices.chips.mpu6050 import CLONE, GENUINE, MPU6500, WHO_AM_I
from strapdown.devices.protocol.messages import HMC5883L, MPU6050, NO_CHIP, QMC5883L, QMC5883P


@dataclass(frozen=True)
class Chip:
    """A chip that was found on the bus.

    kind: code of the protocol.
    identity: its registers as read, one byte or three.
    """

    kind: int = NO_CHIP
    address: int = 0
    identity: bytes = b"\0"


def find_inertial(bus: Bus) -> Chip:
    """The first chip that answers at 0x68 or 0x69, whatever its identity."""
    for address in (0x68, 0x69):
        found = bus.read(address, WHO_AM_I, 1)
        if found is not None and found[0] not in (0x00, 0xFF):
            return Chip(MPU6050, address, found)
    return Chip()


def find_magnetometer(bus: Bus) -> Chip:
    """Magnetometer by address and identity, in the order QMC5883L, HMC5883L, QMC5883P."""
    for kind, address, register, count in (
        (QMC5883L, QMC_ADDRESS, QMC_ID, 1),
        (HMC5883L, HMC_ADDRESS, HMC_ID, 3),
        (QMC5883P, QMCP_ADDRESS, 0x00, 1),
    ):
        found = bus.read(address, register, count)
        if found is not None:
            return Chip(kind, address, found.ljust(3, b"\0"))
    return Chip(NO_CHIP, 0, bytes(3))


def inertial_name(kind: int, identity: int) -> tuple[str, str | None]:
    """Name of the inertial chip by its WHO_AM_I register, and a warning, which is None for a genuine one."""
    if kind == NO_CHIP:
        return "none", "no inertial chip answers; check power, wiring and address of the GY-521"
    if identity == GENUINE:
        return "MPU-6050", None
    if identity == CLONE:
        return "MPU-6050 clone", (
            "WHO_AM_I is 0x98: the part is sold as MPU-6050 and is not one; noise and filter may differ from the data "
            "sheet, so calibrate it and check its noise"
        )
    if identity == MPU6500:
        return "MPU-6500", (
            "WHO_AM_I is 0x70: the part is an MPU-6500, without a magnetometer; its temperature scale and low-pass "
            "differ from those of the MPU-6050"
        )
    return f"unknown ({identity:#04x})", (
        f"WHO_AM_I is {identity:#04x}, an MPU-6050 has 0x68; the part is not known, so check ranges and axes"
    )


def magnetometer_name(kind: int, identity: bytes) -> tuple[str, str | None]:
    """Name of the magnetometer by address and identity registers, and a note."""
    if kind == NO_CHIP:
        return "none", "no magnetometer answers; navigation goes on without a magnetic heading"
    if kind == QMC5883L:
        note = (
            "boards sold as HMC5883L (GY-273) carry this chip"
            if identity[0] == 0xFF
            else (f"its identity register is {identity[0]:#04x}, a QMC5883L has 0xff; the part is not known")
        )
        return "QMC5883L", note
    if kind == HMC5883L:
        wrong = None if identity == b"H43" else f'its identity is {identity!r}, an HMC5883L has "H43"'
        return "HMC5883L", wrong
    if kind == QMC5883P:
        return "QMC5883P", "the chip has other registers than the QMC5883L and is not read; use a QMC5883L board"
    return f"unknown ({kind})", "the module reports a magnetometer that this version does not know; update the program"
