"""Opening a live module in a separate thread, because a module may take seconds to answer."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from strapdown.errors import InputError, StrapdownError
from strapdown.studio.messages import commands as c
from strapdown.studio.stage.device_stage import DeviceStage

Opened = tuple[int, c.Open, DeviceStage | None, str]  # client, its command, the stage or the sentence of an error


class DeviceOpener:
    """One module at a time.

    folder: folder for recordings.
    """

    def __init__(self, folder: Path, worker: Executor) -> None:
        self._folder, self._worker = folder, worker
        self._thread: threading.Thread | None = None
        self._found: Opened | None = None

    def begin(self, client: int, command: c.Open, internal: Callable[[Exception], str]) -> None:
        if self._thread is not None:
            raise InputError("a module is being opened; wait until it has answered")

        def work() -> None:
            stage: DeviceStage | None = None
            error = ""
            try:
                assert command.device is not None
                stage = DeviceStage(command.device.strip(), self._folder, self._worker, command.baud)
            except StrapdownError as problem:
                error = str(problem)
            except Exception as problem:
                error = internal(problem)
            self._found = (client, command, stage, error)

        self._thread = threading.Thread(target=work, name="opening", daemon=True)
        self._thread.start()

    def done(self) -> Opened | None:
        """The opened module or the error, once."""
        if self._found is None or self._thread is None:
            return None
        self._thread.join()
        found, self._found, self._thread = self._found, None, None
        return found

    def close(self) -> None:
        """A module that is still being opened is stopped."""
        if self._thread is not None:
            self._thread.join()
            found: Any = self.done()
            if found is not None and found[2] is not None:
                found[2].close()
