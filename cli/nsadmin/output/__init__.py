"""Everything that goes to stdout: rows, chosen and sorted, in the format that was asked for. No value is cut.

Nothing else writes there.
"""

from nsadmin.output.result_rows import (
    OUTPUT_FORMATS,
    ByteSize,
    CheckVerdict,
    DurationMillis,
    FineDurationMillis,
    InvalidSelectionError,
    OutputStyle,
    OutputText,
    ResultRow,
    ResultRows,
    RowSelection,
    UnwritableOutputError,
)
from nsadmin.output.stdout_writer import clear_screen, write_rows, write_text

__all__ = [
    "OUTPUT_FORMATS",
    "ByteSize",
    "CheckVerdict",
    "DurationMillis",
    "FineDurationMillis",
    "InvalidSelectionError",
    "OutputStyle",
    "OutputText",
    "ResultRow",
    "ResultRows",
    "RowSelection",
    "UnwritableOutputError",
    "clear_screen",
    "write_rows",
    "write_text",
]
