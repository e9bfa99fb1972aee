"""A virtual module on a line: a pseudo-terminal or a TCP port, in real time."""

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from strapdown.environment.virtual_module.module import VirtualModule
from strapdown.errors import InputError

_STEP_S = 0.002  # the module runs in such stretches: bytes leave soon after their samples
_PATIENCE_S = 2.0  # for a host that is behind; the module's time waits meanwhile
_LONGEST_S = 0.1  # of the module's time at a stretch, after the emulator itself was held up


class Line(Protocol):
    """One end of a line.

    name: address that the other end opens.
    """

    name: str

    def read(self, wait_s: float) -> bytes: ...
    def write(self, data: bytes) -> None: ...


class PtyLine:
    """A pseudo-terminal; its other end looks like a serial port."""

    def __init__(self) -> None:
        try:
            import pty
            import tty
        except ImportError:
            raise InputError("this system has no pseudo-terminals; use a TCP port") from None
        self._master, self._slave = pty.openpty()  # the slave stays open here, so that the line survives its host
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.name = os.ttyname(self._slave)
        self.dropped = 0
        self._alone = False  # nobody reads

    def read(self, wait_s: float) -> bytes:
        if select.select([self._master], [], [], wait_s)[0]:
            with contextlib.suppress(BlockingIOError):
                return os.read(self._master, 4096)
        return b""

    def write(self, data: bytes) -> None:
        """Waits for a host that is behind; without a host the bytes are lost."""
        while data:
            if not select.select([], [self._master], [], 0.0 if self._alone else _PATIENCE_S)[1]:
                self._alone = True
                self.dropped += len(data)
                return
            self._alone = False
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._master, data) :]

    def close(self) -> None:
        os.close(self._master)
        os.close(self._slave)


class TcpLine:
    """A TCP port of this computer. It serves one host at a time; the next may connect when the first has left."""

    def __init__(self, port: int = 0) -> None:
        try:
            self._server = socket.create_server(("127.0.0.1", port))
        except OSError as error:
            raise InputError(f"cannot listen on TCP port {port}: {error.strerror}; choose another port") from None
        self._server.setblocking(False)
        self._host: socket.socket | None = None
        self.name = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        self.dropped = 0

    def read(self, wait_s: float) -> bytes:
        host = self._host  # another thread may hang up meanwhile
        if host is None:
            if select.select([self._server], [], [], wait_s)[0]:
                self._host, _ = self._server.accept()
                self._host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return b""
        try:
            if not select.select([host], [], [], wait_s)[0]:
                return b""
            data = host.recv(4096)
        except (OSError, ValueError):  # it was closed
            data = b""
        if not data:
            self.hang_up()
        return data

    def write(self, data: bytes) -> None:
        host = self._host
        if host is None or not data:
            return
        try:
            host.settimeout(_PATIENCE_S)
            host.sendall(data)
        except OSError:  # it has left, or does not read
            self.dropped += len(data)
            self.hang_up()

    def hang_up(self) -> None:
        """Close the line to the host, as if its cable was pulled."""
        host, self._host = self._host, None
        if host is not None:
            host.close()

    def close(self) -> None:
        self.hang_up()
        self._server.close()


@contextmanager
def line_of(tcp: int | None) -> Iterator[PtyLine | TcpLine]:
    """A pseudo-terminal, or a TCP port if one is given (0: any that is free)."""
    line = PtyLine() if tcp is None else TcpLine(tcp)
    try:
        yield line
    finally:
        line.close()


def serve(
    module: VirtualModule,
    line: Line,
    *,
    until: Callable[[], bool],
    pace: float = 1.0,
    spoiled: Callable[[bytes], bytes] = lambda data: data,
    waits: bool = True,
) -> None:
    """Run the module on the line until `until` is true.

    pace: 1 is real time, more is faster.
    spoiled: faults of the line.
    waits: the motion waits until the module is started; before, it stays at its beginning.
    """
    began_s: float | None = None
    while not until():
        if began_s is None and (module.controller.running or not waits):
            began_s = time.monotonic() - module.time_us * 1e-6 / pace
        if began_s is not None:
            due_us = round((time.monotonic() - began_s) * pace * 1e6)
            most_us = module.time_us + round(_LONGEST_S * 1e6)
            if due_us > most_us:  # held up: it goes on from where it is
                began_s += (due_us - most_us) * 1e-6 / pace
            sent = module.run_until(min(due_us, most_us))
        else:
            sent = module.run_until(module.time_us)
        line.write(spoiled(sent))
        heard = line.read(_STEP_S)
        if heard:
            module.receive(heard)
