"""Columns of numbers for other programs: CSV with nine digits, or Parquet with all of them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from strapdown.io.atomic import whole_file
from strapdown.types import Array


def write_table(path: Path, columns: Mapping[str, Array]) -> None:
    """Columns of equal length under their headers; the file appears whole or not at all."""
    with whole_file(path) as tmp:
        if path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet

            pa.parquet.write_table(pa.table(dict(columns)), tmp, use_dictionary=False)
        else:
            rows = np.column_stack(list(columns.values()))
            np.savetxt(tmp, rows, fmt="%.9g", delimiter=",", header=",".join(columns), comments="")
