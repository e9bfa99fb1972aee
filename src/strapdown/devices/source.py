"""A live module as a source of samples: it is greeted, set, started, and started again after a reset or a lost line."""

import time
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from strapdown.devices.link import Link
from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder
from strapdown.devices.protocol.frame import Frame, on_the_line
from strapdown.devices.protocol.stream import Happened, ModuleStream, Stamped
from strapdown.errors import InputError

_FROM_MODULE = (of.HELLO, of.SAMPLE, of.STATUS, of.ANSWER)
_AGAIN_S = 0.25  # a command without an answer is repeated
_GREETING_S, _BAD_LINE_S = 3.0, 15.0  # how long a module may take to its first hello: silent, and on a bad line
_SOON_S = 0.05  # after an answer whose hello was lost
_SILENCE_S = 1.0  # without a sample, it is asked how it is


@runtime_checkable
class SampleSource(Protocol):
    """A serial link, a replayed log, a virtual module."""

    def samples(self) -> Iterator[Stamped]:
        """Samples with the module's time and the host's, until the source ends."""
        ...


class ModuleSource:
    """Samples of a live module.

    link: open.
    settings: written to the module before it is started.
    heard: called with each frame and the time of its arrival, before its samples are used; a recorder listens there.
    """

    def __init__(
        self,
        link: Link,
        settings: say.Settings = say.Settings(),  # noqa: B008
        heard: Callable[[Frame, float], None] = lambda frame, now: None,
    ) -> None:
        self.link, self.settings, self.heard = link, settings, heard
        self.stream = ModuleStream()
        self.decoder = Decoder(_FROM_MODULE)
        self.received = 0  # bytes
        self.greeted = self.stopped = False
        self.hello_frame: Frame | None = None
        self._sequence = 0
        self._refused: str | None = None
        self._todo: list[Callable[[int], Frame]] = []
        self._waiting: tuple[int, float] | None = None  # kind of the command that waits for its answer, since when
        self.last_sample_s = self._asked_s = time.monotonic()  # host's time; when it was last looked after
        self._was_lost = 0

    @property
    def happened(self) -> list[Happened]:
        """Events so far; the reader that shows them empties the list."""
        return self.stream.happened

    def greet(self) -> say.Hello:
        """Ask for the identity of the module, stop it and set it; a module that does not answer is refused in one
        sentence. The samples of the module are not used before start().
        """
        self._finish([say.ask_hello])
        self._finish([say.stop, *self._setting()])
        self.greeted = True
        assert self.stream.hello is not None
        return self.stream.hello

    def _finish(self, commands: list[Callable[[int], Frame]]) -> None:
        """Carry out commands before the module runs."""
        self._todo, self._waiting = commands, None
        began = time.monotonic()
        while self._todo or self.stream.hello is None:
            self._read()
            self._command()
            if self._refused is not None:
                raise InputError(self._refused)
            if time.monotonic() > began + (_BAD_LINE_S if self.decoder.good else _GREETING_S):
                if self.stream.hello is None:
                    raise InputError(self._no_hello())
                raise InputError(
                    f"the module on {self.link.name} does not answer commands; check its receive line (RX)"
                )

    def start(self) -> None:
        """Let it send samples; poll() repeats the command until the module has answered."""
        self._todo, self._waiting = [say.start], None
        self._asked_s = time.monotonic()

    def _no_hello(self) -> str:
        name = self.link.name
        if not self.received and name.startswith("tcp://"):
            return (
                f"no byte came from {name} in {_GREETING_S:g} s; a virtual module serves one program at a time, so end "
                "the other one, or check the port"
            )
        if not self.received:
            return (
                f"no byte came from {name} in {_GREETING_S:g} s; check power and wiring (TX, RX, ground) and the port"
            )
        if self.decoder.good:
            return f"the module on {name} sends frames but no hello; check that its receive line (RX) is connected"
        return (
            f"{self.received} bytes came from {name} and no frame was among them; check the baud rate "
            f"({self.link.baud} was used), or read it as text lines, with a column mapping"
        )

    def _begin(self) -> None:
        """Set the module and start it, as after power-up."""
        self._todo, self._waiting = [*self._setting(), say.start], None

    def _setting(self) -> list[Callable[[int], Frame]]:
        return [] if self.settings == say.Settings() else [lambda sequence: say.set_to(self.settings, sequence)]

    def _is_set(self) -> bool:
        """Whether the last hello states the requested settings: its units are then those of the samples."""
        hello, s = self.stream.hello, self.settings
        if hello is None:
            return False
        codes = (hello.acc_range, hello.gyr_range, hello.low_pass, hello.mag_range, hello.mag_rate, hello.mag_averaging)
        same = all(want in (have, say.UNCHANGED) for want, have in zip(s[:6], codes, strict=True))
        return same and s.rate_hz in (0, hello.rate_hz)

    def poll(self) -> list[Stamped]:
        """The samples that have arrived; waits a moment if none has. Keeps the module running."""
        found = self._read()
        now = time.monotonic()
        if self.link.lost != self._was_lost:
            self._was_lost = self.link.lost
            text = f"{self.link.name} has vanished; waiting for it to return"
            self.happened.append(Happened(self.stream.t_s, "vanished", text))
            self._begin()
        if found:
            self.last_sample_s = self._asked_s = now
        elif now - self._asked_s > _SILENCE_S and not self._todo and self.link.connected and not self.stopped:
            self._asked_s = now
            self._begin()
        self._command()
        return found

    def _read(self) -> list[Stamped]:
        data = self.link.read()
        if not data:
            return []
        now = time.monotonic()
        self.received += len(data)
        found: list[Stamped] = []
        for frame in self.decoder.feed(data):
            resets = self.stream.counts.resets
            if frame.kind != of.SAMPLE or self.greeted:
                found += self.stream.take(frame, now)
            if frame.kind == of.HELLO:
                self.hello_frame = frame
                self._hello_came()
            if frame.kind == of.ANSWER:
                self._answered(say.Answer.unpacked(frame.body))
            if self.stream.counts.resets != resets and not self.stopped:
                self._begin()
            if self.greeted:
                self.heard(frame, now)
        return found

    def _command(self) -> None:
        """Send the next command, or repeat one that has no answer."""
        now = time.monotonic()
        if not self._todo or (self._waiting is not None and now - self._waiting[1] < _AGAIN_S):
            return
        self._sequence = self._sequence + 1 & 0xFFFF
        frame = self._todo[0](self._sequence)
        self._waiting = (frame.kind, now)
        self.link.write(b"\0" + on_the_line(frame))

    def _answered(self, answer: say.Answer) -> None:
        if self._waiting is None or answer.command != self._waiting[0]:
            return
        if answer.command in (of.ASK_HELLO, of.SET) and answer.result == say.DONE:  # done when its hello has come
            self._waiting = (answer.command, time.monotonic() - _AGAIN_S + _SOON_S)
        else:
            self._next()
        if answer.result == say.OUT_OF_RANGE:
            self._refused = "the module refuses these settings; see ranges and the greatest rate with device list"
        elif answer.result == say.NO_ANSWER_OF_CHIP:
            self.happened.append(Happened(self.stream.t_s, "chip", "a chip of the module did not answer the settings"))

    def _hello_came(self) -> None:
        waits_for = None if self._waiting is None else self._waiting[0]
        if waits_for == of.ASK_HELLO or (waits_for == of.SET and self._is_set()):
            self._next()

    def _next(self) -> None:
        self._waiting = None
        if self._todo:
            self._todo.pop(0)

    def light(self, pattern: int) -> None:
        """Set the host's light."""
        self._todo.append(lambda sequence: say.light(say.HOST_LIGHT, pattern, sequence))

    def samples(self) -> Iterator[Stamped]:
        """Samples until stop() is called."""
        while not self.stopped:
            yield from self.poll()

    def stop(self) -> list[Stamped]:
        """Ask the module to stop; returns the samples that were on their way."""
        self.stopped = True
        self._todo, self._waiting = [say.stop], None
        until = time.monotonic() + 2 * _AGAIN_S
        found: list[Stamped] = []
        while self._todo and time.monotonic() < until and self.link.connected:
            self._command()
            found += self._read()
        return found

    def close(self) -> None:
        self.link.close()
