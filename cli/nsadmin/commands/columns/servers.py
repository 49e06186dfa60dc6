"""Columns about servers, and about what a request did on each of them."""

from collections.abc import Iterable
from typing import Any

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import ServerResult, error_text, is_not_found
from nsadmin.console.output import AnyColumn, Column

NAMESRV_ADDR: AnyColumn = Column("namesrvAddr", "address of the name server, HOST:PORT", lambda r: r.addr)
SERVER: AnyColumn = Column("server", "address of the changed broker or name server", lambda r: r.server)
ROLE: AnyColumn = Column("role", "master, slave or namesrv", lambda r: r.role)
ERROR: AnyColumn = Column(
    "error", "error text; null after a success", lambda r: None if r.error is None else error_text(r.error)
)


def failure_notes(errors: Iterable[tuple[str, RocketMQError | None]], kind: str = "broker") -> list[str]:
    """A line for each error, with the names or addresses of the servers of this kind that have it."""
    names_by_text: dict[str, list[str]] = {}
    for name, error in errors:
        if error is not None:
            names_by_text.setdefault(error_text(error), []).append(name)
    return [f"{kind}{'s' * (len(n) > 1)} {', '.join(n)}: {text}" for text, n in names_by_text.items()]


def result_notes(results: Iterable[ServerResult[Any]], kind: str = "broker") -> list[str]:
    return failure_notes(((r.addr, r.error) for r in results), kind)


def drop_absences(errors: Iterable[RocketMQError | None]) -> list[RocketMQError | None]:
    """The errors; if a server has the thing, those that do not have it did not fail."""
    errors = list(errors)
    return [None if None in errors and is_not_found(error) else error for error in errors]


def outcome_word(error: RocketMQError | None, done: str = "done") -> str:
    """The value of the column `result`."""
    return done if error is None else "not found" if is_not_found(error) else "failed"


def result_column(meaning: str, done: str = "done") -> AnyColumn:
    """The column `result` of records with an `error`."""

    def read(record: Any) -> str:
        return outcome_word(record.error, done)

    return Column("result", meaning, read)
