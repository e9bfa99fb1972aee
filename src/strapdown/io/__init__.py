"""Recordings in files: CSV and Parquet, ours and foreign ones by a column mapping. Formats: docs/io.md."""

from strapdown.io.atomic import whole_bytes, whole_file
from strapdown.io.columns import COLUMNS, UNITS
from strapdown.io.files import FORMATS, LOG_SUFFIXES, check_writable, read, read_all, read_one, write
from strapdown.io.foreign.mapping import ColumnMapping, read_mapping

__all__ = [
    "COLUMNS",
    "FORMATS",
    "LOG_SUFFIXES",
    "UNITS",
    "ColumnMapping",
    "check_writable",
    "read",
    "read_all",
    "read_mapping",
    "read_one",
    "whole_bytes",
    "whole_file",
    "write",
]
