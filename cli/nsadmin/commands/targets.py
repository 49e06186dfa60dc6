"""Which brokers a command is for: the one at -b, or those of the cluster at -c; never all by silence."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.addresses import BROKER_PORT, parse_addr
from nsadmin.client.clusters import ClusterInfo
from nsadmin.client.targets import NO_MASTER, Target, at, masters, members
from nsadmin.commands.declared import Option, Word
from nsadmin.diagnostics import UsageError
from nsadmin.session import Session

T = TypeVar("T")

AddrWord = Annotated[
    str | None, Word(("-b", "--brokerAddr"), "ADDR", "Address of one broker.", required=False)
]
AddrOption = Annotated[
    str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="Address of one broker.")
]
MasterOption = Annotated[
    str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="Address of one master.")
]
MembersOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every master and slave of it.")
]
MastersOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every master of it.")
]


def masters_at(session: Session, command: str, broker: str | None, cluster: str | None) -> list[Target]:
    """The broker named, or the master of each broker of the cluster."""
    return _one(command, broker, cluster) or masters(_clusters(session), cluster)


def members_at(session: Session, command: str, broker: str | None, cluster: str | None) -> list[Target]:
    """The broker named, or every master and slave of the cluster."""
    return _one(command, broker, cluster) or members(_clusters(session), cluster)


def addrs(targets: Sequence[Target]) -> list[str]:
    """The addresses to ask, each of them once."""
    return list(dict.fromkeys(target.broker_addr for target in targets if target.broker_addr))


def matched(targets: Sequence[Target], results: Sequence[ServerResult[T]]) -> list[ServerResult[T]]:
    """The result of each target, which for one without an address is that it could not be asked."""
    found = {result.addr: result for result in results}
    missing = ServerResult[T]("", None, NotFound(NO_MASTER))
    return [found.get(target.broker_addr or "", missing) for target in targets]


def places(targets: Sequence[Target]) -> str:
    """The targets as a question names them."""
    return ", ".join(target.broker_addr or f"{target.broker_name} (no master)" for target in targets)


def identity(target: Target) -> dict[str, object]:
    return {
        "brokerName": target.broker_name,
        "brokerId": target.broker_id,
        "brokerAddr": target.broker_addr,
    }


IDENTITY = ("brokerName", "brokerId", "brokerAddr")


def _one(command: str, broker: str | None, cluster: str | None) -> list[Target]:
    if (broker is None) == (cluster is None):
        raise UsageError(f"{command}: type either -b ADDR or -c CLUSTER")
    return [] if broker is None else [at(parse_addr(broker, BROKER_PORT))]


def _clusters(session: Session) -> ClusterInfo:
    return session.admin.clusters.info()
