"""RestoreOutcome: the result of a restore for one item on one server. Pure."""

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
        reason: Why an offset was kept, or how it was found: "position" or "time".
    """

    section: Section
    server_name: str
    item_name: str
    before: Any
    after: Any
    result: str
    reason: str = ""
    error: RocketMQError | None = None


def judge_change(
    section: Section,
    server: str,
    item_name: str,
    before_and_after: tuple[Any, Any],
    error: RocketMQError | None,
    *,
    is_dry_run: bool,
) -> RestoreOutcome:
    """Return the outcome of a change that was made, or would be made in a dry run."""
    before, after = before_and_after
    if error is not None:
        result = "failed"
    elif before == after:
        result = "unchanged"
    else:
        result = "dry-run" if is_dry_run else "done"
    return RestoreOutcome(section, server, item_name, before, after, result, error=error)
