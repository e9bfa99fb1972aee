"""An I2C bus: the interface of a driver, and a virtual bus with virtual chips.

A transfer returns the bytes on the wires. The same driver reads the same bytes from a virtual chip and a real one.
"""

from collections.abc import Mapping
from typing import Protocol


class Bus(Protocol):
    """A bus with 7-bit addresses."""

    def write(self, address: int, data: bytes) -> bool:
        """Send bytes; False: no chip has acknowledged."""
        ...

    def read(self, address: int, register: int, count: int) -> bytes | None:
        """Write the register's number, then read this many bytes. None: no chip has acknowledged."""
        ...


class RegisterChip(Protocol):
    """A virtual chip. The bus calls `at` before each transfer, so that its registers are those of that time."""

    def at(self, time_us: int) -> None: ...
    def write_register(self, register: int, value: int) -> None: ...
    def read_register(self, register: int) -> int: ...
    def after(self, register: int) -> int:
        """The register that follows in a transfer of several bytes."""
        ...


class VirtualBus:
    """Chips by address.

    time_us: present time, set by the owner of the clock.
    stuck: addresses that no longer acknowledge.
    """

    def __init__(self, chips: Mapping[int, RegisterChip]) -> None:
        self.chips = dict(chips)
        self.time_us = 0
        self.stuck: set[int] = set()
        self.transfers = 0

    def write(self, address: int, data: bytes) -> bool:
        """The first byte names a register; the others are written there and to the following registers."""
        chip = self._chip(address)
        if chip is None:
            return False
        register = data[0] if data else 0
        for value in data[1:]:
            chip.write_register(register, value)
            register = chip.after(register)
        return True

    def read(self, address: int, register: int, count: int) -> bytes | None:
        chip = self._chip(address)
        if chip is None:
            return None
        found = bytearray()
        for _ in range(count):
            found.append(chip.read_register(register) & 0xFF)
            register = chip.after(register)
        return bytes(found)

    def _chip(self, address: int) -> RegisterChip | None:
        self.transfers += 1
        chip = None if address in self.stuck else self.chips.get(address)
        if chip is not None:
            chip.at(self.time_us)
        return chip


class I2cError(Exception):
    """A chip did not acknowledge. Used inside devices/ only: the caller of a driver counts it."""


def read(bus: Bus, address: int, register: int, count: int) -> bytes:
    """Bytes of a chip that must answer."""
    found = bus.read(address, register, count)
    if found is None:
        raise I2cError(f"no chip answers at {address:#04x}")
    return found


def write(bus: Bus, address: int, *data: int) -> None:
    if not bus.write(address, bytes(data)):
        raise I2cError(f"no chip answers at {address:#04x}")
