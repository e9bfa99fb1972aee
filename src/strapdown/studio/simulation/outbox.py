"""Output of the simulation to the server: messages, and rows of numbers that wait for the next frame."""

import threading
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.studio import messages as m


class Outbox:
    """The outbox is used by the loop of the simulation and by its worker."""

    def __init__(self, link: Connection) -> None:
        self._link, self._lock = link, threading.Lock()
        self.forget_rows()

    def send(self, message: tuple[Any, ...]) -> None:
        with self._lock:
            self._link.send(message)

    def say(self, message: m.Part, client: int | None = None) -> None:
        """Send a message to a client; None: to all."""
        self.send(("say", client, message.type, m.text_of(message)))  # type: ignore[attr-defined]

    def put_row(self, t_s: float, numbers: Array, poses: Array) -> None:
        """Numbers of all charts and poses of all bodies at a time."""
        self._times.append(t_s)
        self._rows.append(numbers.astype("<f4").tobytes())
        self._poses.append(poses.astype("<f4").tobytes())

    def send_frame(self, numbers: tuple[Any, ...], console: tuple[float, ...], poses: Array) -> None:
        """The present state with all rows since the last frame."""
        times = np.array(self._times, "<f8").tobytes()
        rows, past = b"".join(self._rows), b"".join(self._poses)
        self.send(("rows", numbers, console, times, rows, past, poses.astype("<f4").tobytes(), len(self._times)))
        self.forget_rows()

    def forget_rows(self) -> None:
        self._times: list[float] = []
        self._rows: list[bytes] = []
        self._poses: list[bytes] = []
