"""Rows: what a command found or did, and how the operator wants to see it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError

FORMATS = ("table", "wide", "json", "jsonl", "yaml", "csv", "tsv", "name", "value", "mqadmin")

Row = Mapping[str, object]


class Bytes(int):
    """A size: to the byte for programs, in KiB, MiB ... in a table."""


class Millis(int):
    """A duration in ms: to the ms for programs, in whatever unit reads best in a table."""


class FineMillis(float):
    """A duration in ms and parts of one, likewise."""


class Rows(NamedTuple):
    """What a command found or did.

    `columns` are the keys of every row, in their order; `in_table` are those that a table shows, if not
    all. `errors` is what happened on each server (None: all went well) and decides the exit code;
    `notes` are lines for stderr. `totals` are figures of all rows together, for forms that show them.
    """

    columns: Sequence[str]
    rows: Sequence[Row]
    errors: Sequence[RocketMQError | None] = ()
    notes: Sequence[str] = ()
    in_table: Sequence[str] | None = None
    totals: Mapping[str, float] = {}


class Text(str):
    """A text to be written as it is; `errors` decide the exit code, as those of rows do."""

    errors: Sequence[RocketMQError | None]

    def __new__(cls, text: str, errors: Sequence[RocketMQError | None] = ()) -> "Text":
        made = super().__new__(cls, text)
        made.errors = errors
        return made


class Verdict(str):
    """What a check found, to be written as it is, and its exit code."""

    code: int

    def __new__(cls, text: str, code: int) -> "Verdict":
        made = super().__new__(cls, text)
        made.code = code
        return made


class Selection(NamedTuple):
    """Which columns and rows of them, in which order; what each text means is said in `select`."""

    columns: str | None = None
    sort: str | None = None
    filters: tuple[str, ...] = ()


class Style(NamedTuple):
    """How to write: `format` is one of FORMATS; `headers` are the names above tables, CSV and TSV.

    `banner` stands above a table on a terminal: the name of a context and the colour it is shown in.
    """

    format: str = "table"
    color: bool = True
    headers: bool = True
    selection: Selection = Selection()
    banner: tuple[str, str] | None = None


class Unwritable(OSError):
    """Stdout takes nothing more."""


class BadSelection(ValueError):
    """A selection that names no column, or no condition; the text says which there are."""
