"""Files of the user: uploads with limits, names without paths, and a folder in which files are saved by plain name."""

import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

from strapdown.environment.session.recording.files import RECORDING as RECORDING_FILE
from strapdown.errors import InputError
from strapdown.io.atomic import whole_file

SCENARIO, RECORDING, ROBOT, MESH = (
    (".toml",),
    (".csv", ".csv.gz", ".parquet", ".zip", ".module", ".bag", ".mcap", ".ulg", ".bin", ".mat"),
    (".urdf", ".xml", ".mjcf"),
    (".stl", ".obj"),
)
TYPES = (*SCENARIO, *RECORDING, *ROBOT, *MESH)
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .\-]{0,80}")
_FILE_KEYS = ("vehicle", "diagram", "file", "part", "model", "magnetometer_part", "pilot_recording")


def plain_name(name: str, types: tuple[str, ...] = TYPES) -> str:
    """The name if it is one without a path and with a suffix that we read."""
    if not _PLAIN.fullmatch(name) or ".." in name:
        raise InputError(
            f'"{name[:80]}" is not a plain file name; use letters, digits, "-", "_" and ".", and no folders'
        )
    if not name.lower().endswith(types):
        raise InputError(f'"{name}" has no suffix that is accepted here; valid: {", ".join(types)}')
    return name


def refuse_paths(values: Any) -> None:
    """InputError if a file that is named in a scenario or sensor table is not next to it, by a plain name."""
    if isinstance(values, dict):
        for key, value in values.items():
            if key in _FILE_KEYS and isinstance(value, str) and (set(value) & set("/\\") or value.startswith(".")):
                raise InputError(f'{key} is "{value[:80]}"; a file that comes from the page names others by plain name')
            refuse_paths(value)
    elif isinstance(values, list | tuple):
        for value in values:
            refuse_paths(value)


def choice_kind(path: Path) -> str:
    """Kind of a file by its suffix: scenario, recording or robot."""
    name = path.name.lower()
    if name.endswith(SCENARIO):
        return "scenario"
    if name.endswith(RECORDING):
        return "recording"
    if name.endswith(ROBOT):
        return "robot"
    raise InputError(
        f"{path}: not a scenario (.toml), a recording (.csv, .parquet, .zip, .module, .bag, .mcap, .ulg, .bin, .mat) "
        "or a robot (.urdf, .xml)"
    )


def unpacked(path: Path, into: Path, most_bytes: int = 500_000_000) -> Path:
    """The recording in a ZIP file that the studio gave, unpacked into a folder; other files as they are."""
    if path.suffix.lower() != ".zip":
        return path
    try:
        with zipfile.ZipFile(path) as packed:
            found = [item for item in packed.infolist() if Path(item.filename).name == RECORDING_FILE]
            if len(found) != 1 or found[0].file_size > most_bytes:
                raise InputError(
                    f"{path.name}: not a recording of the studio; it has no {RECORDING_FILE}, or one above "
                    f"{most_bytes / 1e6:g} MB"
                )
            with whole_file(target := into / f"{path.stem}.parquet") as tmp, packed.open(found[0]) as source:
                Path(tmp).write_bytes(source.read(most_bytes))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path.name}: not a readable ZIP file; download the recording again") from error
    return target


def save_text(folder: Path | None, name: str, text: str, types: tuple[str, ...]) -> str:
    """Save in the folder under a plain name, whole or not at all; returns the name."""
    if folder is None:
        raise InputError("the studio has no folder for files; start it with --folder DIR, or use the download")
    name = plain_name(name, types)
    with whole_file(folder / name) as tmp:
        Path(tmp).write_text(text, encoding="utf-8")
    return name
