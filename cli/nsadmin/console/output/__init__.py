"""Owns stdout: rows in the chosen format, selected and sorted. No value is truncated.

Nothing else writes to stdout.
"""

from nsadmin.console.output.columns import AnyColumn, Column, Columns, of_part, read_row, replace_columns
from nsadmin.console.output.result_rows import (
    OUTPUT_FORMATS,
    ROW_FORMATS,
    ByteSize,
    CheckVerdict,
    DurationMillis,
    EpochMillisText,
    FineDurationMillis,
    InvalidSelectionError,
    OutputStyle,
    OutputText,
    ResultRow,
    ResultRows,
    RowSelection,
    UnwritableOutputError,
)
from nsadmin.console.output.stdout_writer import clear_screen, write_rows, write_text

__all__ = [
    "OUTPUT_FORMATS",
    "ROW_FORMATS",
    "AnyColumn",
    "ByteSize",
    "CheckVerdict",
    "Column",
    "Columns",
    "DurationMillis",
    "EpochMillisText",
    "FineDurationMillis",
    "InvalidSelectionError",
    "OutputStyle",
    "OutputText",
    "ResultRow",
    "ResultRows",
    "RowSelection",
    "UnwritableOutputError",
    "clear_screen",
    "of_part",
    "read_row",
    "replace_columns",
    "write_rows",
    "write_text",
]
