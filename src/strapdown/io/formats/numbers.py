"""Tables of numbers in text: rows with the same count of columns, comments with #, as data sets come in."""

import io
import warnings
from pathlib import Path

import numpy as np

from strapdown.arrays import Array
from strapdown.errors import InputError
from strapdown.regular_file import opened, shown_path


def number_table(path: Path, kind: str, columns: tuple[int, int], delimiter: str | None = None, skip: int = 0) -> Array:
    """Rows of numbers. columns: fewest and most that a row may have. skip: lines of a header."""
    with opened(path, kind) as raw, warnings.catch_warnings():
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
        try:
            warnings.simplefilter("ignore")  # that it has no rows, which is refused below
            table = np.loadtxt(text, delimiter=delimiter, comments="#", skiprows=skip, ndmin=2)
        except (ValueError, OverflowError) as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(
                f"{shown_path(path)} is not {kind}: {reason}; correct the line, or copy it again"
            ) from None
    if table.size == 0:
        raise InputError(f"{shown_path(path)} has no rows; it may be cut off")
    if not columns[0] <= table.shape[1] <= columns[1]:
        raise InputError(f"{shown_path(path)} has {table.shape[1]} columns, {kind} has {columns[0]}; check its name")
    return table


def stamps_ns(path: Path, kind: str, skip: int = 0) -> np.ndarray:
    """The first column of a comma-separated table as whole numbers: nanoseconds of Unix time do not fit a double."""
    with opened(path, kind) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
        try:
            cells = np.loadtxt(text, delimiter=",", comments="#", skiprows=skip, usecols=0, dtype=np.int64, ndmin=1)
        except (ValueError, OverflowError) as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(f"{shown_path(path)}: its stamps are no whole numbers of ns: {reason}") from None
    return cells


def second_stamps_ns(path: Path, kind: str) -> np.ndarray:
    """The first column of a table of seconds, as whole ns: by its digits, since a double of Unix time has 2e-7 s."""
    with opened(path, kind) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
        try:
            rows = (line.partition("#")[0].split(None, 1) for line in text)
            return np.array([_whole_ns(row[0]) for row in rows if row], dtype=np.int64)
        except (ValueError, OverflowError) as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(f"{shown_path(path)}: a stamp is no number of seconds: {reason}") from None


def _whole_ns(cell: str) -> int:
    whole, _, part = cell.partition(".")
    if whole.isdigit() and (part.isdigit() or not part):
        return int(whole) * 10**9 + int(part[:9].ljust(9, "0"))
    return round(float(cell) * 1e9)


def first_lines(path: Path, count: int = 5) -> list[str]:
    """The first lines of a text file; none of a file that is not there or no text."""
    try:
        with opened(path) as file:
            head = file.read(4096)
    except InputError:
        return []
    if b"\0" in head:
        return []
    return head.decode("utf-8", "replace").splitlines()[:count]


def cells(line: str) -> list[float] | None:
    """The numbers of a line, None where one is no number."""
    try:
        return [float(cell) for cell in line.replace(",", " ").split()]
    except ValueError:
        return None
