"""Ready column mappings for files of well-known apps and sketches: by name, or recognised by their columns.

Each mapping is a file in ready/: the program that writes such files, the source of the column names, and the mapping.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from strapdown.errors import InputError
from strapdown.io.plain_values import toml_values


@dataclass(frozen=True)
class Layout:
    """The columns of one app or sketch.

    files: names of such files, where the columns are those of other files too.
    source: where the column names were found.
    note: a hint for the user.
    by_columns: the column names determine the units.
    """

    name: str
    what: str
    source: str
    columns: dict[str, Any]
    files: tuple[str, ...] = ()
    note: str = ""
    by_columns: bool = True

    def column_names(self) -> list[str]:
        """The file's columns that the mapping names."""
        entries = [entry for entry in self.columns.values() if isinstance(entry, dict)]
        return [str(entry["column"]) for entry in entries if "column" in entry]


@cache
def layouts() -> tuple[Layout, ...]:
    """All ready mappings, by name."""
    found = []
    for file in resources.files(__package__).joinpath("ready").iterdir():
        if file.name.endswith(".toml"):
            values = toml_values(file.read_bytes(), file.name)
            values["files"] = tuple(values.get("files", ()))
            found.append(Layout(file.name.removesuffix(".toml"), **values))
    return tuple(sorted(found, key=lambda layout: layout.name))


def layout(name: str) -> Layout:
    """The ready mapping of that name."""
    for each in layouts():
        if each.name == name:
            return each
    raise InputError(f'no ready mapping is called "{name}"; valid: {", ".join(each.name for each in layouts())}')


def layout_columns(name: str) -> dict[str, Any] | None:
    """The mapping of that name; None where none has it."""
    return next((dict(each.columns) for each in layouts() if each.name == name), None)


def spelled(mapping: Mapping[str, Any], header: Sequence[str]) -> dict[str, Any]:
    """The mapping with its column names as the file spells them, if its quantities are optional.

    Versions of an app write capital or small letters, and either of the two signs for micro. Without this such a
    quantity would be taken as absent.
    """
    if not mapping.get("optional"):
        return dict(mapping)

    def here(text: Any) -> Any:
        same = [name for name in header if isinstance(text, str) and name.casefold() == text.casefold()]
        return text if text in header or len(same) != 1 else same[0]

    return {
        name: {**entry, "column": here(entry["column"])} if isinstance(entry, Mapping) and "column" in entry else entry
        for name, entry in mapping.items()
    }


def recognised(header: Sequence[str], file_name: str) -> Layout | None:
    """The ready mapping whose columns a file has; of several the one with most of them."""
    fitting = [
        (len(set(each.column_names()) & set(header)), each)
        for each in (replace(ready, columns=spelled(ready.columns, header)) for ready in layouts())
        if _has(each, header, file_name)
    ]
    return layout(max(fitting, key=lambda pair: pair[0])[1].name) if fitting else None


def _has(each: Layout, header: Sequence[str], file_name: str) -> bool:
    if not each.columns.get("header", True) or not each.by_columns:
        return False
    if each.files and file_name not in each.files:
        return False
    names, have = each.column_names(), set(header)
    if not each.columns.get("optional"):
        return set(names) <= have
    return names[0] in have and any(set(names[i : i + 3]) <= have for i in range(1, len(names), 3))
