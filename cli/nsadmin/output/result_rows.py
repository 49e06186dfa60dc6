"""Rows: what a command found or did, and how the operator wants to see it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError

OUTPUT_FORMATS = ("table", "wide", "json", "jsonl", "yaml", "csv", "tsv", "name", "value", "mqadmin")

ResultRow = Mapping[str, object]


class ByteSize(int):
    """A size: to the byte for programs, in KiB, MiB ... in a table."""


class DurationMillis(int):
    """A duration in ms: to the ms for programs, in whatever unit reads best in a table."""


class FineDurationMillis(float):
    """A duration in ms and parts of one, likewise."""


class ResultRows(NamedTuple):
    """What a command found or did.

    `columns` are the keys of every row, in their order; `in_table` are those that a table shows, if not
    all. `errors` is what happened on each server (None: all went well) and decides the exit code;
    `notes` are lines for stderr. `totals` are figures of all rows together, for forms that show them.
    """

    columns: Sequence[str]
    rows: Sequence[ResultRow]
    errors: Sequence[RocketMQError | None] = ()
    notes: Sequence[str] = ()
    table_columns: Sequence[str] | None = None
    totals: Mapping[str, float] = {}


class OutputText(str):
    """A text to be written as it is; `errors` decide the exit code, as those of rows do."""

    errors: Sequence[RocketMQError | None]

    def __new__(cls, text: str, errors: Sequence[RocketMQError | None] = ()) -> "OutputText":
        new_text = super().__new__(cls, text)
        new_text.errors = errors
        return new_text


class CheckVerdict(str):
    """What a check found, to be written as it is, and its exit code."""

    exit_code: int

    def __new__(cls, text: str, exit_code: int) -> "CheckVerdict":
        new_verdict = super().__new__(cls, text)
        new_verdict.exit_code = exit_code
        return new_verdict


class RowSelection(NamedTuple):
    """Which columns and rows of them, in which order; what each text means is said in `select`."""

    columns: str | None = None
    sort: str | None = None
    filters: tuple[str, ...] = ()


class OutputStyle(NamedTuple):
    """How to write: `format` is one of FORMATS; `headers` are the names above tables, CSV and TSV.

    `banner` stands above a table on a terminal: the name of a context and the colour it is shown in.
    """

    output_format: str = "table"
    uses_color: bool = True
    shows_headers: bool = True
    selection: RowSelection = RowSelection()
    context_banner: tuple[str, str] | None = None


class UnwritableOutputError(OSError):
    """Stdout takes nothing more."""


class InvalidSelectionError(ValueError):
    """A selection that names no column, or no condition; the text says which there are."""
