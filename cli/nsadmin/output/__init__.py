"""Everything that goes to stdout: rows, chosen and sorted, in the format that was asked for. No value is cut.

Nothing else writes there.
"""

from nsadmin.output.rows import (
    FORMATS,
    BadSelection,
    Bytes,
    FineMillis,
    Millis,
    Row,
    Rows,
    Selection,
    Style,
    Text,
    Unwritable,
    Verdict,
)
from nsadmin.output.writer import start_over, write_rows, write_text

__all__ = [
    "FORMATS",
    "BadSelection",
    "Bytes",
    "FineMillis",
    "Millis",
    "Row",
    "Rows",
    "Selection",
    "Style",
    "Text",
    "Unwritable",
    "Verdict",
    "start_over",
    "write_rows",
    "write_text",
]
