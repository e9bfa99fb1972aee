"""Earlier runs of a session. Recordings of takes are kept on disk until the session ends."""

import copyreg
import pickle
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from strapdown.environment.session.recording.record import SessionRecording
from strapdown.errors import InputError
from strapdown.studio import messages as m


def _view(values: dict[str, Any]) -> Any:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda view: (_view, (dict(view),)))  # the meta of a Recording


@dataclass
class KeptTake:
    about: m.Take
    path: Path
    writing: Future[Any]


class Takes:
    """At most `most` takes in a private folder; the oldest is dropped."""

    def __init__(self, folder: Path, most: int, worker: Executor) -> None:
        self._folder, self._most, self._worker = folder, most, worker
        self.present = 1  # number of the run that goes on
        self._kept: list[KeptTake] = []

    def keep(self, run: SessionRecording, left_s: float, end_s: float) -> m.Takes:
        """The present run becomes a take, and a new one begins at left_s."""
        number, self.present = self.present, self.present + 1
        path = self._folder / f"take-{number}.pickle"
        title = f"take {number}, to {end_s:.2f} s"
        about = m.Take(number=number, from_s=left_s, end_s=end_s, title=title)
        self._kept.append(KeptTake(about, path, self._worker.submit(write_run, path, run)))
        dropped = None
        if len(self._kept) > self._most:
            old = self._kept.pop(0)
            dropped = old.about.title
            self._worker.submit(old.path.unlink, missing_ok=True)
        return self.message(dropped)

    def message(self, dropped: str | None = None) -> m.Takes:
        return m.Takes(present=self.present, takes=[take.about for take in self._kept], dropped=dropped)

    def recording(self, number: int) -> SessionRecording:
        """Call it in the worker: reading takes a while."""
        for take in self._kept:
            if take.about.number == number:
                with take.path.open("rb") as file:  # written by this process into its own folder
                    found: SessionRecording = pickle.load(file)
                return found
        raise InputError(f"take {number} is not kept any more")

    def clear(self) -> None:
        for take in self._kept:
            self._worker.submit(take.path.unlink, missing_ok=True)
        self._kept, self.present = [], 1


def write_run(path: Path, run: SessionRecording) -> None:
    """Write the run; only this process uses the files."""
    with path.open("wb") as file:
        pickle.dump(run, file, protocol=5)
