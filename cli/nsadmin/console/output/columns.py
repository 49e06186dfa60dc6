"""Owns the column: headings, keys, --columns, help, the reference and the schemas of tools follow from it."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

R = TypeVar("R")
S = TypeVar("S")


class Column(NamedTuple, Generic[R]):
    """A column of a command's rows.

    `key` is its heading, and its name in JSON, --columns and --filter. `meaning` explains it, with the unit.
    `read` takes the value off a record. A table leaves out `wide` columns; all other formats have them.
    """

    key: str
    meaning: str
    read: Callable[[R], object]
    wide: bool = False

    def of(self, read: Callable[[S], object]) -> "Column[S]":
        """The same column of another kind of record."""
        return Column(self.key, self.meaning, read, self.wide)

    def means(self, meaning: str) -> "Column[R]":
        """The same column, explained for one command."""
        return self._replace(meaning=meaning)

    def in_wide(self) -> "Column[R]":
        """The same column, which a table leaves out."""
        return self._replace(wide=True)


Columns = tuple[Column[R], ...]
AnyColumn = Column[Any]


def replace_columns(columns: Iterable[Column[R]], *replacements: Column[R]) -> Columns[R]:
    """The columns, with `replacements` in the places of those of the same key."""
    by_key = {c.key: c for c in replacements}
    return tuple(by_key.get(c.key, c) for c in columns)


def read_row(columns: Iterable[Column[R]], record: R) -> dict[str, object]:
    """The values of a record by the keys of the columns."""
    return {c.key: c.read(record) for c in columns}


def of_part(get_part: Callable[[Any], Any], columns: Iterable[AnyColumn]) -> tuple[AnyColumn, ...]:
    """The columns of a record that is a part of another one; null if the part is None."""
    return tuple(c.of(_reader_of_part(get_part, c.read)) for c in columns)


def _reader_of_part(get_part: Callable[[Any], Any], read: Callable[[Any], object]) -> Callable[[Any], object]:
    def read_part(record: Any) -> object:
        part = get_part(record)
        return None if part is None else read(part)

    return read_part
