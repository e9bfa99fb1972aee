"""The line to a module: a serial port, a pseudo-terminal or a TCP port, opened again when it vanishes."""

import contextlib
import errno
import os
import re
import time
from dataclasses import dataclass

import serial  # type: ignore[import-untyped]
from serial.tools import list_ports  # type: ignore[import-untyped]

from strapdown.errors import InputError

BAUD = 921600
NETWORK = ("tcp://", "socket://")  # what an address begins with; both are TCP
_READ_S = 0.02  # the longest wait for a first byte
_AGAIN_S = 0.5  # between two attempts to open a port that has vanished
# USB-serial converters that modules of this kind carry: vendor and product
CONVERTERS = {
    (0x10C4, 0xEA60): "CP2102",
    (0x1A86, 0x7523): "CH340",
    (0x0403, 0x6001): "FT232",
    (0x067B, 0x2303): "PL2303",
}


@dataclass(frozen=True)
class Port:
    """A serial port of this computer.

    converter: converter of a known kind, else None.
    """

    device: str
    description: str
    converter: str | None
    serial_number: str | None


def is_address(text: str) -> bool:
    """Whether a text names a port (present or not) rather than a file: tcp://host:port, /dev/..., COM3."""
    return text.startswith((*NETWORK, "/dev/")) or re.fullmatch(r"COM\d{1,3}", text, re.IGNORECASE) is not None


def ports() -> list[Port]:
    """The serial ports that the system reports, converters of a known kind first."""
    found = [
        Port(p.device, p.description or "", CONVERTERS.get((p.vid, p.pid)), p.serial_number)
        for p in list_ports.comports()
    ]
    return sorted(found, key=lambda port: (port.converter is None, port.device))


class Link:
    """A serial line to a module.

    name: /dev/ttyUSB0, COM3, a pseudo-terminal, or tcp://host:port.
    lost: how often it has vanished.
    """

    def __init__(self, name: str, baud: int = BAUD) -> None:
        self.name, self.baud = name, baud
        self.lost = 0
        self._port: serial.SerialBase | None = None
        self._next_s = 0.0
        self._open(first=True)

    @property
    def connected(self) -> bool:
        return self._port is not None

    def _open(self, first: bool) -> None:
        if "://" in self.name and not self.name.startswith(NETWORK):  # pyserial has others, which also write files
            raise InputError(f"{self.name} is no address of a module; give a serial port or tcp://host:port")
        url = self.name.replace("tcp://", "socket://", 1) if self.name.startswith("tcp://") else self.name
        options = {} if url.startswith("socket://") or os.name != "posix" else {"exclusive": True}
        try:
            self._port = serial.serial_for_url(url, self.baud, timeout=_READ_S, write_timeout=1.0, **options)
        except (serial.SerialException, OSError, ValueError) as error:
            self._port = None
            if first:
                raise refused(self.name, error) from None

    def read(self) -> bytes:
        """Bytes that have arrived, b"" after a short wait without a byte. A port that has vanished is opened again."""
        if self._port is None:
            if time.monotonic() < self._next_s:
                time.sleep(_READ_S)
                return b""
            self._next_s = time.monotonic() + _AGAIN_S
            self._open(first=False)
            if self._port is None:
                return b""
        try:
            first = self._port.read(1)
            return first + self._port.read(self._port.in_waiting) if first else b""
        except (serial.SerialException, OSError, TypeError):  # TypeError: pyserial, of a port closed meanwhile
            self._vanished()
            return b""

    def write(self, data: bytes) -> None:
        """Send bytes. Bytes that cannot be sent are lost, and the module's answer does not come."""
        if self._port is None:
            return
        try:
            self._port.write(data)
        except (serial.SerialException, OSError):
            self._vanished()

    def _vanished(self) -> None:
        self.lost += 1
        self._next_s = time.monotonic() + _AGAIN_S
        self.close()

    def close(self) -> None:
        if self._port is not None:
            with contextlib.suppress(serial.SerialException, OSError):
                self._port.close()
            self._port = None


def refused(name: str, error: Exception) -> InputError:
    """Why a port cannot be opened, and what to do."""
    text = str(error)
    number = getattr(error, "errno", None)
    if number in (errno.EACCES, errno.EPERM) or "ermission denied" in text:
        return InputError(
            f"no permission to open {name}; add your user to the group that owns it (Debian: sudo adduser $USER "
            "dialout), then log in again"
        )
    if number in (errno.EBUSY, errno.EAGAIN) or "exclusively lock" in text or "busy" in text.lower():
        return InputError(f"{name} is in use by another program; close it there first")
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO) or "could not open port" in text or "cannot find" in text:
        there = ", ".join(port.device for port in ports()) or "none"
        return InputError(
            f"there is no port {name}; ports of this computer: {there}; plug the module in, or see device list"
        )
    if name.startswith(NETWORK):
        return InputError(f"nothing answers at {name}; start the emulator there first, or check host and port")
    return InputError(f"cannot open {name}: {' '.join(text.split())[:120]}; check the name with device list")
