"""Builds rows with the result of a change on each name server."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.results import error_text, is_not_found
from nsadmin.console.output import ResultRow, ResultRows

T = TypeVar("T")


def rows_per_server(
    columns: Sequence[str],
    common_cells: Mapping[str, object],
    results: Sequence[ServerResult[T]],
    value_column: str,
    done_word: str = "done",
) -> ResultRows:
    """A row for each name server: `namesrvAddr`, the common cells, the value, `result` and `error`."""
    result_rows: list[ResultRow] = [
        {
            "namesrvAddr": namesrv_addr,
            **common_cells,
            **({value_column: value} if error is None else {}),
            **outcome_cells(error, done_word),
        }
        for namesrv_addr, value, error in results
    ]
    return ResultRows(columns, result_rows, [result.error for result in results])


def outcome_cells(error: RocketMQError | None, done_word: str = "done") -> dict[str, object]:
    """The columns `result` and `error`."""
    if error is None:
        return {"result": done_word, "error": None}
    return {"result": "not found" if is_not_found(error) else "failed", "error": error_text(error)}
