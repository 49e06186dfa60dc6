"""Selects columns and rows, and sorts them.

A condition is COLUMN OPERATOR TEXT: = (or ==) and != compare, numerically where both are numbers; < <= > >=
order; ~ and !~ search for a regular expression. A null value equals the text "null".
"""

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.console.output.result_rows import InvalidSelectionError, ResultRow, ResultRows, RowSelection
from nsadmin.console.output.text_table import cell_text

_CONDITION_PATTERN = re.compile(r"(\w+)\s*(==|!=|<=|>=|!~|=|<|>|~)(.*)", re.S)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def select_rows(rows: ResultRows, selection: RowSelection) -> ResultRows:
    """Return the rows that meet every condition, sorted, with the chosen columns."""
    selected_rows = rows.rows
    for condition_text in selection.filters:
        meets_condition = parse_condition(condition_text, rows.columns)
        selected_rows = [row for row in selected_rows if meets_condition(row)]
    if selection.sort is not None:
        selected_rows = _sort_rows(selected_rows, selection.sort, rows.columns)
    if selection.columns is None:
        return rows._replace(rows=selected_rows)
    column_names = [
        _find_column("--columns", column_name, rows.columns) for column_name in selection.columns.split(",")
    ]
    return rows._replace(rows=selected_rows, columns=column_names, table_columns=None)


def _find_column(option_name: str, wanted_name: str, columns: Sequence[str]) -> str:
    """Return the column that an option names, compared without case."""
    for column in columns:
        if column.lower() == wanted_name.strip().lower():
            return column
    raise InvalidSelectionError(
        f'unknown column "{wanted_name.strip()}" in {option_name}: choose from ' + ", ".join(columns)
    )


def parse_condition(condition_text: str, columns: Sequence[str]) -> Callable[[ResultRow], bool]:
    """Parse a condition into a predicate of rows; InvalidSelectionError if it is invalid."""
    condition_match = _CONDITION_PATTERN.fullmatch(condition_text.strip())
    if condition_match is None:
        raise InvalidSelectionError(
            f'invalid condition "{condition_text}" for --filter: use COLUMN, an operator (= != < <= > >= ~ '
            "!~) and a value, such as perm!=6 or name~abc"
        )
    column_name, operator_sign, wanted_text = (
        _find_column("--filter", condition_match[1], columns),
        condition_match[2],
        condition_match[3].strip(),
    )
    if operator_sign in ("~", "!~"):
        wanted_pattern = _compile_pattern(wanted_text)
        return lambda row: (
            bool(wanted_pattern.search(_value_text(row.get(column_name)))) is (operator_sign == "~")
        )
    return lambda row: _holds_condition(row.get(column_name), operator_sign, wanted_text)


def _holds_condition(row_value: object, operator_sign: str, wanted_text: str) -> bool:
    if row_value is None and operator_sign[0] in "<>":
        return False
    left_value, right_value = _to_comparable(row_value, wanted_text)
    if (
        operator_sign[0] in "<>"
        and isinstance(left_value, str)
        and type(row_value) is not str
        and type(row_value) is not bool
    ):
        raise InvalidSelectionError(
            f'invalid value "{wanted_text}" in --filter: compare {_value_text(row_value)} with a number'
        )
    return _COMPARISONS[operator_sign](left_value, right_value)


def _compile_pattern(pattern_text: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern_text)
    except re.error as error:
        raise InvalidSelectionError(
            f'invalid regular expression "{pattern_text}" in --filter: {error}'
        ) from None


def _to_comparable(row_value: object, wanted_text: str) -> tuple[object, object]:
    """Return both values as numbers if possible, else as texts. A permission is a number or its letters."""
    if isinstance(row_value, Perm) and not wanted_text.lstrip("-").isdigit():
        return perm_text(row_value), wanted_text
    if isinstance(row_value, (int, float)) and not isinstance(row_value, bool):
        for number_type in (int, float):
            with suppress(ValueError):
                return row_value, number_type(wanted_text)
    return _value_text(row_value), wanted_text


def _value_text(row_value: object) -> str:
    return "null" if row_value is None else row_value if isinstance(row_value, str) else cell_text(row_value)


def _sort_rows(rows: Sequence[ResultRow], sort_columns: str, columns: Sequence[str]) -> list[ResultRow]:
    """Sort by the named columns, first column first; -NAME sorts descending; null comes last."""
    sorted_rows = list(rows)
    for sort_column in reversed(sort_columns.split(",")):
        is_descending = sort_column.strip().startswith("-")
        column_name = _find_column("--sort", sort_column.strip().removeprefix("-"), columns)
        filled_rows = [row for row in sorted_rows if row.get(column_name) is not None]
        filled_rows.sort(key=lambda row: _sort_key(row[column_name]), reverse=is_descending)
        sorted_rows = filled_rows + [row for row in sorted_rows if row.get(column_name) is None]
    return sorted_rows


def _sort_key(row_value: object) -> tuple[bool, float, str]:
    if isinstance(row_value, (int, float)):
        return False, row_value, ""
    return True, 0.0, _value_text(row_value)
