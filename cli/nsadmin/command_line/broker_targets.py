"""Selects the brokers that a command applies to: the brokers of -b, or those of the clusters of -c.

Without either option, commands that read ask all brokers. Others raise UsageError.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
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
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.declarations import Flags, RequiredUnless
from nsadmin.command_line.exclusive_options import refuse_both, require_one_of
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.name_patterns import expand_patterns, is_pattern

T = TypeVar("T")

_SEVERAL = "a,b for several, '*' for all"
_BROKER_HELP = f"A broker: HOST:PORT, NAME or NAME:ID; {_SEVERAL}."

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
ReadBrokerArgument = Annotated[
    str | None,
    Argument(metavar="ADDR", help=f"{_BROKER_HELP} Default: all brokers."),
    Flags("-b", "--brokerAddr"),
]
ReadBrokerOption = Annotated[
    str | None, Option("-b", "--brokerAddr", metavar="ADDR", help=f"{_BROKER_HELP} Default: all brokers.")
]
_MASTER_HELP = f"A master: HOST:PORT or NAME; {_SEVERAL}."
MasterAddrOption = Annotated[
    str | None,
    Option("-b", "--brokerAddr", metavar="ADDR", help=_MASTER_HELP),
    RequiredUnless("cluster_name"),
]
ReadMasterOption = Annotated[
    str | None, Option("-b", "--brokerAddr", metavar="ADDR", help=f"{_MASTER_HELP} Default: all brokers.")
]
ClusterMembersOption = Annotated[
    str | None,
    Option(
        "-c", "--clusterName", metavar="CLUSTER", help=f"All masters and slaves of a cluster; {_SEVERAL}."
    ),
]
ClusterMastersOption = Annotated[
    str | None,
    Option("-c", "--clusterName", metavar="CLUSTER", help=f"All masters of a cluster; {_SEVERAL}."),
]


def select_masters(session: Session, broker_list: str | None, cluster_list: str | None) -> list[BrokerTarget]:
    """The brokers of -b, or the master of each broker of the clusters."""
    require_one_of("-b ADDR", broker_list, "-c CLUSTER", cluster_list)
    return list_masters(session, broker_list, cluster_list)


def select_members(session: Session, broker_list: str | None, cluster_list: str | None) -> list[BrokerTarget]:
    """The brokers of -b, or every master and slave of the clusters."""
    require_one_of("-b ADDR", broker_list, "-c CLUSTER", cluster_list)
    return list_members(session, broker_list, cluster_list)


def list_masters(session: Session, broker_list: str | None, cluster_list: str | None) -> list[BrokerTarget]:
    """The brokers of -b, the master of each broker of the clusters, or those of all clusters."""
    return _list_targets(session, broker_list, cluster_list, list_master_targets)


def list_members(session: Session, broker_list: str | None, cluster_list: str | None) -> list[BrokerTarget]:
    """The brokers of -b, every master and slave of the clusters, or those of all clusters."""
    return _list_targets(session, broker_list, cluster_list, list_member_targets)


def list_replicas(session: Session, broker_list: str | None, cluster_list: str | None) -> list[BrokerTarget]:
    """Like `list_members`, but a name of -b means the master and all slaves of the broker."""
    refuse_both("-b ADDR", broker_list, "-c CLUSTER", cluster_list)
    if broker_list is None:
        return list_members(session, None, cluster_list)

    @cache
    def list_by_name() -> dict[str | None, list[BrokerTarget]]:
        by_name: dict[str | None, list[BrokerTarget]] = {}
        for target in list_member_targets(_fetch_clusters(session), None):
            by_name.setdefault(target.broker_name, []).append(target)
        return by_name

    texts = expand_patterns(
        "broker", parse_name_list("-b", broker_list), lambda: filter(None, list_by_name())
    )
    return [
        target
        for text in texts
        for target in (":" not in text and list_by_name().get(text)) or [find_broker(session, text)]
    ]


def list_clusters(session: Session, cluster_list: str) -> list[str]:
    """The clusters that the names and patterns of -c mean."""
    names = parse_name_list("-c", cluster_list)
    return expand_patterns("cluster", names, lambda: _fetch_clusters(session).cluster_names)


def remark_other_clusters(session: Session, fact: str, clusters: Collection[str]) -> None:
    """Say what a change with -c leaves in other clusters: clients use the brokers of all of them."""
    if clusters:
        session.write_remark(
            f"{fact} in {abbreviate_names(sorted(clusters), 3)}: pass '*' as the cluster for all clusters"
        )


def leave_out_clusters(
    session: Session,
    name: str,
    cluster_list: str | None,
    targets: list[BrokerTarget],
    find_lacking: Callable[[], Collection[BrokerTarget]],
) -> list[BrokerTarget]:
    """The targets without the clusters that a pattern of -c means and that lack what is to be changed.

    A cluster lacks it if all its targets do, as `find_lacking` says. If all clusters lack it, it is new, and
    no cluster is left out.
    """
    if cluster_list is None or not any(map(is_pattern, names := parse_name_list("-c", cluster_list))):
        return targets
    lacking = set(find_lacking())
    info = _fetch_clusters(session)
    targets_by_cluster = {c: set(list_master_targets(info, c)) for c in list_clusters(session, cluster_list)}
    left_out = [c for c, masters in targets_by_cluster.items() if masters <= lacking and c not in names]
    if not left_out or lacking.issuperset(targets):
        return targets
    lack = "does" if len(left_out) == 1 else "do"
    session.write_remark(
        f"{name} is not created in {abbreviate_names(left_out, 3)}, which {lack} not have it: "
        f"pass -c {','.join(left_out)} to create it there"
    )
    left_out_targets = set().union(*(targets_by_cluster[cluster] for cluster in left_out))
    return [target for target in targets if target not in left_out_targets]


def find_broker(session: Session, broker_text: str) -> BrokerTarget:
    """Find a broker by its address or name; only a name needs a name server."""
    return resolve_target(broker_text, lambda: _fetch_clusters(session))


def find_brokers(session: Session, broker_list: str) -> list[BrokerTarget]:
    """The brokers that the addresses, names and patterns of -b mean; a pattern means masters."""
    masters: dict[str, BrokerTarget] = {}

    def list_names() -> Iterable[str]:
        for target in list_master_targets(_fetch_clusters(session), None):
            masters[target.broker_name or ""] = target
        return masters

    names = expand_patterns("broker", parse_name_list("-b", broker_list), list_names)
    return [masters.get(name) or find_broker(session, name) for name in names]


def find_broker_addr(session: Session, broker_text: str) -> str:
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
    return ", ".join(target.broker_addr or f"{target.broker_name} (no master)" for target in targets)


def _list_targets(
    session: Session,
    broker_list: str | None,
    cluster_list: str | None,
    list_targets: Callable[[ClusterInfo, str | None], list[BrokerTarget]],
) -> list[BrokerTarget]:
    refuse_both("-b ADDR", broker_list, "-c CLUSTER", cluster_list)
    if broker_list is not None:
        return find_brokers(session, broker_list)
    cluster_names = [None] if cluster_list is None else list_clusters(session, cluster_list)
    cluster_info = _fetch_clusters(session)
    targets = [target for name in cluster_names for target in list_targets(cluster_info, name)]
    for name in cluster_names:
        remark_missing(session, name, "this command leaves it out; run it again when the broker is back")
    return targets


def remark_missing(
    session: Session, cluster_name: str | None, consequence: str, topics: Iterable[str | None] = (None,)
) -> None:
    """Name the brokers of a cluster that no name server lists, unless they never had one of the topics."""
    inventory, groups = open_inventory(session), session.admin.clusters.list_latest_groups()
    lost_names = {
        name: reason
        for topic in topics
        for name, reason in inventory.find_lost_names(groups, cluster_name, topic).items()
    }
    for name, reason in lost_names.items():
        session.write_remark(f"{name} is {reason}: {consequence}")


def _fetch_clusters(session: Session) -> ClusterInfo:
    return session.admin.clusters.get_info()
