"""Corrections of a file that a mapping states: empty cells, repeated stamps, axes of another frame."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.io.columns import BY_NAME
from strapdown.io.foreign.frames import OURS, to_flu
from strapdown.types import SLOW, Array

Fields = dict[str, NDArray[Any]]
_IN_SENSOR = ("gyr_s", "acc_s", "mag_s", "tilt_s", "increments.theta_s", "increments.dv_s")


def mended(fields: Fields, blank: Mapping[str, tuple[str, NDArray[np.bool_]]], samples: int, frame: str) -> Fields:
    """Fields of a recording with rows of empty cells dropped or held, and vectors expressed in our frame.

    blank: column -> ("drop" or "hold", where its cells are empty).
    """
    held: dict[str, NDArray[np.bool_]] = {}
    dropped = np.zeros(samples, dtype=np.bool_)
    for name, (what, mask) in blank.items():
        if what == "drop":
            dropped |= mask
        else:
            owner = BY_NAME[name].field.split(".")[0]
            held[owner] = held[owner] | mask if owner in held else mask
    if dropped.all():
        raise InputError("every row has an empty cell, so that all would be dropped; map other columns")
    if dropped.any():
        fields = {where: _sealed(values[~dropped]) for where, values in fields.items()}
    for owner, mask in held.items():
        fields = _held(fields, owner, mask[~dropped] if dropped.any() else mask)
    if frame == OURS:
        return fields
    if any(where.startswith("truth.") for where in fields):
        raise InputError(f'frame = "{frame}" converts readings, not truth; leave the columns of truth out')
    turned = {where: _sealed(to_flu(fields[where], frame)) for where in _IN_SENSOR if where in fields}
    return {**fields, **turned}


def _held(fields: Fields, owner: str, empty: NDArray[np.bool_]) -> Fields:
    """In rows that lack a part of it, an instrument repeats its last reading; before its first reading it repeats the
    first one.
    """
    if empty.all():
        raise InputError(f"no row has all columns of {owner}; map its columns otherwise, or leave them out")
    rows = np.maximum.accumulate(np.where(empty, -1, np.arange(len(empty))))
    rows[rows < 0] = int(np.argmin(empty))
    shown = {where: _sealed(values[rows]) for where, values in fields.items() if where.split(".")[0] == owner}
    if owner in SLOW:
        new = fields.get(f"new.{owner}")
        shown[f"new.{owner}"] = _sealed(~empty if new is None else ~empty & new)
    return {**fields, **shown}


def blanked(
    empty: NDArray[np.bool_] | None, values: NDArray[Any] | None
) -> tuple[NDArray[np.bool_] | None, NDArray[Any] | None]:
    """Empty cells and those that are not a number, which many programs write instead; values are 0 there."""
    if values is None or values.dtype == np.bool_:
        return empty, values
    nan = np.isnan(values)
    if not nan.any():
        return empty, values
    return (nan if empty is None else nan | empty), np.where(nan, 0.0, values)


def _sealed(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values


def refuse_repeated(t: Array) -> None:
    """One sentence for a stamp that comes twice, often the first of a log, with the option of the mapping that corrects
    it.
    """
    same = np.flatnonzero(t[1:] == t[:-1])
    if len(same) == 0 or not np.isfinite(t).all():
        return
    i = int(same[0]) + 1
    raise InputError(
        f"t repeats at sample {i} ({t[i - 1]:.9g} s, then {t[i]:.9g} s), {len(same)} of {len(t)} samples; keep one "
        'sample for each time, or give t = { column = ..., repeated = "spread" } in the column mapping (docs/io.md)'
    )


def unrepeated(t: Array) -> Array:
    """The time stamps without repetitions. A stamp that comes several times follows a step as many times as long. So
    all its samples but the last came evenly during that step. The samples of the first stamp came at the usual step.
    """
    last = np.append(np.diff(t) != 0.0, True)
    at, stamps = np.flatnonzero(last), t[last]
    spread = np.interp(np.arange(len(t)), at, stamps)
    if at[0] > 0 and len(stamps) > 1:
        step = (stamps[-1] - stamps[0]) / (at[-1] - at[0])
        spread[: at[0]] = stamps[0] - step * np.arange(at[0], 0, -1)
    return spread
