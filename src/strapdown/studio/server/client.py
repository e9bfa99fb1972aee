"""One page: its subscriptions, waiting messages and frames. A slow page only misses frames."""

import asyncio
import time
from collections import deque
from typing import NamedTuple

from strapdown.studio.buffers import CHART_HZ, Buffers
from strapdown.studio.messages import frame
from strapdown.studio.server.samples import Places, Samples

PER_S = 200.0  # commands of one client; twice as many at once
_GAP = 1 << frame.STATES.index("gap")


class Now(NamedTuple):
    """Content of the newest frame, for all clients."""

    epoch: int
    sequence: int
    t_s: float
    factor: float
    speed: float
    bits: int
    take: int
    estimate: tuple[float, ...]
    console: tuple[float, ...]
    poses: bytes
    bodies: int


class Client:
    def __init__(self, number: int, buffers: Buffers) -> None:
        self.number, self.name = number, f"client {number}"
        self._buffers = buffers
        self.signals: list[str] = []  # as asked for
        self.carried: list[str] = []  # that exist
        self._places: list[tuple[int, int]] = []
        self._columns = 0
        self.watches = False
        self.closed = False
        self.task: asyncio.Task[None] | None = None  # that serves it
        self.wake = asyncio.Event()
        self._texts: deque[str | bytes] = deque()
        self._waiting = 0  # bytes
        self._row = 0  # next row of the samples to send
        self._sent = 0  # sequence of the last frame
        self._dropped = 0
        self._frame_due = False
        self._commands, self._asked_at = 2.0 * PER_S, time.monotonic()

    def may_ask(self) -> bool:
        """Limit of commands: a bucket that fills with time and loses one per command; False if it is empty."""
        now = time.monotonic()
        left = min(2.0 * PER_S, self._commands + (now - self._asked_at) * PER_S)
        self._commands, self._asked_at = max(left - 1.0, 0.0), now
        return left >= 1.0

    def say(self, text: str | bytes) -> bool:
        """Queue a message. Send a message. False: too many messages were waiting; they are dropped, and the client must
        be disconnected.
        """
        self._texts.append(text)
        self._waiting += len(text)
        self.wake.set()
        buffers = self._buffers
        if len(self._texts) <= buffers.texts and self._waiting <= buffers.text_bytes:
            return True
        self._texts.clear()
        self._waiting = 0
        return False

    def subscribe(self, signals: list[str], places: Places) -> None:
        self.signals = list(dict.fromkeys(signals))
        self.laid_out(places)

    def laid_out(self, places: Places) -> None:
        """The list of signals has changed."""
        self.carried = [name for name in self.signals if name in places]
        self._places = [places[name] for name in self.carried]
        self._columns = sum(count for _, count in self._places)

    def begin(self, row: int) -> None:
        """Send samples from this row on."""
        self._row = row

    def cut(self, end: int) -> None:
        self._row = min(self._row, end)

    def tick(self) -> None:
        """Announce a new frame."""
        self._frame_due = True
        self.wake.set()

    def take_text(self) -> str | bytes | None:
        if not self._texts:
            return None
        text = self._texts.popleft()
        self._waiting -= len(text)
        return text

    def take_frame(self, now: Now | None, samples: Samples | None) -> bytes | None:
        """The newest frame, with all samples since the last one; None if there is nothing new."""
        if not self._frame_due or now is None or samples is None:
            return None
        self._frame_due = False
        if self._sent:
            self._dropped += max(0, now.sequence - self._sent - 1)
        self._sent = now.sequence
        first = max(self._row, samples.first, samples.end - round(self._buffers.backlog_s * CHART_HZ))
        bits = now.bits | (_GAP if first > self._row else 0)
        self._row = samples.end
        t, rows, _ = samples.part(first, samples.end)
        head = frame.Head(
            now.epoch,
            now.sequence & 0xFFFFFFFF,
            now.t_s,
            now.factor,
            now.speed,
            bits,
            now.bodies,
            len(t),
            self._columns,
            now.take,
            self._dropped & 0xFFFFFFFF,
            now.estimate,
            now.console,
        )
        columns = [rows[:, a : a + n].tobytes() for a, n in self._places]
        return frame.packed(frame.FRAME, head, t.tobytes(), now.poses, columns)
