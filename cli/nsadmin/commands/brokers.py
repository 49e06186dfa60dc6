"""wipeWritePerm and addWritePerm: whether producers may write to a broker, on every name server."""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import per_server
from nsadmin.output import Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "brokerName", "topicCount", "result", "error")

Broker = Annotated[str, Word(("-b", "--brokerName"), "BROKER", "Name of a broker, as in clusterList.")]


@shows(COLUMNS)
def wipe_write_perm(session: Session, broker: Broker) -> Rows:
    """Take the write permission from all topics of a broker, on every name server.

    Producers stop writing to it within their next 30 seconds; consumers read on. It holds until the broker
    is restarted or its topics are changed. addWritePerm undoes it, but gives every topic the permission rw-,
    those too that had another one before.

    Examples:
        # Which name servers would be told, with nothing changed
        nsadmin wipeWritePerm broker-a-0 --dry-run
        # Producers leave broker-a-0 within 30 seconds
        nsadmin wipeWritePerm broker-a-0 --yes
    """
    session.confirm(f"Wipe the write permission of {broker} on {_where(session)}?")
    if session.dry_run:
        return _planned(session, broker)
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
        return _planned(session, broker)
    return _rows(broker, session.admin.brokers.add_write_perm(broker))


def _where(session: Session) -> str:
    return ", ".join(session.admin.addresses.addrs)


def _planned(session: Session, broker: str) -> Rows:
    found = session.admin.brokers.registered(broker)
    return _rows(broker, [ServerResult(addr, None, error) for addr, _, error in found], "dry-run")


def _rows(broker: str, results: Sequence[ServerResult[int]], done: str = "done") -> Rows:
    return per_server(COLUMNS, {"brokerName": broker}, results, "topicCount", done)
