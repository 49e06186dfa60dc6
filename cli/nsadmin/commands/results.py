"""Builds rows with the result of a change on each name server."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.results import error_text, is_not_found
from nsadmin.output import Row, Rows

T = TypeVar("T")


def per_server(
    columns: Sequence[str],
    common: Mapping[str, object],
    results: Sequence[ServerResult[T]],
    value_column: str,
    done: str = "done",
) -> Rows:
    """A row for each name server: `namesrvAddr`, the common cells, the value, `result` and `error`."""
    rows: list[Row] = [
        {
            "namesrvAddr": addr,
            **common,
            **({value_column: value} if error is None else {}),
            **outcome(error, done),
        }
        for addr, value, error in results
    ]
    return Rows(columns, rows, [result.error for result in results])


def outcome(error: RocketMQError | None, done: str = "done") -> dict[str, object]:
    """The columns `result` and `error`."""
    if error is None:
        return {"result": done, "error": None}
    return {"result": "not found" if is_not_found(error) else "failed", "error": error_text(error)}
