"""Read and write recordings; the suffix of the path, or the first bytes of the file, choose the format."""

import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path

from strapdown.errors import InputError, LogWarning
from strapdown.io.atomic import writable_target
from strapdown.io.columns import listed
from strapdown.io.csv import read_csv, write_csv
from strapdown.io.foreign.mapping import ColumnMapping
from strapdown.io.formats.contents import Contents
from strapdown.io.formats.registry import FORMATS as OTHERS
from strapdown.io.formats.registry import format_of, read_contents
from strapdown.io.formats.writers import WRITERS, writer_of
from strapdown.io.module_log import read_module
from strapdown.io.parquet import read_parquet, write_parquet
from strapdown.types import Recording

_Reader = Callable[[Path, ColumnMapping | None, Callable[[float], None]], dict[str, Recording]]
_Writer = Callable[[Path, Mapping[str, Recording]], None]

# our own formats, which hold every quantity
FORMATS: dict[str, tuple[_Reader, _Writer]] = {
    ".csv": (read_csv, write_csv),
    ".csv.gz": (read_csv, write_csv),
    ".parquet": (read_parquet, write_parquet),
}

# read only: strapdown device record writes them while it records
READ_ONLY: dict[str, _Reader] = {".module": read_module}
# tables of other programs, read with a mapping
FOREIGN: dict[str, _Reader] = {".txt": read_csv, ".tsv": read_csv}

# endings that state a log, for commands that tell logs from other files
LOG_SUFFIXES = (*FORMATS, *READ_ONLY, *(suffix for each in OTHERS for suffix in each.suffixes))


def write(path: str | PathLike[str], recordings: Recording | Mapping[str, Recording]) -> None:
    """Write a recording, or several by the names of their sensors, into one file; it appears whole or not at all.

    .csv, .csv.gz and .parquet hold all of it; .mcap, .bag and .mat what they can.
    """
    path = Path(path)
    named = {"imu": recordings} if isinstance(recordings, Recording) else recordings
    other = writer_of(path)
    if other is not None:
        other.write(path, named, {})
        return
    _format(path, writing=True)[1](path, named)


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a path that write() would refuse, before anything is computed for it."""
    if writer_of(Path(path)) is None:
        _format(Path(path), writing=True)
    writable_target(path)


def read(
    path: str | PathLike[str],
    columns: ColumnMapping | None = None,
    done: Callable[[float], None] = lambda part: None,
) -> dict[str, Recording]:
    """All sensors of a file, by name. The file is read as a stream: memory holds its columns, not its text.

    `columns` reads a foreign file: our column -> its column, or our column -> {"column": ..., "unit": ...}. Only the
    mapped columns are read then. A file without sensor names has one sensor, called after the file.

    done: called with the part of the file that is read, 0 to 1.
    """
    path = Path(path)
    others = {**READ_ONLY, **FOREIGN}
    reader = next((r for suffix, r in others.items() if path.name.lower().endswith(suffix)), None)
    foreign = _foreign(path, columns)
    if foreign is not None:
        contents = foreign(done, False)
        for note in contents.notes:  # read_all hands them out
            warnings.warn(f"{path}: {note}", LogWarning, stacklevel=2)
        found = contents.recordings
        if not found:
            raise InputError(f"{path} holds poses and no sensor; evaluate compares with it, convert writes them")
    else:
        found = (reader or _format(path)[0])(path, columns, done)
    return {name: _with_full_paths(recording, path.parent) for name, recording in found.items()}


def read_all(
    path: str | PathLike[str],
    columns: ColumnMapping | None = None,
    done: Callable[[float], None] = lambda part: None,
) -> Contents:
    """Recordings and tracks of a file in any format; a file of our own has recordings alone."""
    path = Path(path)
    foreign = _foreign(path, columns)
    return Contents("own format", "", read(path, columns, done)) if foreign is None else foreign(done, True)


def _foreign(path: Path, columns: ColumnMapping | None) -> Callable[[Callable[[float], None], bool], Contents] | None:
    """How a file of another program is read; None for one of ours, or a table that a mapping reads."""
    if path.name.lower().endswith((*FORMATS, *READ_ONLY)) or (columns is not None and path.suffix.lower() in FOREIGN):
        return None
    found = format_of(path)
    return None if found is None else lambda done, tracks: read_contents(path, found, columns, done, tracks)


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
    if sensor is None:
        return next(iter(recordings.values()))
    return recordings[sensor_named(sensor, recordings, str(path))]


def sensor_named(sensor: str, recordings: Mapping[str, Recording], place: str) -> str:
    """The name of a sensor as the file has it: a topic may be given with or without its first slash."""
    known = {name.strip("/"): name for name in recordings}
    if sensor in recordings:
        return sensor
    if sensor.strip("/") not in known:
        raise InputError(f"{place} has no sensor {sensor}; it has {listed(list(recordings))}")
    return known[sensor.strip("/")]


def _format(path: Path, writing: bool = False) -> tuple[_Reader, _Writer]:
    name = path.name.lower()
    for suffix, functions in FORMATS.items():
        if name.endswith(suffix):
            return functions
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a recording in it")
    if name.endswith(tuple(READ_ONLY)):
        raise InputError(f"{path} is named as a recording of a module, which device record alone writes; use .parquet")
    known = [*FORMATS, *(suffix for each in WRITERS for suffix in each.suffixes)] if writing else [*LOG_SUFFIXES]
    *some, last = dict.fromkeys(known)
    raise InputError(f"{path} is not named as a recording; use a name that ends in {', '.join(some)} or {last}")
