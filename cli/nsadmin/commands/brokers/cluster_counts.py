"""Owns the rows of clusterList --count: how many brokers, topics and groups each cluster has."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.commands.columns.brokers import CLUSTER_NAME
from nsadmin.commands.columns.servers import failure_notes
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.topic_kinds import is_user_topic


class ClusterCounts(NamedTuple):
    """What a cluster has; `master_infos` are those of its masters that answered."""

    cluster_name: str
    broker_names: frozenset[str]
    slave_count: int
    topics: frozenset[str]
    groups: frozenset[str]
    master_infos: Sequence[RuntimeInfo]


COUNT_COLUMNS: Columns[ClusterCounts] = (
    CLUSTER_NAME,
    Column(
        "brokers", "brokers; a master and its slaves are one broker", lambda counts: len(counts.broker_names)
    ),
    Column("slaves", "slaves of all brokers", lambda counts: counts.slave_count),
    Column(
        "topics",
        "topics, without RocketMQ's own and those of retries and dead letters",
        lambda counts: len(counts.topics),
    ),
    Column("groups", "consumer groups, with and without clients", lambda counts: len(counts.groups)),
    Column(
        "inTps",
        "messages that arrive per second",
        lambda counts: round(sum(info.get_number("putTps") or 0 for info in counts.master_infos), 2),
    ),
    Column(
        "inTotalYest",
        "messages that arrived yesterday",
        lambda counts: sum(
            info.get_difference("msgPutTotalTodayMorning", "msgPutTotalYesterdayMorning") or 0
            for info in counts.master_infos
        ),
    ),
)


def count_clusters(session: Session, cluster_name: str | None) -> ResultRows:
    admin = session.admin
    statuses = admin.clusters.list_broker_status(cluster_name)
    own_topics = admin.topics.list_system_names()
    errors = {s.broker_addr: s.error for s in statuses}
    counts = []
    for name in dict.fromkeys(s.cluster_name for s in statuses):
        processes = [s for s in statuses if s.cluster_name == name]
        masters = [s for s in processes if s.broker_id == MASTER_BROKER_ID]
        group_results = admin.groups.list_names(name)
        errors |= {r.addr: r.error for r in group_results if r.error is not None}
        counts.append(
            ClusterCounts(
                name,
                frozenset(s.broker_name for s in processes),
                len(processes) - len(masters),
                frozenset(t for t in admin.topics.list_names(name) if is_user_topic(t, own_topics)),
                frozenset(group for r in group_results for group in r.result or ()),
                [s.runtime_info for s in masters if s.runtime_info is not None],
            )
        )
    notes = [_describe_sum(counts)] if len(counts) > 1 else []
    return ResultRows.from_records(
        COUNT_COLUMNS, counts, [None, *errors.values()], [*notes, *failure_notes(errors.items(), "broker")]
    )


def _describe_sum(counts: Sequence[ClusterCounts]) -> str:
    """The sums of all clusters; a topic or group of several clusters counts once."""
    brokers, topics, groups = (
        len(frozenset().union(*sets))
        for sets in zip(*((c.broker_names, c.topics, c.groups) for c in counts), strict=True)
    )
    return (
        f"all clusters: {count_noun(brokers, 'broker')}, {count_noun(topics, 'topic')} and "
        f"{count_noun(groups, 'consumer group')}; what several clusters have counts once"
    )
