"""Recordings from arrays and pandas tables in memory, and back. The units are converted here, at the edge."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.io.blocks.gather import Gathered
from strapdown.io.columns import FLAGS, UNITS
from strapdown.io.foreign.frames import checked_frame, to_flu
from strapdown.io.foreign.mapping import ColumnMapping, sources
from strapdown.io.foreign.source import ROW_NUMBER
from strapdown.io.table import Table
from strapdown.types import Motion, Recording

# keyword: field of the recording, unit
_KEYWORDS = {
    "t_s": ("t", "s"),
    "t_ms": ("t", "ms"),
    "t_us": ("t", "us"),
    "t_ns": ("t", "ns"),
    "gyr_rad_s": ("gyr_s", "rad/s"),
    "gyr_deg_s": ("gyr_s", "deg/s"),
    "acc_m_s2": ("acc_s", "m/s2"),
    "acc_g": ("acc_s", "g"),
    "acc_mg": ("acc_s", "mg"),
    "mag_ut": ("mag_s", "uT"),
    "mag_nt": ("mag_s", "nT"),
    "mag_gauss": ("mag_s", "G"),
    "temperature_c": ("temperature", "degC"),
    "temperature_k": ("temperature", "K"),
    "odometer_m": ("odometer", "m"),
    "odometer_mm": ("odometer", "mm"),
}
_META = "strapdown"  # key of DataFrame.attrs


def from_arrays(
    given: dict[str, ArrayLike],
    rate_hz: float | None,
    frame: str,
    stop: ArrayLike | None,
    truth: Motion | None,
    meta: dict[str, Any],
) -> Recording:
    """The body of Recording.from_arrays."""
    fields: dict[str, Any] = {}
    for name, values in given.items():
        if name not in _KEYWORDS:
            raise InputError(f'from_arrays was given "{name}"; valid names: {", ".join(_KEYWORDS)}')
        field, unit = _KEYWORDS[name]
        if field in fields:
            names = [key for key in given if _KEYWORDS[key][0] == field]
            raise InputError(f"{' and '.join(names)} are one quantity in two units; give one of them")
        array = np.asarray(values, dtype=np.float64)
        if field.endswith("_s"):
            if array.ndim != 2 or array.shape[1] != 3:
                turned = ", as its transpose has" if array.ndim == 2 and array.shape[0] == 3 else ""
                raise InputError(f"{name} has shape {array.shape}; give one row of x, y, z per sample{turned}")
            array = to_flu(array, checked_frame(frame))
        fields[field] = UNITS[unit].convert(array)
    if "t" not in fields:
        fields["t"] = _even_times(fields, rate_hz)
    elif rate_hz is not None:
        raise InputError("from_arrays was given times and rate_hz; give one of them")
    return Recording(**fields, stop=None if stop is None else np.asarray(stop), truth=truth, meta=meta)


def _even_times(fields: dict[str, Any], rate_hz: float | None) -> Any:
    if not fields:
        raise InputError("from_arrays was given no readings; give gyr_rad_s and acc_m_s2, or their other units")
    if rate_hz is None or not (np.isfinite(rate_hz) and rate_hz > 0.0):
        raise InputError(f"from_arrays has no times and rate_hz is {rate_hz}; give t_s, or a rate above 0")
    return np.arange(len(next(iter(fields.values())))) / rate_hz


def to_pandas(recording: Recording) -> Any:
    """The body of Recording.to_pandas."""
    pandas = _pandas()
    parts = [part.drop_columns(["sensor"]) for part in Table({"log": recording}, pa.bool_()).parts()]
    table = pa.concat_tables(parts).replace_schema_metadata(None).to_pandas()
    assert isinstance(table, pandas.DataFrame)
    table.attrs[_META] = dict(recording.meta)
    return table


def from_pandas(table: Any, columns: ColumnMapping | None) -> Recording:
    """The body of Recording.from_pandas."""
    pandas = _pandas()
    if not isinstance(table, pandas.DataFrame):
        raise InputError(f"from_pandas was given a {type(table).__name__}; give a DataFrame")
    names = [str(name) for name in table.columns]
    meta = table.attrs.get(_META, {})
    return from_columns(names, lambda i: table.iloc[:, i], len(table), columns, "the table", meta)


def from_columns(
    names: list[str],
    values: Callable[[int], Any],
    rows: int,
    columns: ColumnMapping | None,
    place: str,
    meta: Mapping[str, Any] | None = None,
) -> Recording:
    """A recording of one sensor from columns in memory, by a mapping or by our own headers. values: of column i."""
    found = sources(names, columns, place)
    gathered = Gathered(found, "log", place)
    gathered.begin(rows, None)
    for source in found:
        if source.index == ROW_NUMBER:
            continue
        if source.column.name == "sensor":
            raise InputError(f"{place} has a column sensor; one sensor is taken, select its rows first")
        kind = pa.bool_() if source.column.name in FLAGS else pa.float64()
        try:
            cells = pa.array(values(source.index), from_pandas=True).cast(kind)
        except (pa.ArrowException, TypeError, ValueError) as error:
            name = names[source.index]
            raise InputError(f'column "{name}" of {place} holds no numbers: {error}; convert it first') from None
        gathered.put(source, pa.chunked_array([cells]))
    if gathered.rows == 0:
        raise InputError(f"{place} has no rows; give one row per sample")
    return gathered.recordings({"log": meta or {}}, lambda row: f"row {row} of {place}")["log"]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise InputError("pandas is not installed; install it with pip install pandas") from None
    return pandas
