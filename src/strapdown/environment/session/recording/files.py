"""A recorded session as files: recording.parquet for orient, navigate and calibrate; signals.parquet; session.json."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from strapdown.environment.session.console import Console
from strapdown.environment.session.recording.record import SessionRecording
from strapdown.errors import InputError
from strapdown.io import write
from strapdown.io.atomic import whole_file
from strapdown.io.parquet import parquet_file

VERSION = 1
RECORDING, SIGNALS, SESSION, DIAGRAM = "recording.parquet", "signals.parquet", "session.json", "diagram.toml"
_AXES = {3: "xyz", 4: "wxyz"}


def write_session(folder: str | PathLike[str], run: SessionRecording) -> list[str]:
    """Write the files of a session into an existing folder; returns their names."""
    folder = Path(folder)
    names = [SIGNALS, SESSION, DIAGRAM]
    if run.recordings:
        write(folder / RECORDING, dict(run.recordings))
        names.insert(0, RECORDING)
    with whole_file(folder / SIGNALS) as tmp:
        pq.write_table(_table(run), tmp)
    meta = {"version": VERSION, **run.meta}
    with whole_file(folder / SESSION) as tmp:
        Path(tmp).write_text(json.dumps(meta, indent=1, sort_keys=True, default=_plain) + "\n", encoding="utf-8")
    with whole_file(folder / DIAGRAM) as tmp:
        Path(tmp).write_text(str(run.meta["diagram"]), encoding="utf-8")
    return names


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _table(run: SessionRecording) -> pa.Table:
    """One row for each control cycle. A vector has a column for each number."""
    columns: dict[str, Any] = {"t [s]": run.t}
    for name, values in run.signals.items():
        unit = run.units[name]
        if values.ndim == 1:
            columns[f"{name} [{unit}]"] = values
        else:
            flat = values.reshape(len(values), -1)
            axes = _AXES.get(flat.shape[1]) or [str(k + 1) for k in range(flat.shape[1])]
            columns |= {f"{name}.{axis} [{unit}]": flat[:, k] for k, axis in enumerate(axes)}
    for i, axis in enumerate("xyz"):
        columns[f"true position.{axis} [m]"] = run.truth.p_n[:, i]
        columns[f"true velocity.{axis} [m/s]"] = run.truth.v_n[:, i]
    for i, axis in enumerate("wxyz"):
        columns[f"true attitude.{axis} [1]"] = run.truth.q_nb[:, i]
    columns |= {f"actuator {name}": values for name, values in run.actuators.items()}
    table = pa.table({name: pa.array(np.ascontiguousarray(values)) for name, values in columns.items()})
    notes = {"strapdown_session": str(VERSION), "sliders": json.dumps(run.meta["sliders"])}
    return table.replace_schema_metadata(notes)


def read_console(path: str | PathLike[str]) -> list[tuple[float, dict[str, Any]]]:
    """Actions of the operator in a recorded session: times and changes of the console.

    path: folder of the session or its signals.parquet.
    """
    path = Path(path)
    path = path / SIGNALS if path.is_dir() else path
    with parquet_file(path, "session", "record") as file:
        names = file.schema_arrow.names
        controls = {name: _column(names, name) for name in Console._fields if name != "sliders"}
        notes = file.schema_arrow.metadata or {}
        moved = json.loads(notes.get(b"sliders", b"[]"))
        sliders = {name: name.partition(".out [")[0] for name in names if name.partition(".out [")[0] in moved}
        missing = [name for name, column in controls.items() if column is None]
        if "t [s]" not in names or missing:
            raise InputError(f"{path}: has no console; give the folder or signals.parquet of a recorded session")
        wanted = ["t [s]", *(column for column in controls.values() if column), *sliders]
        table = file.read(columns=wanted)
    t = table.column("t [s]").to_numpy()
    changes: dict[float, dict[str, Any]] = {}
    for name, column in controls.items():
        values = table.column(column).to_numpy()
        for i in np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0):
            if np.isfinite(values[i]):
                changes.setdefault(float(t[i]), {})[name] = float(values[i])
    for column, slider in sliders.items():
        values = table.column(column).to_numpy()
        for i in np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0):
            if np.isfinite(values[i]):
                changes.setdefault(float(t[i]), {}).setdefault("sliders", {})[slider] = float(values[i])
    return sorted(changes.items())


def _column(names: list[str], control: str) -> str | None:
    return next((name for name in names if name.partition(" [")[0].endswith(f"console.{control}")), None)
