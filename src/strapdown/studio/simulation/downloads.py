"""Files that a page downloads: recordings, reports, scenario, diagram. Downloads are written by a worker."""

import shutil
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from strapdown.environment.diagram.file import diagram_text
from strapdown.environment.session.recording.files import write_session
from strapdown.environment.session.recording.record import SessionRecording, recording_of
from strapdown.environment.session.recording.report import write_session_report
from strapdown.environment.session.session import Session
from strapdown.errors import InputError, StrapdownError
from strapdown.io import write
from strapdown.io.toml_text import toml_key, toml_value
from strapdown.studio.simulation.picture import vehicle_picture
from strapdown.studio.simulation.recorder import Recorder
from strapdown.studio.simulation.stretch import stretch
from strapdown.studio.simulation.takes import Takes
from strapdown.studio.stage.device_stage import DeviceStage
from strapdown.studio.stage.live_stage import LiveStage

Done = Callable[[Path | None, str, str], None]  # path, name for the download, sentence of an error


class Downloads:
    def __init__(self, folder: Path, worker: Executor, takes: Takes) -> None:
        self._folder, self._worker, self._takes = folder, worker, takes
        self._count = 0

    def make(self, what: str, query: dict[str, str], stage: Any, recorder: Recorder, done: Done) -> None:
        """Write a file and call done. The session is read at once, the file is written later."""
        self._count += 1
        path = self._folder / f"download-{self._count}"
        if what == "picture":
            self._worker.submit(_draw, path, query.get("name", ""), done)
            return
        if isinstance(stage, DeviceStage):
            if what not in ("recording", "log") or stage.recorded is None:
                raise InputError("there is no recording of the module; record one first")
            shutil.copy2(stage.recorded, path)
            done(path, stage.recorded.name, "")
            return
        if not isinstance(stage, LiveStage):
            raise InputError("there is no session to download; open a scenario first")
        if what in ("scenario", "diagram"):
            text = scenario_text(stage.session) if what == "scenario" else diagram_text(stage.session.runner.diagram)
            path.write_text(text, encoding="utf-8")
            done(path, f"{what}.toml", "")
            return
        take = _number(query, "take")
        first, last = _number(query, "from_s"), _number(query, "to_s")
        recorded = take is None and first is None and last is None
        if recorded:
            first = recorder.from_s
        from_disk = take is not None or (recorded and recorder.ended)
        run = None if from_disk else recording_of(stage.session)
        takes = self._takes

        def work() -> None:
            try:
                whole = run if run is not None else recorder.kept() if take is None else takes.recording(int(take))
                part = stretch(whole, first, last)
                name = _written(path, what, part, query.get("sensor"))
            except StrapdownError as error:
                done(None, "", str(error))
            except Exception as error:
                done(None, "", f"internal error ({type(error).__name__}: {error}); please report it"[:400])
            else:
                done(path, name, "")

        self._worker.submit(work)

    def keep(self, session: Session, recorder: Recorder, folder: Path) -> str:
        """At the end: put the recording into a new folder. Returns a sentence on it; "" if nothing was recorded."""
        recorder.end(session)
        if not recorder.ended:
            return ""
        try:
            run = self._worker.submit(recorder.kept).result()
            target = folder / f"strapdown-studio-{time.strftime('%Y%m%d-%H%M%S')}"
            target.mkdir()
            write_session(target, run)
        except (StrapdownError, OSError) as error:
            return f"the recording could not be kept: {error}"
        return f"the recording is in {target}"


def _draw(path: Path, name: str, done: Done) -> None:
    try:
        path.write_text(vehicle_picture(name), encoding="utf-8")
    except StrapdownError as error:
        done(None, "", str(error))
    else:
        done(path, f"{name}.svg", "")


def _written(path: Path, what: str, run: SessionRecording, sensor: str | None) -> str:
    """Write the file; returns its name for the user."""
    if what == "report":
        write_session_report(path, run)
        return "report.html"
    if what == "log":
        if not run.recordings:
            raise InputError("no sensor has a log; add a sensor with accelerometer and gyroscope")
        name = sensor or next(iter(run.recordings))
        if name not in run.recordings:
            raise InputError(f'sensor "{name[:60]}" has no log; valid names: {", ".join(run.recordings)}')
        named = path.with_suffix(".parquet")
        write(named, {name: run.recordings[name]})
        named.rename(path)
        return f"{''.join(x if x.isalnum() else '_' for x in name)}.parquet"
    folder = path.with_suffix(".folder")
    folder.mkdir()
    try:
        names = write_session(folder, run)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:  # Parquet is compressed already
            for name in names:
                file.write(folder / name, f"recording/{name}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return "recording.zip"


def _number(query: dict[str, str], name: str) -> float | None:
    if name not in query or query[name] == "":
        return None
    try:
        value = float(query[name])
    except ValueError:
        value = float("nan")
    if not 0.0 <= value < 1e9:
        raise InputError(f"{name} is {query[name][:40]!r}; give a number that is not negative")
    return value


def scenario_text(session: Session) -> str:
    """The present scenario as TOML."""
    values = session.scenario.model_dump(mode="json", exclude_unset=True, exclude_none=True, exclude={"folder"})
    values = {"version": 1, **values}
    lines, tables = [], []
    for key, value in values.items():
        if isinstance(value, dict):
            tables += ["", f"[{toml_key(key)}]", *_keys(value)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                tables += ["", f"[[{toml_key(key)}]]", *_keys(item)]
        else:
            lines.append(f"{toml_key(key)} = {toml_value(value, key)}")
    return "\n".join([*lines, *tables]) + "\n"


def _keys(table: dict[str, Any]) -> list[str]:
    return [f"{toml_key(key)} = {toml_value(value, key)}" for key, value in table.items()]
