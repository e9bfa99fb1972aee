"""Read and write recordings; the suffix of the path chooses the format."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path

from strapdown.errors import InputError
from strapdown.io.atomic import writable_target
from strapdown.io.columns import listed
from strapdown.io.csv import read_csv, write_csv
from strapdown.io.mapping import ColumnMapping
from strapdown.io.module_log import read_module
from strapdown.io.parquet import read_parquet, write_parquet
from strapdown.types import Recording

_Reader = Callable[[Path, ColumnMapping | None, Callable[[float], None]], dict[str, Recording]]
_Writer = Callable[[Path, Mapping[str, Recording]], None]

FORMATS: dict[str, tuple[_Reader, _Writer]] = {
    ".csv": (read_csv, write_csv),
    ".csv.gz": (read_csv, write_csv),
    ".parquet": (read_parquet, write_parquet),
}

# read only: strapdown device record writes them while it records
READ_ONLY: dict[str, _Reader] = {".module": read_module}


def write(path: str | PathLike[str], recordings: Mapping[str, Recording]) -> None:
    """Write named recordings into one file; it appears whole or not at all."""
    path = Path(path)
    _format(path)[1](path, recordings)


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a path that write() would refuse, before anything is computed for it."""
    _format(Path(path))
    writable_target(path)


def read(
    path: str | PathLike[str],
    columns: ColumnMapping | None = None,
    done: Callable[[float], None] = lambda part: None,
) -> dict[str, Recording]:
    """All sensors of a file, by name. The file is read as a stream: in memory is what it holds, not what it is.

    `columns` reads a foreign file: our column -> its column, or our column -> {"column": ..., "unit": ...}.
    Only the mapped columns are read then. A file without sensor names has one sensor, called after the file.
    done: called with the part of the file that is read, 0 to 1.
    """
    path = Path(path)
    reader = next((r for suffix, r in READ_ONLY.items() if path.name.lower().endswith(suffix)), None)
    found = (reader or _format(path)[0])(path, columns, done)
    return {name: _with_full_paths(recording, path.parent) for name, recording in found.items()}


_FILES_IN_META = ("part", "magnetometer_part", "model")


def _with_full_paths(recording: Recording, folder: Path) -> Recording:
    """A file that the log names by a relative path is looked for next to the log, not in the working folder."""
    named = {key: recording.meta.get(key) for key in _FILES_IN_META}
    full = {
        key: str((folder / value).resolve())
        for key, value in named.items()
        if isinstance(value, str) and value.lower().endswith(".toml") and not Path(value).is_absolute()
    }
    return recording.with_meta(**full) if full else recording


def read_one(path: str | PathLike[str], sensor: str | None = None, columns: ColumnMapping | None = None) -> Recording:
    """The sensor of that name, or the only one of the file."""
    recordings = read(path, columns)
    if sensor is None and len(recordings) > 1:
        raise InputError(f"{path} holds the sensors {listed(list(recordings))}; say which one to read")
    if sensor is not None and sensor not in recordings:
        raise InputError(f"{path} has no sensor {sensor}; it has {listed(list(recordings))}")
    return next(iter(recordings.values())) if sensor is None else recordings[sensor]


def _format(path: Path) -> tuple[_Reader, _Writer]:
    name = path.name.lower()
    for suffix, functions in FORMATS.items():
        if name.endswith(suffix):
            return functions
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a recording in it")
    if name.endswith(tuple(READ_ONLY)):
        raise InputError(f"{path} is named as a recording of a module, which device record alone writes; use .parquet")
    *some, last = FORMATS
    raise InputError(f"{path} is not named as a recording; use a name that ends in {', '.join(some)} or {last}")
