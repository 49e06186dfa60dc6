"""Owns the records of output: the rows of a command, and the style to write them in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.console.output.columns import AnyColumn, Column, R
from nsadmin.console.phrases import failed_on

OUTPUT_FORMATS = (
    "table", "wide", "json", "jsonl", "yaml", "csv", "spreadsheet", "tsv", "name", "value", "mqadmin",
)  # fmt: skip

ROW_FORMATS = ("csv", "spreadsheet", "tsv", "name", "value")
"""The formats that no text has."""
ResultRow = Mapping[str, object]


class ByteSize(int):
    """A size in bytes; tables show it in KiB, MiB ..., other formats exactly."""


class DurationMillis(int):
    """A duration in ms; tables show it in a readable unit, other formats exactly."""


class FineDurationMillis(float):
    """A duration in ms with decimals; shown like DurationMillis."""


class EpochMillisText(str):
    """A time as a server's text of ms since 1970; tables show it in UTC, other formats exactly."""


class ResultRows(NamedTuple):
    """The result of a command.

    `columns` are the keys of every row, in order; `table_columns` are the columns that a table shows, None
    for all. `errors` has the outcome of each server (None after a success) and decides the exit code.
    `notes` are lines for stderr, and `table_notes` those that only a table has, such as sums. `totals` are
    about all rows, for output forms that show them. `done_code` is the exit code if no server failed.
    --limit counts rows, or the values of `limited_column`. `describe_all` makes a line for stderr about the
    rows of a command that ran for several names.
    """

    columns: Sequence[str]
    rows: Sequence[ResultRow]
    errors: Sequence[RocketMQError | None] = ()
    notes: Sequence[str] = ()
    table_columns: Sequence[str] | None = None
    totals: Mapping[str, Any] = {}
    done_code: int = 0
    limited_column: str | None = None
    table_notes: Sequence[str] = ()
    describe_all: Callable[[Sequence[ResultRow]], str] | None = None

    @classmethod
    def from_records(
        cls,
        columns: Sequence[Column[R]],
        records: Iterable[R],
        errors: Sequence[RocketMQError | None] = (),
        notes: Sequence[str] = (),
        *,
        common: Mapping[AnyColumn, object] = {},
        table: Sequence[AnyColumn] = (),
    ) -> "ResultRows":
        """Read a row off each record.

        `common` has the columns whose value is the same in all rows. `table` are the columns of a table with
        another order.
        """
        values = {c.key: value for c, value in common.items()}
        readers = [(c.key, _constant(values[c.key]) if c.key in values else c.read) for c in columns]
        return cls(
            [c.key for c in columns],
            [{key: read(record) for key, read in readers} for record in records],
            errors,
            notes,
            [c.key for c in table or columns if not c.wide],
        )

    def with_notes(self, *notes: str) -> "ResultRows":
        """Add notes. They take the place of the line about failures, so this becomes a note before them."""
        return self._replace(notes=[*(self.notes or failed_on(self.errors)), *notes])


def _constant(value: object) -> Callable[[Any], object]:
    return lambda record: value


class OutputText(str):
    """A text that is written unchanged, or escaped on a terminal. `errors` determines the exit code."""

    errors: Sequence[RocketMQError | None]

    def __new__(cls, text: str, errors: Sequence[RocketMQError | None] = ()) -> "OutputText":
        new_text = super().__new__(cls, text)
        new_text.errors = errors
        return new_text


class CheckVerdict(str):
    """The text of a check, which is written unchanged, and its exit code."""

    exit_code: int

    def __new__(cls, text: str, exit_code: int) -> "CheckVerdict":
        new_verdict = super().__new__(cls, text)
        new_verdict.exit_code = exit_code
        return new_verdict


class RowSelection(NamedTuple):
    """The chosen columns, order, conditions and length; `row_selection.select_rows` defines the syntax."""

    columns: str | None = None
    sort: str | None = None
    filters: tuple[str, ...] = ()
    limit: int | None = None


class OutputStyle(NamedTuple):
    """How to write rows: `output_format` is one of OUTPUT_FORMATS.

    `shows_headers` decides about column names above tables, CSV and TSV. `context_banner` is the name of a
    context and its colour; it stands above a table on a terminal.
    """

    output_format: str = "table"
    uses_color: bool = True
    shows_headers: bool = True
    selection: RowSelection = RowSelection()
    context_banner: tuple[str, str] | None = None


class UnwritableOutputError(OSError):
    """Stdout cannot be written."""


class InvalidSelectionError(ValueError):
    """A selection names an unknown column or has an invalid condition; the text lists the valid columns."""
