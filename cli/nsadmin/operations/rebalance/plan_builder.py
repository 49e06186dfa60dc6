"""Builds a rebalance plan from the state of a cluster and the figures of its topics. Pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from nsadmin.client.brokers.clusters import refuse_shared_addrs
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE, format_order_conf
from nsadmin.client.results import NotApplied, NotFound, error_text
from nsadmin.operations.plans.records import ClusterState
from nsadmin.operations.plans.settings import ItemSettings
from nsadmin.operations.rebalance.load_leveller import level_load
from nsadmin.operations.rebalance.load_state import LevelLimits, LevelResult, TopicLoad
from nsadmin.operations.rebalance.plan_risks import PlannedTopic, find_risks
from nsadmin.operations.rebalance.rebalance_plan import (
    NO_QUEUES,
    BrokerShares,
    LoadShares,
    QueuePair,
    RebalanceMove,
    RebalancePlan,
)
from nsadmin.operations.rebalance.topic_figures import FiguresByTopic, OffsetReading, TopicFigures
from nsadmin.operations.topic_kinds import is_user_topic

_QUEUE_PART = 0.01
"""The part of the load that counts queues, so that topics without traffic are spread, too."""
_MESSAGE_TYPE = "message.type"


class PlanRequest(NamedTuple):
    """What the operator asks for. `topic_patterns` are shell patterns; None stands for all topics."""

    goal: str = "load"
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    topic_patterns: tuple[str, ...] | None = None
    limits: LevelLimits = LevelLimits()


class ProposedPlan(NamedTuple):
    """The plan, with the result of the search: how level it is, and the lower bound of that."""

    plan: RebalancePlan
    level_result: LevelResult


def list_user_topics(cluster: ClusterState) -> list[str]:
    """The topics of users on the brokers of the cluster, sorted."""
    own_topics = frozenset().union(*(state.own_topics for state in cluster.broker_states))
    topics = {topic for state in cluster.broker_states for topic in state.topics}
    return sorted(topic for topic in topics if is_user_topic(topic, own_topics))


def check_request(cluster: ClusterState, request: PlanRequest) -> None:
    """Check that the brokers exist and answered, and that some remain.

    Raises:
        NotFound: a broker is not in the cluster, or no topic matches a pattern.
        NotApplied: a broker did not answer, several names are one process, or no broker would remain.
    """
    refuse_shared_addrs(cluster.shared_addrs)
    brokers = [state.broker_name for state in cluster.broker_states]
    for broker in (*request.added, *request.removed):
        if broker not in brokers:
            raise NotFound(
                f'no broker "{broker}" in cluster {cluster.cluster_name}: use one of {", ".join(brokers)}; '
                "for several, repeat the option"
            )
    for state in cluster.broker_states:
        if state.error is not None:
            raise NotApplied(
                f"no plan was made, because {state.broker_name} did not report its topics: "
                f"{error_text(state.error)}"
            )
    for broker in sorted({*request.added} & {*request.removed}):
        raise NotApplied(f'broker "{broker}" cannot be added and removed: omit one of them')
    if {*brokers} <= {*request.removed}:
        raise NotApplied("no broker would remain: omit a broker from --remove")
    topics = list_user_topics(cluster)
    for pattern in request.topic_patterns or ():
        if not any(fnmatchcase(topic, pattern) for topic in topics):
            raise NotFound(f'no topic of cluster {cluster.cluster_name} matches "{pattern}"')


def build_plan(
    cluster: ClusterState,
    figures: FiguresByTopic,
    reading: OffsetReading,
    request: PlanRequest,
    source: str,
    created: str,
) -> ProposedPlan:
    """Propose a plan. `created` is a UTC time, `source` says where the figures come from."""
    planned_topics = _read_topics(cluster, request)
    units = _load_units(planned_topics, figures, request.goal)
    if not units and request.goal != "queues":
        source = "queue counts, because the topics have no traffic"
    queue_units = _scale_to_one(
        {topic: float(planned.queue_total) for topic, planned in planned_topics.items()}
    )
    loads = [
        TopicLoad(
            topic,
            (1 - _QUEUE_PART) * units.get(topic, 0.0) + _QUEUE_PART * queue_units.get(topic, 0.0)
            if units
            else queue_units.get(topic, 0.0),
            {broker: counts.write for broker, counts in planned.queues.items()},
            planned.fixed_reason is not None,
        )
        for topic, planned in planned_topics.items()
    ]
    brokers = [state.broker_name for state in cluster.broker_states]
    level_result = level_load(
        loads,
        brokers,
        request.added,
        request.removed,
        request.limits._replace(counts_queues=request.goal == "queues"),
    )
    moves = tuple(
        sorted(
            _build_moves(planned_topics, level_result, reading, request),
            key=lambda move: (-units.get(move.topic, 0.0), move.topic),
        )
    )
    groups_to_create = _missing_groups(cluster, moves, reading)
    plan = RebalancePlan(
        cluster.cluster_name,
        created,
        request.goal,
        source,
        moves,
        request.added,
        request.removed,
        groups_to_create,
        _compute_shares(planned_topics, moves, figures, brokers),
    )
    return ProposedPlan(
        plan._replace(risks=find_risks(plan, planned_topics, level_result.left_topics)), level_result
    )


def _read_topics(cluster: ClusterState, request: PlanRequest) -> dict[str, PlannedTopic]:
    order_confs: dict[str, str] = {}
    for server_state in cluster.server_states:
        order_confs |= server_state.kv.get(ORDER_CONF_NAMESPACE, {})
    static_topics = frozenset().union(*(state.static for state in cluster.broker_states))
    return {
        topic: _read_topic(
            topic,
            {
                state.broker_name: state.topics[topic]
                for state in cluster.broker_states
                if topic in state.topics
            },
            order_confs.get(topic),
            topic in static_topics,
            request.topic_patterns,
        )
        for topic in list_user_topics(cluster)
    }


def _read_topic(
    topic: str,
    by_broker: Mapping[str, ItemSettings],
    order_conf: str | None,
    is_static: bool,
    topic_patterns: Sequence[str] | None,
) -> PlannedTopic:
    message_types = {settings["attributes"].get(_MESSAGE_TYPE, "") for settings in by_broker.values()}
    perms = {settings["perm"] for settings in by_broker.values()}
    fixed_reason = None
    if topic_patterns is not None and not any(fnmatchcase(topic, pattern) for pattern in topic_patterns):
        fixed_reason = "not selected"
    elif is_static:
        fixed_reason = "static"
    elif "LITE" in message_types:
        fixed_reason = "lite"
    elif any(perm & 6 != 6 for perm in perms):
        fixed_reason = "closed"
    return PlannedTopic(
        {
            broker: QueuePair(settings["readQueueNums"], settings["writeQueueNums"])
            for broker, settings in by_broker.items()
        },
        is_ordered=order_conf is not None
        or "FIFO" in message_types
        or any(settings["order"] for settings in by_broker.values()),
        order_conf=order_conf,
        message_type=next((name for name in sorted(message_types) if name), ""),
        perm=max(perms),
        fixed_reason=fixed_reason,
    )


def _load_units(
    planned_topics: Mapping[str, PlannedTopic], figures: FiguresByTopic, goal: str
) -> dict[str, float]:
    """The part of each topic in the cluster's load; {} without traffic."""
    known_figures = {topic: figures.get(topic, TopicFigures()) for topic in planned_topics}
    if goal == "disk":
        return _scale_to_one({topic: part.bytes_sent for topic, part in known_figures.items()})
    sent = _scale_to_one({topic: part.sent for topic, part in known_figures.items()})
    received = _scale_to_one({topic: part.received for topic, part in known_figures.items()})
    if not sent or not received:
        return sent or received
    return {topic: (sent[topic] + received[topic]) / 2 for topic in known_figures}


def _scale_to_one(amounts: Mapping[str, float]) -> dict[str, float]:
    total_amount = sum(amounts.values())
    return {topic: amount / total_amount for topic, amount in amounts.items()} if total_amount else {}


def _build_moves(
    planned_topics: Mapping[str, PlannedTopic],
    level_result: LevelResult,
    reading: OffsetReading,
    request: PlanRequest,
) -> list[RebalanceMove]:
    moves = []
    for topic, write_counts in level_result.queue_counts.items():
        planned = planned_topics[topic]
        after = {
            broker: counts
            for broker, counts in planned.queues.items()
            if counts.write == write_counts.get(broker, 0) and broker not in request.removed
        }
        for broker, count in write_counts.items():
            after.setdefault(broker, QueuePair(count, count))
        moves.append(
            RebalanceMove(
                topic,
                planned.is_ordered,
                planned.queues,
                after,
                planned.perm,
                planned.order_conf
                and format_order_conf({name: counts.write for name, counts in sorted(after.items())}),
                sum(
                    reading.count_unread((broker, topic), after.get(broker, NO_QUEUES).read)
                    for broker in planned.queues
                ),
            )
        )
    return moves


def _missing_groups(
    cluster: ClusterState, moves: Sequence[RebalanceMove], reading: OffsetReading
) -> dict[str, tuple[str, ...]]:
    """The groups of moved topics that a broker with new queues lacks."""
    groups_by_topic = reading.groups_by_topic()
    known_groups = {state.broker_name: state.groups.keys() for state in cluster.broker_states}
    missing_by_broker: dict[str, set[str]] = {}
    for move in moves:
        for broker in move.after.keys() - move.before.keys():
            lacking_groups = groups_by_topic.get(move.topic, set()) - known_groups[broker]
            if lacking_groups:
                missing_by_broker.setdefault(broker, set()).update(lacking_groups)
    return {broker: tuple(sorted(groups)) for broker, groups in sorted(missing_by_broker.items())}


def _compute_shares(
    planned_topics: Mapping[str, PlannedTopic],
    moves: Sequence[RebalanceMove],
    figures: FiguresByTopic,
    brokers: Sequence[str],
) -> dict[str, BrokerShares]:
    queues_before = {topic: planned.queues for topic, planned in planned_topics.items()}
    queues_after = queues_before | {move.topic: move.after for move in moves}
    shares_before = _sum_shares(queues_before, figures, brokers)
    shares_after = _sum_shares(queues_after, figures, brokers)
    return {broker: BrokerShares(shares_before[broker], shares_after[broker]) for broker in brokers}


def _sum_shares(
    queues_by_topic: Mapping[str, Mapping[str, QueuePair]], figures: FiguresByTopic, brokers: Sequence[str]
) -> dict[str, LoadShares]:
    amounts = {broker: [0.0, 0.0, 0.0, 0.0] for broker in brokers}
    for topic, queues in queues_by_topic.items():
        total = sum(counts.write for counts in queues.values()) or 1
        topic_amounts = (*figures.get(topic, TopicFigures()), total)
        for broker, counts in queues.items():
            for position, amount in enumerate(topic_amounts):
                amounts[broker][position] += amount * counts.write / total
    totals = [sum(column) for column in zip(*amounts.values(), strict=True)]
    return {
        broker: LoadShares(
            *(
                round(100 * part / total, 1) if total else 0.0
                for part, total in zip(broker_amounts, totals, strict=True)
            )
        )
        for broker, broker_amounts in amounts.items()
    }
