"""Builds the cells and rows of a change: the values before and after it, and the difference in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from namesrv_core.protocol.codes import perm_text
from nsadmin.client import ServerResult
from nsadmin.client.results import is_not_found
from nsadmin.commands.results import outcome
from nsadmin.output import Row, Rows

CHANGE = ("changes", "before", "after", "result", "error")
"""The last columns of a row about a change."""
CHANGE_IN_TABLE = ("changes", "result", "error")


def change(before: object, after: object) -> dict[str, object]:
    """The columns `changes`, `before` and `after`; None stands for a missing value."""
    return {"changes": words(before, after), "before": before, "after": after}


def words(before: Any, after: Any) -> str | None:
    """The change on one line: "48 -> 72", "perm rw- -> r--", "new: …", "gone: …"; None for no change."""
    if before == after:
        return None
    if before is None or after is None:
        return f"gone: {_text(before)}" if after is None else f"new: {_text(after)}"
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return ", ".join(
            f"{name} {_item(name, before.get(name))} -> {_item(name, after.get(name))}" for name in names
        )
    return f"{_text(before)} -> {_text(after)}"


def gone(before: Mapping[str, Any] | None, names: Sequence[str]) -> str | None:
    """Describe a removed item by its main settings, or by all settings if it has none of the main ones."""
    if before is None:
        return None
    return words({name: before[name] for name in names if name in before} or before, None)


def _text(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _item("", value)
    return ", ".join(f"{name} {_item(name, item)}" for name, item in value.items()) or "{}"


def _item(name: str, value: Any) -> str:
    """Format a setting's value; a permission becomes letters."""
    if name == "perm" and isinstance(value, int):
        return perm_text(value)
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_item(key, item)}" for key, item in value.items()) or "none"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) or "''"


def per_name_server(
    common: Mapping[str, object],
    before: Sequence[ServerResult[Any]],
    done: Sequence[ServerResult[Any]],
    word: str = "done",
) -> Rows:
    """A row for each name server, in the order of `change_results`, which hold the values afterwards."""
    was = {addr: value for addr, value, _ in before}
    rows: list[Row] = [
        {
            "namesrvAddr": addr,
            **common,
            **(change(was.get(addr), after) if error is None else {"before": was.get(addr)}),
            **outcome(error, word),
        }
        for addr, after, error in done
    ]
    columns = ("namesrvAddr", *common)
    errors = [result.error for result in done]
    return Rows((*columns, *CHANGE), rows, errors, (), (*columns, *CHANGE_IN_TABLE))


def forgiving(rows: Rows) -> Rows:
    """The same rows without "not found" errors, if at least one server had the item to delete."""
    if None not in rows.errors:
        return rows
    return rows._replace(errors=[None if is_not_found(error) else error for error in rows.errors])
