"""Selecting from rows: columns by name, rows by conditions, an order.

A condition is COLUMN OPERATOR TEXT: = (or ==) and != compare, numerically where both are numbers; < <= > >=
order; ~ and !~ search for a regular expression. A value that is null is the text "null".
"""

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.output.rows import BadSelection, Row, Rows, Selection
from nsadmin.output.table import cell

_CONDITION = re.compile(r"\s*(\w+)\s*(==|!=|<=|>=|!~|=|<|>|~)\s*(.*?)\s*", re.S)
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def select(rows: Rows, selection: Selection) -> Rows:
    """The rows that meet every condition, sorted, with the columns that were named."""
    found = rows.rows
    for text in selection.filters:
        meets = condition(text, rows.columns)
        found = [row for row in found if meets(row)]
    if selection.sort is not None:
        found = _sorted(found, selection.sort, rows.columns)
    if selection.columns is None:
        return rows._replace(rows=found)
    names = [_column(name, rows.columns) for name in selection.columns.split(",")]
    return rows._replace(rows=found, columns=names, in_table=None)


def _column(name: str, columns: Sequence[str]) -> str:
    """The column of that name, in any case."""
    for column in columns:
        if column.lower() == name.strip().lower():
            return column
    raise BadSelection(f"no column {name.strip()!r}; there are: {', '.join(columns)}")


def condition(text: str, columns: Sequence[str]) -> Callable[[Row], bool]:
    """The condition that a text is; BadSelection where it is none."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise BadSelection(
            f"--filter {text!r} is no condition; perm!=6 and name~abc are, with = != < <= > >= ~ or !~"
        )
    column, sign, wanted = _column(match[1], columns), match[2], match[3]
    if sign in ("~", "!~"):
        pattern = _pattern(wanted)
        return lambda row: bool(pattern.search(_text(row.get(column)))) is (sign == "~")
    return lambda row: _holds(row.get(column), sign, wanted)


def _holds(value: object, sign: str, wanted: str) -> bool:
    if value is None and sign[0] in "<>":
        return False
    one, other = _comparable(value, wanted)
    if sign[0] in "<>" and isinstance(one, str) and type(value) is not str and type(value) is not bool:
        raise BadSelection(f"--filter: {wanted!r} is no number, and {_text(value)} is one")
    return _ORDER[sign](one, other)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise BadSelection(f"--filter: {text!r} is no regular expression: {error}") from None


def _comparable(value: object, wanted: str) -> tuple[object, object]:
    """Both as numbers if they are, else both as texts. A permission is a number or its letters."""
    if isinstance(value, Perm) and not wanted.lstrip("-").isdigit():
        return perm_text(value), wanted
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for kind in (int, float):
            with suppress(ValueError):
                return value, kind(wanted)
    return _text(value), wanted


def _text(value: object) -> str:
    return "null" if value is None else value if isinstance(value, str) else cell(value)


def _sorted(rows: Sequence[Row], names: str, columns: Sequence[str]) -> list[Row]:
    """By each named column, the first one most; -NAME turns round; what is null comes last."""
    found = list(rows)
    for name in reversed(names.split(",")):
        down = name.strip().startswith("-")
        column = _column(name.strip().removeprefix("-"), columns)
        there = [row for row in found if row.get(column) is not None]
        there.sort(key=lambda row: _key(row[column]), reverse=down)
        found = there + [row for row in found if row.get(column) is None]
    return found


def _key(value: object) -> tuple[bool, float, str]:
    if isinstance(value, (int, float)):
        return False, value, ""
    return True, 0.0, _text(value)
