"""RestoreOutcome: the result of a restore for one item on one server."""

from collections.abc import Callable
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.operations.backups.records import Section


class RestoreOutcome(NamedTuple):
    """The result for one item on one server.

    Attributes:
        server_name: The broker, or the address of a name server for order configurations and KV config.
        before: The state before; None if there was none.
        after: The state after.
        result: "done", "dry-run", "unchanged", "kept", "unknown" or "failed".
        reason: Why an item or an offset was kept, or how an offset was found: "position" or "time".
    """

    section: Section
    server_name: str
    item_name: str
    before: Any
    after: Any
    result: str
    reason: str = ""
    error: RocketMQError | None = None


IS_KEPT = "it exists with other settings"


def change_item(
    section: Section,
    server: str,
    item_name: str,
    before_and_after: tuple[Any, Any],
    error: RocketMQError | None,
    write: Callable[[], RocketMQError | None],
    *,
    is_dry_run: bool,
    only_missing: bool = False,
) -> RestoreOutcome:
    """Write an item that differs, unless it is a dry run or the item exists and `only_missing` keeps it."""
    before, after = before_and_after
    result = "unchanged" if before == after else "dry-run" if is_dry_run else "done"
    if only_missing and result != "unchanged" and before is not None:
        return RestoreOutcome(section, server, item_name, before, after, "kept", IS_KEPT)
    if error is None and result == "done":
        error = write()
    return RestoreOutcome(
        section, server, item_name, before, after, "failed" if error else result, error=error
    )
