"""The process in which the simulation runs, as the server uses it: start, send, receive, end.

The simulation itself is imported in that process only: the server needs neither its memory nor its time to load.
"""

import asyncio
import multiprocessing
import queue
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from strapdown.errors import StrapdownError
from strapdown.studio.buffers import Buffers

_ENOUGH_S = 15.0  # for the simulation to end


class Settings(NamedTuple):
    """Settings with which the process starts.

    scratch: a private folder for uploads, takes and downloads.
    device: port of a live module that is opened first.
    campaign: folder of a campaign.
    run: key of one of its runs, opened first.
    """

    scratch: Path
    opened: Path | None = None
    folder: Path | None = None
    blocks: tuple[Path, ...] = ()
    buffers: Buffers = Buffers()
    device: str | None = None
    baud: int | None = None
    campaign: Path | None = None
    run: str | None = None


class SimulationProcess:
    """The process in which the simulation runs, and the pipe to it.

    on: called in the event loop with each message; ("gone",) is the last one. Two threads wait at the pipe.
    """

    def __init__(self, settings: Settings, loop: asyncio.AbstractEventLoop, on: Callable[[Any], None]) -> None:
        self._loop, self._on = loop, on
        self._outgoing: queue.Queue[Any] = queue.Queue()
        spawn = multiprocessing.get_context("spawn")
        self._link, theirs = spawn.Pipe()
        self._process = spawn.Process(target=main, args=(theirs, settings), daemon=True)
        self._process.start()
        theirs.close()
        for target in (self._listen, self._pass_on):
            threading.Thread(target=target, daemon=True).start()

    def post(self, message: tuple[Any, ...]) -> None:
        self._outgoing.put(message)

    @property
    def waiting(self) -> int:
        """Messages that the process has not taken yet."""
        return self._outgoing.qsize()

    def _listen(self) -> None:
        while True:
            try:
                message = self._link.recv()
            except (EOFError, OSError):
                message = ("gone",)
            try:
                self._loop.call_soon_threadsafe(self._on, message)
            except RuntimeError:  # the loop has ended
                return
            if message[0] == "gone":
                return

    def _pass_on(self) -> None:
        while (message := self._outgoing.get()) is not None:
            try:
                self._link.send(message)
            except (OSError, ValueError):
                return

    def close(self) -> None:
        """End the thread that passes messages on."""
        self._outgoing.put(None)

    async def stop(self) -> None:
        """End the simulation; what it has recorded is kept."""
        self.post(("stop",))
        until = time.monotonic() + _ENOUGH_S
        while self._process.is_alive() and time.monotonic() < until:
            await asyncio.sleep(0.02)
        if self._process.is_alive():
            self._process.kill()
        self.close()


def main(link: Connection, settings: Settings) -> None:
    """The process. The process ends on ("stop",) or when the server has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then stops this process
    from strapdown.studio.simulation.process import Simulation

    try:
        simulation = Simulation(link, settings)
    except StrapdownError as error:
        link.send(("failed", str(error)))
        return
    link.send(("ready",))
    try:
        simulation.begin()
        simulation.loop()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        simulation.close()
        return
    said = simulation.close()
    link.send(("ended", said))
    link.close()
