"""Recordings of formats whose quantities are known, where a driver wrote other units or axes: a mapping corrects them.

The mapping names our own columns: acc_x = { column = "acc_x", unit = "g" }. What it does not name stays as it is.
"""

from dataclasses import replace

from strapdown.errors import InputError
from strapdown.io.columns import listed
from strapdown.io.foreign.mapping import ColumnMapping
from strapdown.io.in_memory import from_columns
from strapdown.types import Recording

_FIELDS = {"gyr": "gyr_s", "acc": "acc_s", "mag": "mag_s"}
_NAMES = {f"{short}_{axis}": (field, i) for short, field in _FIELDS.items() for i, axis in enumerate("xyz")}
_OPTIONS = ("frame",)


def corrected(recording: Recording, columns: ColumnMapping, place: str) -> Recording:
    """The recording with the units and axes that the mapping states."""
    wrong = [name for name in columns if name not in (*_NAMES, *_OPTIONS)]
    if wrong:
        raise InputError(
            f"{place} has known quantities, and the mapping names {listed(wrong)}; it may correct units and axes of "
            'gyr, acc and mag, as acc_x = { column = "acc_x", unit = "g" }'
        )
    has = [name for name, (field, _) in _NAMES.items() if getattr(recording, field) is not None]
    arrays = {name: getattr(recording, field)[:, i] for name, (field, i) in _NAMES.items() if name in has}
    header = ["t", *has]
    made = from_columns(
        header,
        lambda i: recording.t if i == 0 else arrays[header[i]],
        len(recording),
        {"t": "t", **columns},
        place,
    )
    fields = {field: getattr(made, field) for field in _FIELDS.values() if getattr(made, field) is not None}
    return replace(recording, **fields)
