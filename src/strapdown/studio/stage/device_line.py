"""The line to a module: a separate thread reads and records it, so that no reading waits for the page."""

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from strapdown.devices.greeting import greeted_module
from strapdown.devices.link import BAUD
from strapdown.devices.protocol.stream import Happened, Stamped
from strapdown.devices.recorder import Recorder
from strapdown.errors import InputError, StrapdownError

_WAITING = 60_000  # samples that wait for the stage at most: a minute at 1 kHz
_ANSWER_S = 10.0  # the thread looks at requests at least 50 times a second; a disk can be slower
_ONE_FILE_MINUTES = 1e6


class DeviceLine:
    """The module is greeted and running when this object is made. Raises InputError if the port cannot be opened or no
    module answers.

    arrived: samples that the stage has not taken.
    happened: events, oldest first.
    failed: a sentence, if reading has ended by an error.
    """

    def __init__(self, name: str, baud: int = BAUD) -> None:
        self.source = greeted_module(name, baud)
        self.arrived: deque[Stamped] = deque(maxlen=_WAITING)
        self.happened: deque[Happened] = deque(maxlen=1000)
        self.failed = ""
        self.recorder: Recorder | None = None
        self._requests: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="module line", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        source = self.source
        source.start()
        try:
            while not self._over.is_set():
                self.arrived.extend(source.poll())
                self.happened.extend(source.happened)
                source.happened.clear()
                self._serve()
            source.stop()
        except Exception as error:
            self.failed = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        finally:
            self._end_recording()
            source.close()
            self._over.set()
            self._serve()

    def _serve(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                action, answer = self._requests.get_nowait()
                try:
                    answer.set_result(action())
                except Exception as error:
                    answer.set_exception(error)

    def _ask(self, action: Callable[[], Any]) -> Any:
        """Carry out an action between two readings of the line."""
        if self._over.is_set():
            raise InputError("the line to the module is closed; open it again")
        answer: Future[Any] = Future()
        self._requests.put((action, answer))
        try:
            return answer.result(_ANSWER_S)
        except TimeoutError:
            raise InputError(f"the line does not answer within {_ANSWER_S:g} s; open the module again") from None
        except OSError as error:
            raise InputError(f"the recording cannot be written: {error.strerror or error}") from None

    # recording

    def record(self, folder: Path) -> None:
        """Begin a recording in the folder with the next sample."""
        self._ask(lambda: self._begin_recording(folder))

    def end_recording(self) -> Path | None:
        """The recorded file; None: no sample has arrived since the recording began."""
        found: Path | None = self._ask(self._end_recording)
        return found

    def _begin_recording(self, folder: Path) -> None:
        if self.recorder is not None:
            return
        source = self.source
        made = Recorder(folder, source.stream, _ONE_FILE_MINUTES, source.hello_frame, source.decoder.bad)

        def put(frame: Any, now_s: float) -> None:
            try:
                made.put(frame, now_s, source.decoder.bad)
            except (OSError, StrapdownError) as error:  # the disk is full: what is there stays, reading goes on
                source.heard = lambda frame, now: None
                text = f"recording stopped: {getattr(error, 'strerror', None) or error}"
                self.happened.append(Happened(source.stream.t_s, "recording", text))

        self.recorder, source.heard = made, put

    def _end_recording(self) -> Path | None:
        made, self.recorder = self.recorder, None
        if made is None:
            return None
        self.source.heard = lambda frame, now: None
        with contextlib.suppress(OSError):
            made.close()
        return made.files[0] if made.files else None

    def close(self) -> None:
        """Stop the module and close the port."""
        self._over.set()
        self._thread.join(_ANSWER_S)

    @property
    def idle_s(self) -> float:
        """Time since the last sample."""
        return time.monotonic() - self.source.last_sample_s
