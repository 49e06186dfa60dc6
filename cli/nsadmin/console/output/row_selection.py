"""Selects columns and rows, and sorts them.

A condition is COLUMN OPERATOR TEXT: = (or ==) and != compare, numerically where both are numbers; < <= > >=
order (for a time, 30m is 30 minutes ago), and a note counts the rows without a value; ~ and !~ search for a
regular expression. An empty value equals nothing, "-" and "null".
"""

import operator
import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.client.wall_clock import time
from nsadmin.console.output.result_rows import InvalidSelectionError, ResultRow, ResultRows, RowSelection
from nsadmin.console.output.text_table import cell_text, heading_of
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun

_CONDITION_PATTERN = re.compile(r"(\w+)\s*(==|!=|<=|>=|!~|=|<|>|~)(.*)", re.S)
_NEXT_CONDITION_PATTERN = re.compile(r"(?:,|&&|\band\b)(?=\s*\w+\s*[=!<>~])")
_UTC_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_EMPTY = ("", "-", "null")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Condition(NamedTuple):
    column: str
    sign: str
    holds: Callable[[ResultRow], bool]


def select_rows(rows: ResultRows, selection: RowSelection) -> ResultRows:
    """Return the first rows of those that meet every condition, sorted, with the chosen columns."""
    conditions = [_parse_condition(text, rows.columns) for text in selection.filters]
    selected = [row for row in rows.rows if all(c.holds(row) for c in conditions)]
    if empty_notes := [note for c in conditions if (note := _note_empty(c, conditions, rows.rows))]:
        rows = rows._replace(notes=[*rows.notes, *empty_notes])
    if selection.sort is not None:
        selected = _sort_rows(selected, selection.sort, rows.columns)
    if selection.limit is not None:
        column = rows.limited_column
        items = [index if column is None else row[column] for index, row in enumerate(selected)]
        if len(different := list(dict.fromkeys(items))) > selection.limit:
            note = f"{selection.limit} of {len(different)} {f'{column}s' if column else 'rows'}"
            rows, first = rows._replace(notes=[*rows.notes, note]), set(different[: selection.limit])
            selected = [row for row, item in zip(selected, items, strict=True) if item in first]
    if selection.columns is None:
        return rows._replace(rows=selected)
    columns = [_find_column("--columns", name, rows.columns) for name in selection.columns.split(",")]
    return rows._replace(rows=selected, columns=columns, table_columns=None)


def _find_column(option: str, wanted_name: str, columns: Sequence[str]) -> str:
    """The column that an option names by its key or its heading in tables, compared without case."""
    for name_of in (str, heading_of):
        for column in columns:
            if name_of(column).lower() == wanted_name.strip().lower():
                return column
    near_names = find_similar_names(wanted_name.strip(), columns)
    advice = f"; {did_you_mean(near_names)} Choose" if near_names else ": choose"
    raise InvalidSelectionError(
        f'unknown column "{wanted_name.strip()}" in {option}{advice} from {", ".join(columns)}'
    )


def _parse_condition(condition_text: str, columns: Sequence[str]) -> _Condition:
    """Parse a condition; InvalidSelectionError if it is invalid."""
    match = _CONDITION_PATTERN.fullmatch(condition_text.strip())
    if match is None:
        raise InvalidSelectionError(
            f'invalid condition "{condition_text}" for --filter: use COLUMN, an operator (= != < <= > >= ~ '
            "!~) and a value, such as perm!=6 or name~abc"
        )
    column, sign, wanted = _find_column("--filter", match[1], columns), match[2], match[3].strip()
    if sign in ("~", "!~"):
        pattern = _compile_pattern(wanted)

        def matches(row: ResultRow) -> bool:
            value = row.get(column)
            return bool(pattern.search("" if value is None else _value_text(value))) is (sign == "~")

        return _Condition(column, sign, matches)
    if wanted in _EMPTY and sign[0] not in "<>":
        return _Condition(
            column, sign, lambda row: (_value_text(row.get(column)) in _EMPTY) is (sign != "!=")
        )
    return _Condition(column, sign, lambda row: _holds_condition(row.get(column), sign, wanted))


def _note_empty(
    condition: _Condition, conditions: Sequence[_Condition], rows: Sequence[ResultRow]
) -> str | None:
    """A line about the rows without a value, which are neither more nor less; not about failed servers."""
    if condition.sign[0] not in "<>":
        return None
    column = condition.column
    others = [c for c in conditions if c is not condition]
    count = sum(
        row.get(column) is None and not row.get("error") and all(c.holds(row) for c in others) for row in rows
    )
    verb, pronoun = ("has", "it") if count == 1 else ("have", "them")
    advice = f"to see {pronoun}, use --filter {column}="
    return f"{count_noun(count, 'row')} {verb} no {column}: {advice}" if count else None


def advise_filter(condition_text: str) -> str | None:
    """What to type in place of a condition with = that has a pattern, such as key=cold*, or is two in one."""
    match = _CONDITION_PATTERN.fullmatch(condition_text.strip())
    if match is None or match[2] not in ("=", "=="):
        return None
    conditions = _NEXT_CONDITION_PATTERN.split(condition_text)
    if len(conditions) > 1:
        options = " ".join(f"--filter {shlex.quote(c.strip())}" for c in conditions)
        return f"use one option for each condition: {options}"
    if not set(match[3]) & set("*?"):
        return None
    pattern = "".join({"*": ".*", "?": "."}.get(sign, re.escape(sign)) for sign in match[3].strip())
    begin, end = (not pattern.startswith(".*")) * "^", (not pattern.endswith(".*")) * "$"
    meant = f"{match[1]}~{begin}{pattern.removeprefix('.*').removesuffix('.*')}{end}"
    return f"= compares exactly, so use --filter {shlex.quote(meant)}"


def _holds_condition(value: object, sign: str, wanted: str) -> bool:
    if value is None and sign[0] in "<>":
        return False
    if sign[0] in "<>" and isinstance(value, str) and _UTC_PATTERN.fullmatch(value):
        return _COMPARISONS[sign](value, _utc_text(wanted))
    left, right = _to_comparable(value, wanted)
    if sign[0] in "<>" and isinstance(left, str) and type(value) not in (str, bool):
        raise InvalidSelectionError(
            f'invalid value "{wanted}" in --filter: the column has numbers, such as {_value_text(value)}'
        )
    return _COMPARISONS[sign](left, right)


def _utc_text(time_text: str) -> str:
    """A typed time, as columns show it: 30m is 30 minutes ago."""
    # Imported late: few conditions have a time.
    from nsadmin.console.typed_times import parse_time_ms

    try:
        return format_utc(parse_time_ms(time_text, int(time() * 1000))) or ""
    except (ValueError, OverflowError, OSError):
        raise InvalidSelectionError(
            f'invalid time "{time_text}" in --filter: use 1h (an hour ago), 14:03, or 2026-11-23T14:03Z'
        ) from None


def _compile_pattern(pattern_text: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern_text)
    except re.error as error:
        raise InvalidSelectionError(
            f'invalid regular expression "{pattern_text}" in --filter: {error}'
        ) from None


def _to_comparable(value: object, wanted: str) -> tuple[object, object]:
    """Both values as numbers if possible, else as texts. A permission is a number or its letters."""
    if isinstance(value, Perm) and not wanted.lstrip("-").isdigit():
        return perm_text(value), wanted
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for number_type in (int, float):
            with suppress(ValueError):
                return value, number_type(wanted)
    return _value_text(value), wanted


def _value_text(value: object) -> str:
    return "null" if value is None else value if isinstance(value, str) else cell_text(value)


def _sort_rows(rows: Sequence[ResultRow], sort_columns: str, columns: Sequence[str]) -> list[ResultRow]:
    """Sort by the named columns, first column first; -NAME sorts descending; null comes last."""
    sorted_rows = list(rows)
    for name in map(str.strip, reversed(sort_columns.split(","))):
        column = _find_column("--sort", name.removeprefix("-"), columns)
        filled = [row for row in sorted_rows if row.get(column) is not None]
        filled.sort(key=lambda row: _sort_key(row[column]), reverse=name.startswith("-"))
        sorted_rows = filled + [row for row in sorted_rows if row.get(column) is None]
    return sorted_rows


def _sort_key(value: object) -> tuple[bool, float, str]:
    return (False, value, "") if isinstance(value, (int, float)) else (True, 0.0, _value_text(value))
