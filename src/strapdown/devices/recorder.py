"""Write the data of a module to files that survive a missing end: nothing needs to be closed, nothing is rewritten.

Frames are written to the file as they arrive. Once a second a separate thread writes a mark and forces the file to the
disk. A slow disk does not delay the line. So after a crash of the program the file has all frames that had arrived.
After a loss of power it has all but those of the last second or two, if the disk has written what it confirmed.
"""

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from strapdown.devices.protocol.frame import HELLO, SAMPLE, Frame, on_the_line
from strapdown.devices.protocol.mark import Mark
from strapdown.devices.protocol.recorded import HEAD, SUFFIX
from strapdown.devices.protocol.stream import ModuleStream
from strapdown.errors import InputError

SYNC_S = 1.0


class Recorder:
    """Files in a folder, each of at most `minutes`; their names sort by time.

    hello: hello frame of a module that is already sending; its next sample begins the first file.
    bad: number of earlier bad frames.
    """

    def __init__(
        self, folder: Path, stream: ModuleStream, minutes: float = 60.0, hello: Frame | None = None, bad: int = 0
    ) -> None:
        if not minutes > 0.0:
            raise InputError(f"a file of {minutes:g} minutes was asked for; give a number above 0")
        self.folder, self.stream, self._file_s = folder, stream, 60.0 * minutes
        self.files: list[Path] = []
        self.bytes = 0
        self._file: int | None = None
        self._began_s = self._marked_s = 0.0
        self._marks = 0
        self._hello = hello
        self._before = stream.counts.lost, bad
        self._wake, self._done = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._failed: OSError | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._thread = threading.Thread(target=self._sync, name="fsync of the recording", daemon=True)
        self._thread.start()

    def put(self, frame: Frame, now_s: float, bad: int = 0) -> None:
        """Write a frame, after the stream has taken it.

        now_s: monotone.
        bad: number of bad frames so far.
        """
        if self._failed is not None:
            raise self._failed
        if frame.kind == HELLO:
            self._hello = frame
        if self._hello is None or (self._file is None and frame.kind not in (HELLO, SAMPLE)):
            return  # a file begins with a hello, and its mark belongs to a stamp of the axis
        # a mark belongs to a sample, whose stamp has moved the axis; the first one and that of a reset to a hello
        sample = frame.kind == SAMPLE
        if self._file is None or (sample and now_s - self._began_s >= self._file_s):
            self._new_file(now_s, frame, bad)
            if frame.kind == HELLO:
                return
        elif self.stream.rebased or (sample and now_s - self._marked_s >= SYNC_S):
            self._mark(frame, now_s, bad)
        self._write(on_the_line(frame))

    def _new_file(self, now_s: float, frame: Frame, bad: int) -> None:
        assert self._hello is not None and self.stream.hello is not None
        self._close_file()
        began = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        for number in range(1, 1000):
            path = self.folder / f"{began}-{self.stream.hello.serial[:8]}-{number:03d}{SUFFIX}"
            try:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
            except FileExistsError:
                continue
            break
        else:
            raise InputError(f"{self.folder} has a thousand recordings of this second; choose another folder")
        with self._lock:
            self._file = file
        self.files.append(path)
        self._began_s = now_s
        self._write(HEAD + on_the_line(self._hello))
        self._mark(frame, now_s, bad)

    def _mark(self, frame: Frame, now_s: float, bad: int) -> None:
        self.stream.rebased = False
        self._marked_s = now_s
        lost_before, bad_before = self._before
        lost, worse = self.stream.counts.lost - lost_before, bad - bad_before
        mark = Mark(time.time_ns(), self.stream.axis.offset_us, lost, worse)
        self._write(on_the_line(mark.frame(self._marks, frame.time_us)))
        self._marks += 1
        self._wake.set()

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
        self.bytes += len(data)

    def _sync(self) -> None:
        while not self._done.is_set():
            self._wake.wait()
            self._wake.clear()
            with self._lock:  # the descriptor must not be closed meanwhile
                if self._file is not None:
                    try:
                        os.fsync(self._file)
                    except OSError as error:
                        self._failed = error

    def _close_file(self) -> None:
        with self._lock:
            if self._file is not None:
                os.fsync(self._file)
                os.close(self._file)
                self._file = None

    def close(self) -> None:
        """Force the last file to the disk."""
        self._close_file()
        self._done.set()
        self._wake.set()
        self._thread.join()
