"""The interval that the user records. When it ends it is written to disk, so that the session can drop its readings."""

import pickle
from concurrent.futures import Executor
from pathlib import Path

from strapdown.environment.session.recording.record import SessionRecording, recording_of
from strapdown.environment.session.session import Session
from strapdown.errors import InputError
from strapdown.studio.simulation.stretch import stretch
from strapdown.studio.simulation.takes import write_run


class Recorder:
    """Records the session to files.

    folder: a private folder.
    most_s: longest recording; it then ends automatically.
    """

    def __init__(self, folder: Path, worker: Executor, most_s: float) -> None:
        self._path, self._worker, self.most_s = folder / "recording.pickle", worker, most_s
        self.clear()

    def clear(self) -> None:
        """Nothing is recorded."""
        self.from_s: float | None = None  # begin of the recording that runs
        self.ended = False  # one is on disk

    def begin(self, t_s: float) -> None:
        if self.from_s is None:
            self.from_s, self.ended = t_s, False

    def end(self, session: Session) -> None:
        """The recording that has ended is complete. The worker writes it before any later request."""
        if self.from_s is None:
            return
        try:
            run = stretch(recording_of(session), self.from_s, session.t_s)
        except InputError:  # it was ended before a reading came
            self.from_s = None
            return
        self._worker.submit(write_run, self._path, run)
        self.from_s, self.ended = None, True

    def rewound(self, to_s: float) -> None:
        """The session continues from an earlier time: a recording that began later is dropped; one that has ended
        stays.
        """
        if self.from_s is not None and self.from_s >= to_s:
            self.from_s = None

    def too_long(self, t_s: float) -> bool:
        return self.from_s is not None and t_s - self.from_s > self.most_s

    def kept(self) -> SessionRecording:
        """The recording that has ended. Call it in the worker: reading takes a while."""
        with self._path.open("rb") as file:  # written by this process into its own folder
            found: SessionRecording = pickle.load(file)
        return found
