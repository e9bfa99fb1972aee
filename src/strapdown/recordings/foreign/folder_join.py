"""A folder of a phone app, one file for each sensor, as one recording on the clock of the gyroscope."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from strapdown.errors import InputError
from strapdown.io.files import read_one
from strapdown.recordings.foreign.mapping_guess import GuessedMapping, guess_mapping
from strapdown.recordings.join import with_instrument
from strapdown.types import Recording

_FIELDS = {"acc_x": "acc_s", "gyr_x": "gyr_s", "mag_x": "mag_s"}
_NAMES = {"acc_s": "accelerometer", "gyr_s": "gyroscope", "mag_s": "magnetometer"}


def sensor_files(folder: Path) -> dict[str, tuple[Path, GuessedMapping]]:
    """Files of a folder that a ready mapping reads: field of the recording -> (file, mapping)."""
    found: dict[str, tuple[Path, GuessedMapping]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in (".csv", ".txt") or not path.is_file():
            continue
        try:
            guessed = guess_mapping(path)
        except InputError:
            continue
        if guessed.layout is None or guessed.columns is None:
            continue
        for name, field in _FIELDS.items():
            if name in guessed.columns and field not in found:
                found[field] = (path, guessed)
    return found


def read_folder(folder: Path) -> tuple[Recording, tuple[str, ...]]:
    """The recording of a folder, and sentences on how its files were joined."""
    files = sensor_files(folder)
    if not files:
        raise InputError(
            f"{folder} is a folder without files that a ready mapping reads; name a log in it, or write a column "
            "mapping (docs/io.md)"
        )
    logs = {field: read_one(path, columns=guessed.columns) for field, (path, guessed) in files.items()}
    first = next(field for field in ("gyr_s", "acc_s", "mag_s") if field in logs)
    log = logs[first]
    notes = [f"the {_NAMES[first]} of {files[first][0].name} gives the times"]
    if first == "gyr_s" and "acc_s" in logs and files["acc_s"][0] != files["gyr_s"][0]:
        log = _interpolated(log, logs["acc_s"])
        notes.append(f"the accelerometer of {files['acc_s'][0].name} is interpolated to them")
    elif first == "gyr_s" and "acc_s" in logs:
        notes[0] = f"{files[first][0].name} holds gyroscope and accelerometer"
    if first != "mag_s" and "mag_s" in logs and log.mag_s is None:
        log = with_instrument(log, logs["mag_s"], "mag_s")
        notes.append(f"the magnetometer of {files['mag_s'][0].name} joins the rows at its own rate")
    return log, tuple(notes)


def _interpolated(log: Recording, other: Recording) -> Recording:
    """The log with the accelerometer of another clock, interpolated between its first and last reading."""
    assert other.acc_s is not None
    inside = (log.t >= other.t[0]) & (log.t <= other.t[-1])
    if np.count_nonzero(inside) < 2:
        raise InputError(
            f"gyroscope ({log.t[0]:.6g} to {log.t[-1]:.6g} s) and accelerometer ({other.t[0]:.6g} to "
            f"{other.t[-1]:.6g} s) share no time; check that the files are of one recording"
        )
    first, last = int(np.argmax(inside)), len(inside) - int(np.argmax(inside[::-1]))
    cut = log[first:last]
    acc = np.column_stack([np.interp(cut.t, other.t, other.acc_s[:, i]) for i in range(3)])
    return replace(cut, acc_s=acc)
