"""The offsets that a group had before its last move, as the audit of this account has them."""

import shlex
from collections.abc import Collection, Iterable

from nsadmin.client import NotFound
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied
from nsadmin.console import audit
from nsadmin.console.audit import AuditRecord, UnreadableAuditError
from nsadmin.console.exit_codes import UsageError

_MOVING_COMMANDS = frozenset(("resetOffsetByTime", "skipAccumulatedMessage", "cloneGroupOffset"))
_MOVED_RESULTS = ("done", "pending", "unknown")

FormerOffsets = dict[tuple[str, int], int | None]


def read_former_offsets(group: str, topic: str, namesrv_addrs: Collection[str]) -> FormerOffsets:
    """Return the offset of each queue before the last move of a group; None where it had none.

    Raises NotFound, NotApplied, or UsageError without an audit.
    """
    audit_file = audit.audit_path()
    if audit_file is None:
        raise UsageError("the audit is disabled: NSADMIN_AUDIT is off")
    try:
        records = audit.load_audit(audit_file).records
    except UnreadableAuditError as error:
        raise UsageError(f"{error}") from None
    return find_former_offsets(records, group, topic, namesrv_addrs)


def find_former_offsets(
    records: Iterable[AuditRecord], group: str, topic: str, namesrv_addrs: Collection[str]
) -> FormerOffsets:
    """The pure part of `read_former_offsets`; `records` are in order of time.

    A command writes a record before it begins, which counts as a failed one. A command that failed and ran
    again is one move. An undo that failed is repeated, not undone.
    """
    former: FormerOffsets = {}
    last_kind = None
    for record in reversed(list(records)):
        words, has_failed = _split_command(record), bool(record.get("exitCode"))
        kind = (words[:1], "--undo" in words)
        if has_failed and "--undo" in words and last_kind is None:
            continue
        if words[:1] and words[0] not in _MOVING_COMMANDS:
            continue
        if set(namesrv_addrs).isdisjoint(record.get("nameServers") or ()):
            continue
        rows = [row for row in record.get("results") or () if isinstance(row, dict)]
        names_topic = group in words and topic in (name for word in words for name in word.split(","))
        if last_kind is not None and (kind != last_kind or not has_failed):
            if names_topic or any((row.get("group"), row.get("topic")) == (group, topic) for row in rows):
                break
            continue
        if not rows and names_topic:
            raise NotApplied(
                f'the last move of "{group}" on "{topic}" ended early, so the audit has no offsets of it: '
                "nsadmin audit list shows it"
            )
        moved_rows = [
            row
            for row in rows
            if (row.get("group"), row.get("topic")) == (group, topic) and row.get("result") in _MOVED_RESULTS
        ]
        if moved_rows and len(rows) >= audit.MAX_RESULT_ROWS:
            raise NotApplied(
                f"the audit has only the first {audit.MAX_RESULT_ROWS} queues of the last move: "
                "reset the group with -s TIME"
            )
        if moved_rows:
            last_kind = kind
            former |= {(row["brokerName"], row["queueId"]): row.get("from") for row in moved_rows}
    if former:
        return former
    raise NotFound(
        f'nothing to undo: the audit has no move of "{group}" on "{topic}" (see nsadmin audit list)'
    )


def add_move_undos(records: Iterable[AuditRecord]) -> list[AuditRecord]:
    """Add `undo` to the records of moves, for the topics on which each was the last move of the group.

    Brokers cannot remove an offset where there was none, so a move without former offsets has no undo.
    """
    completed: list[AuditRecord] = []
    undone: set[tuple[str, ...]] = set()
    for record in reversed(list(records)):
        undo, moves = None, _MOVING_COMMANDS.intersection(_split_command(record)[:1])
        servers = ("-n", ";".join(record.get("nameServers") or ()))
        moved: set[tuple[str, ...]] = set()
        topics: dict[str, None] = {}
        for row in record.get("results") or () if moves else ():
            group, topic = str(row.get("group")), str(row.get("topic"))
            if row.get("result") in _MOVED_RESULTS and (group, topic, *servers) not in undone:
                moved.add((group, topic, *servers))
                if row.get("from") is not None:
                    topics[topic] = None
                    undo = quote_command(
                        "resetOffsetByTime",
                        group,
                        ",".join(topics),
                        "--undo",
                        *audit.list_connection(record),
                    )
        undone |= moved
        completed.append(record | {"undo": undo})
    return completed[::-1]


def _split_command(record: AuditRecord) -> list[str]:
    try:
        return shlex.split(str(record.get("command")))
    except ValueError:
        return []
