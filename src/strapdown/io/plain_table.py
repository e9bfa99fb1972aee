"""Columns of numbers for other programs: CSV or Parquet, with all their digits."""

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from strapdown.types import Array


def write_table(path: str | PathLike[str], columns: Mapping[str, Array]) -> None:
    """Columns of equal length under their headers; the file appears whole or not at all.

    In CSV a number is the shortest text that reads back to the same bits: a Unix stamp in seconds has 17 digits.
    """
    import pyarrow as pa

    from strapdown.io.csv import csv_header, write_parts
    from strapdown.io.parquet import write_row_groups
    from strapdown.io.table import slices

    path = Path(path)
    schema = pa.schema([(name, pa.float64()) for name in columns])

    def parts() -> Iterator[pa.Table]:
        for rows in slices(len(next(iter(columns.values())))):
            yield pa.table([np.ascontiguousarray(values[rows]) for values in columns.values()], schema=schema)

    if path.suffix == ".parquet":
        write_row_groups(path, schema, parts(), dictionary=False)
    else:
        write_parts(path, csv_header(list(columns)), schema, parts())
