"""Owns wipeWritePerm and addWritePerm, which change a broker's write permission on every name server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.client import ServerResult
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import outcome, per_server
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "brokerName", "topicCount", *CHANGE)
IN_TABLE = ("namesrvAddr", "brokerName", "topicCount", *CHANGE_IN_TABLE)

Broker = Annotated[str, Word(("-b", "--brokerName"), "BROKER", "Name of a broker, as in clusterList.")]


@shows(COLUMNS)
def wipe_write_perm(session: Session, broker: Broker) -> Rows:
    """Take the write permission from all topics of a broker, on every name server.

    Producers stop writing to it within their next 30 seconds; consumers read on. It holds until the broker
    is restarted or its topics are changed. addWritePerm undoes it, but gives every topic the permission rw-,
    those too that had another one before. A dry run reads every topic's permission, before and after; a wipe
    does not wait for that.

    Examples:
        # How many topics would change on each name server, with nothing changed
        nsadmin wipeWritePerm broker-a-0 --dry-run
        # Producers leave broker-a-0 within 30 seconds
        nsadmin wipeWritePerm broker-a-0 --yes
    """
    session.confirm(f"Wipe the write permission of {broker} on {_where(session)}?")
    if session.dry_run:
        return _planned(session, broker, _wiped)
    return _rows(broker, session.admin.brokers.wipe_write_perm(broker))


@shows(COLUMNS)
def add_write_perm(session: Session, broker: Broker) -> Rows:
    """Give all topics of a broker the permission rw- on every name server, whatever they had before.

    Examples:
        # Producers come back to broker-a-0
        nsadmin addWritePerm broker-a-0 --yes
    """
    session.confirm(f"Make all topics of {broker} readable and writable on {_where(session)}?")
    if session.dry_run:
        return _planned(session, broker, _added)
    return _rows(broker, session.admin.brokers.add_write_perm(broker))


def _where(session: Session) -> str:
    return ", ".join(session.admin.addresses.addrs)


def _wiped(perm: int) -> int:
    return perm & ~Perm.WRITE


def _added(perm: int) -> int:
    return Perm.READ | Perm.WRITE


def _planned(session: Session, broker: str, change_of: Callable[[int], int]) -> Rows:
    rows: list[Row] = []
    results = session.admin.brokers.perms(broker)
    for addr, before, error in results:
        row: Row = {"namesrvAddr": addr, "brokerName": broker, **outcome(error, "dry-run")}
        if before is not None:
            after = {topic: int(change_of(perm)) for topic, perm in before.items()}
            exact = {"before": before, "after": after, "topicCount": len(before)}
            row = {**row, **exact, "changes": _summary(before, after)}
        rows.append(row)
    return Rows(COLUMNS, rows, [result.error for result in results], (), IN_TABLE)


def _summary(before: Mapping[str, int], after: Mapping[str, int]) -> str | None:
    """ "rw- -> r-- on 12 topics", for each pair of permissions that differ; None if no permission changes."""
    counts: dict[str, int] = {}
    for topic, perm in before.items():
        if perm != after[topic]:
            text = f"{perm_text(perm)} -> {perm_text(after[topic])}"
            counts[text] = counts.get(text, 0) + 1
    parts = (f"{text} on {count} topic{'s' if count > 1 else ''}" for text, count in counts.items())
    return ", ".join(parts) or None


def _rows(broker: str, results: Sequence[ServerResult[int]]) -> Rows:
    rows = per_server(COLUMNS, {"brokerName": broker}, results, "topicCount")
    return rows._replace(in_table=("namesrvAddr", "brokerName", "topicCount", "result", "error"))
