"""Rows of runs as Arrow tables: one type for each column, whatever rows a batch holds."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from strapdown.campaigns.plan import FLAGS, WORDS, Plan

_FIRST = {"key": pa.string(), "cell": pa.string(), "number": pa.int64(), "seed": pa.int64(), "failed": pa.string()}
SECONDS = "seconds"  # CPU time of the run: in the parts only, because it is never the same twice


def factor_type(values: Sequence[Any]) -> pa.DataType:
    """Of the column of a setting: the plainest type that holds all its values; else text in JSON."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds <= {int, float}:
        return pa.float64()
    return pa.string()


def types_of(plan: Plan) -> dict[str, pa.DataType]:
    """Of all columns but those that only a function of the user knows."""
    found = dict(_FIRST)
    for key, values in plan.space.grid.items():
        found[plan.column(key)] = factor_type(values)
    for key, draw in plan.space.draws.items():
        kind = {"choice": factor_type(draw.values), "whole": pa.int64()}.get(draw.kind, pa.float64())
        found[plan.column(key)] = kind
    for name in plan.figures:
        found[name] = pa.bool_() if name in FLAGS else pa.string() if name in WORDS else pa.float64()
    return found


def table_of(plan: Plan, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows, sorted by key."""
    rows = sorted(rows, key=lambda row: row["key"])
    types = types_of(plan)
    more = sorted({name for row in rows for name in row} - set(types) - {SECONDS})
    types |= {name: _inferred([row.get(name) for row in rows]) for name in more}
    types[SECONDS] = pa.float64()
    columns = {name: pa.array([_value(row.get(name), kind) for row in rows], kind) for name, kind in types.items()}
    return pa.table(columns)


def _inferred(values: Sequence[Any]) -> pa.DataType:
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.null()
    return pa.bool_() if kinds == {bool} else pa.float64() if kinds <= {float, int, bool} else pa.string()


def _value(value: Any, kind: pa.DataType) -> Any:
    if value is None or kind == pa.null():
        return None
    if kind == pa.string():
        return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return float(value) if kind == pa.float64() else value


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of parts as one: a column that is missing or empty in a part has nulls there; flags among numbers become
    numbers, anything among words becomes words."""
    types: dict[str, pa.DataType] = {}
    for table in tables:
        for field in table.schema:
            types[field.name] = _wider(types.get(field.name, pa.null()), field.type)
    first = [name for name in types if name != SECONDS]
    known: list[str] = next((t.schema.names for t in tables), [])
    more = sorted(set(first) - set(known))
    order = [*(name for name in known if name != SECONDS), *more, SECONDS]
    schema = pa.schema([(name, types[name]) for name in order if name in types])
    whole = [
        pa.table({f.name: _cast(t, f.name, f.type) for f in schema}, schema=schema) if t.schema != schema else t
        for t in tables
    ]
    return pa.concat_tables(whole)


def _wider(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    if a == b or b == pa.null():
        return a
    if a == pa.null():
        return b
    numbers = (pa.bool_(), pa.int64(), pa.float64())
    return pa.float64() if a in numbers and b in numbers else pa.string()


def _cast(table: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    if name not in table.schema.names:
        return pa.nulls(len(table), kind)
    column = table.column(name)
    if column.type == pa.bool_() and kind == pa.float64():
        return column.cast(pa.int8()).cast(kind)
    return column.cast(kind)
