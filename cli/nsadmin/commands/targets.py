"""Selects the brokers that a command applies to: the broker of -b, or the brokers of the cluster of -c.

Without either option it raises UsageError: a command never applies to all brokers by default.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.clusters import ClusterInfo
from nsadmin.client.targets import NO_MASTER, Target, masters, members, named
from nsadmin.commands.declared import Option, Word
from nsadmin.diagnostics import UsageError
from nsadmin.session import Session

T = TypeVar("T")

AddrWord = Annotated[
    str | None, Word(("-b", "--brokerAddr"), "ADDR", "One broker: address, NAME or NAME/ID.", required=False)
]
AddrOption = Annotated[
    str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="One broker: address, NAME or NAME/ID.")
]
MasterOption = Annotated[
    str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="One master: its address or name.")
]
MembersOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every master and slave of it.")
]
MastersOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every master of it.")
]


def masters_at(session: Session, command: str, broker: str | None, cluster: str | None) -> list[Target]:
    """The broker of -b, or the master of each broker of the cluster."""
    return _one(session, command, broker, cluster) or masters(_clusters(session), cluster)


def members_at(session: Session, command: str, broker: str | None, cluster: str | None) -> list[Target]:
    """The broker of -b, or every master and slave of the cluster."""
    return _one(session, command, broker, cluster) or members(_clusters(session), cluster)


def broker_at(session: Session, text: str) -> Target:
    """Find a broker by its address or name; only a name needs a name server."""
    return named(text, lambda: _clusters(session))


def broker_addr(session: Session, text: str) -> str:
    """The address of a broker that is given by its address or name."""
    addr = broker_at(session, text).broker_addr
    assert addr is not None
    return addr


def addrs(targets: Sequence[Target]) -> list[str]:
    """The distinct addresses of the targets that have one."""
    return list(dict.fromkeys(target.broker_addr for target in targets if target.broker_addr))


def matched(targets: Sequence[Target], results: Sequence[ServerResult[T]]) -> list[ServerResult[T]]:
    """The result of each target, in order; NotFound for a target without an address."""
    found = {result.addr: result for result in results}
    missing = ServerResult[T]("", None, NotFound(NO_MASTER))
    return [found.get(target.broker_addr or "", missing) for target in targets]


def carried_out(
    session: Session,
    targets: Sequence[Target],
    plans: Sequence[ServerResult[T]],
    carry_out: Callable[[Sequence[ServerResult[T]]], Sequence[ServerResult[T]]],
) -> list[tuple[Target, ServerResult[T]]]:
    """Each target with the result of the change; in a dry run, with the plan."""
    done = plans if session.dry_run else carry_out(plans)
    return list(zip(targets, matched(targets, done), strict=True))


def places(targets: Sequence[Target]) -> str:
    """The targets as text for a confirmation question."""
    return ", ".join(target.broker_addr or f"{target.broker_name} (no master)" for target in targets)


def identity(target: Target) -> dict[str, object]:
    return {
        "brokerName": target.broker_name,
        "brokerId": target.broker_id,
        "brokerAddr": target.broker_addr,
    }


IDENTITY = ("brokerName", "brokerId", "brokerAddr")


def _one(session: Session, command: str, broker: str | None, cluster: str | None) -> list[Target]:
    if (broker is None) == (cluster is None):
        raise UsageError(f"{command}: type either -b ADDR or -c CLUSTER")
    return [] if broker is None else [broker_at(session, broker)]


def _clusters(session: Session) -> ClusterInfo:
    return session.admin.clusters.info()
