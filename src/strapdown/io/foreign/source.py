"""Place and unit of one of our columns in a file: common part of readers and mappings."""

from dataclasses import dataclass

from strapdown.errors import InputError
from strapdown.io.columns import COLUMNS, UNITS, Column, Unit, listed
from strapdown.io.foreign.frames import OURS
from strapdown.io.foreign.unit_words import known_unit
from strapdown.types import SLOW

EMPTY = ("refuse", "drop", "hold")
ROW_NUMBER = -1  # in place of a column: the time of a log that has none, made from its rate

MAPPING_HINT = (
    "give a mapping from our names to the file's, as a file MAPPING.toml or in Python "
    '{"t": {"column": "time", "unit": "ms"}, "acc_x": {"column": "ax", "unit": "g"}} (docs/io.md)'
)

# columns whose last value stands for an empty cell: slow instruments, and the controller's flag
HELD = tuple(c.name for c in COLUMNS if c.field.split(".")[0] in (*SLOW, "stop"))


@dataclass(frozen=True)
class Source:
    """Place of one of our columns in a file (or ROW_NUMBER), and its unit there."""

    column: Column
    index: int
    unit: Unit | None
    spread: bool = False  # times that repeat are distinguished
    empty: str = EMPTY[0]  # what an empty cell means
    frame: str = OURS  # axes of the file's vectors, by the directions of x, y and z


def unit_of(column: Column, unit: str | None, place: str) -> Unit | None:
    if column.unit is None:
        if unit is not None:
            raise InputError(f"{place} has unit {unit}, but {column.name} has none; leave it out")
        return None
    known = column.unit if unit is None else known_unit(unit, column.unit)
    if known is None:
        fitting = [name for name, each in UNITS.items() if each.si == column.unit]
        raise InputError(f"{place} has unit {unit}; {column.name} can be in {listed(fitting)}")
    return UNITS[known]
