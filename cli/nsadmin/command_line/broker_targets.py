"""Selects the brokers that a command applies to: the broker of -b, or the brokers of the cluster of -c.

Without either option it raises UsageError. A command never applies to all brokers by default.
"""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from typer import Argument, Option

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.brokers.clusters import ClusterInfo
from nsadmin.client.brokers.targets import (
    NO_MASTER,
    BrokerTarget,
    list_master_targets,
    list_member_targets,
    resolve_target,
)
from nsadmin.command_line.declarations import Flags, RequiredUnless
from nsadmin.command_line.exclusive_options import require_one_of
from nsadmin.console.session import Session

T = TypeVar("T")

_BROKER_HELP = "One broker: HOST:PORT, NAME or NAME/ID."

BrokerAddrArgument = Annotated[
    str | None,
    Argument(metavar="ADDR", help=_BROKER_HELP),
    Flags("-b", "--brokerAddr"),
    RequiredUnless("cluster_name"),
]
BrokerAddrOption = Annotated[
    str | None,
    Option("-b", "--brokerAddr", metavar="ADDR", help=_BROKER_HELP),
    RequiredUnless("cluster_name"),
]
OptionalBrokerAddrOption = Annotated[
    str | None, Option("-b", "--brokerAddr", metavar="ADDR", help=_BROKER_HELP)
]
MasterAddrOption = Annotated[
    str | None,
    Option("-b", "--brokerAddr", metavar="ADDR", help="One master: HOST:PORT or NAME."),
    RequiredUnless("cluster_name"),
]
ClusterMembersOption = Annotated[
    str | None,
    Option("-c", "--clusterName", metavar="CLUSTER", help="All masters and slaves of this cluster."),
]
ClusterMastersOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="All masters of this cluster.")
]


def select_masters(session: Session, broker_text: str | None, cluster_name: str | None) -> list[BrokerTarget]:
    """The broker of -b, or the master of each broker of the cluster."""
    return _single_target(session, broker_text, cluster_name) or list_master_targets(
        _fetch_clusters(session), cluster_name
    )


def select_members(session: Session, broker_text: str | None, cluster_name: str | None) -> list[BrokerTarget]:
    """The broker of -b, or every master and slave of the cluster."""
    return _single_target(session, broker_text, cluster_name) or list_member_targets(
        _fetch_clusters(session), cluster_name
    )


def find_broker(session: Session, broker_text: str) -> BrokerTarget:
    """Find a broker by its address or name; only a name needs a name server."""
    return resolve_target(broker_text, lambda: _fetch_clusters(session))


def find_broker_addr(session: Session, broker_text: str) -> str:
    """The address of a broker that is given by its address or name."""
    broker_addr = find_broker(session, broker_text).broker_addr
    assert broker_addr is not None
    return broker_addr


def distinct_addrs(targets: Sequence[BrokerTarget]) -> list[str]:
    """The distinct addresses of the targets that have one."""
    return list(dict.fromkeys(target.broker_addr for target in targets if target.broker_addr))


def match_results(
    targets: Sequence[BrokerTarget], results: Sequence[ServerResult[T]]
) -> list[ServerResult[T]]:
    """The result of each target, in order; NotFound for a target without an address."""
    results_by_addr = {result.addr: result for result in results}
    no_master_result = ServerResult[T]("", None, NotFound(NO_MASTER))
    return [results_by_addr.get(target.broker_addr or "", no_master_result) for target in targets]


def describe_targets(targets: Sequence[BrokerTarget]) -> str:
    """The targets as text for a confirmation question."""
    return ", ".join(target.broker_addr or f"{target.broker_name} (no master)" for target in targets)


def _single_target(session: Session, broker_text: str | None, cluster_name: str | None) -> list[BrokerTarget]:
    require_one_of("-b ADDR", broker_text, "-c CLUSTER", cluster_name)
    return [] if broker_text is None else [find_broker(session, broker_text)]


def _fetch_clusters(session: Session) -> ClusterInfo:
    return session.admin.clusters.get_info()
