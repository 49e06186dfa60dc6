"""Checks for topics that clients can write to on no broker, or on fewer brokers than have the topic."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import Perm
from nsadmin.client.results import error_text
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.checks import masters
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.checks.writable_topics_observation import (
    WritableTopicsObservation,
    find_master_addr,
)
from nsadmin.operations.inventory.keeper import describe_missing
from nsadmin.operations.inventory.records import lost_brokers_of_topics
from nsadmin.operations.topic_kinds import is_user_topic

_MAX_SHOWN = 10


class TopicLoss(NamedTuple):
    """The brokers that take no messages of a topic, with reasons. `is_reduced` if other brokers take them."""

    lost_brokers: Mapping[str, str]
    is_reduced: bool


def judge_writable_topics(
    scale: CheckScale,
    observation: WritableTopicsObservation,
    cluster_name: str | None = None,
    ignored_pattern: re.Pattern[str] | None = None,
) -> CheckFinding:
    """Judge each topic by its worst name server, because clients may ask any of them."""
    known_snapshots = [
        cluster_snapshot
        for _, cluster_snapshot, _ in observation.snapshot_results
        if cluster_snapshot is not None
    ]
    failure_lines = [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in observation.snapshot_results
        if error is not None
    ]
    if not known_snapshots:
        return scale.make_unknown_finding("no name server returned its topics", failure_lines)
    missing_reasons = _find_missing_reasons(observation, cluster_name)
    if (
        cluster_name is not None
        and not missing_reasons
        and not any(_has_cluster(cluster_snapshot, cluster_name) for cluster_snapshot in known_snapshots)
    ):
        return scale.make_unknown_finding(f'no name server lists the cluster "{cluster_name}"', failure_lines)
    reasons_by_topic = _find_lost_topics(observation, missing_reasons)
    user_topics = _list_user_topics(
        known_snapshots, observation.system_topics, cluster_name, reasons_by_topic, ignored_pattern
    )
    groups = _group_topics(user_topics, known_snapshots, observation, cluster_name, reasons_by_topic)
    samples = [
        scale.make_sample("reduced", len(groups.reduced)),
        scale.make_sample("unwritable", len(groups.unwritable)),
        scale.make_sample("topics", len(user_topics)),
    ]
    unknown_lines = [
        *_list_unknown_brokers(observation, missing_reasons),
        *observation.master_answers.unknown_lines,
    ]
    detail_lines = [
        *_format_topics("no broker accepts messages for", groups.unwritable),
        *_format_brokers(groups.reduced),
        *unknown_lines,
        *failure_lines,
    ]
    minimum_state = CheckState.WARNING if failure_lines or unknown_lines else CheckState.OK
    return scale.make_finding(
        _summarize_groups(groups, len(user_topics)), samples, detail_lines, minimum_state=minimum_state
    ).with_inventory_problem(observation.inventory_problem)


def _list_user_topics(
    known_snapshots: Sequence[ClusterSnapshot],
    system_topics: frozenset[str],
    cluster_name: str | None,
    lost_topics: Iterable[str],
    ignored_pattern: re.Pattern[str] | None,
) -> list[str]:
    """List the topics to judge: those that a name server has, and those of missing brokers."""
    known_topics = {
        topic
        for cluster_snapshot in known_snapshots
        for topic in cluster_snapshot.topics
        if is_user_topic(topic, system_topics)
        and (cluster_name is None or _is_in_cluster(cluster_snapshot, topic, cluster_name))
    }
    return [
        topic
        for topic in sorted(known_topics.union(lost_topics))
        if ignored_pattern is None or not ignored_pattern.search(topic)
    ]


class TopicGroups(NamedTuple):
    """The topics that lost some of their brokers, or all; and those that are read-only by configuration."""

    reduced: Mapping[str, TopicLoss]
    unwritable: Mapping[str, TopicLoss]
    read_only: Sequence[str]


def _group_topics(
    user_topics: Sequence[str],
    known_snapshots: Sequence[ClusterSnapshot],
    observation: WritableTopicsObservation,
    cluster_name: str | None,
    reasons_by_topic: Mapping[str, Mapping[str, str]],
) -> TopicGroups:
    loss_by_topic = {
        topic: _add_missing(
            _find_worst_loss(topic, known_snapshots, observation, cluster_name),
            reasons_by_topic.get(topic, {}),
            any(cluster_snapshot.topics.get(topic) for cluster_snapshot in known_snapshots),
        )
        for topic in user_topics
    }
    unwritable_topics = {
        topic: topic_loss
        for topic, topic_loss in loss_by_topic.items()
        if topic_loss.lost_brokers and not topic_loss.is_reduced
    }
    read_only_topics = [
        topic
        for topic in user_topics
        if topic not in unwritable_topics
        and all(
            _is_read_only_on_purpose(cluster_snapshot, topic, broker_name, observation)
            for cluster_snapshot in known_snapshots
            for broker_name in cluster_snapshot.topics.get(topic, ())
        )
    ]
    reduced_topics = {
        topic: topic_loss for topic, topic_loss in loss_by_topic.items() if topic_loss.is_reduced
    }
    return TopicGroups(reduced_topics, unwritable_topics, read_only_topics)


def _summarize_groups(groups: TopicGroups, topic_count: int) -> str:
    writable_count = topic_count - len(groups.unwritable) - len(groups.read_only)
    summary = f"{writable_count} of {topic_count} topics are writable"
    if groups.read_only:
        summary += f", {len(groups.read_only)} are read-only by configuration"
    if groups.reduced:
        summary += f", {len(groups.reduced)} of them not on all of their brokers"
    return f"{summary} {masters.LOOKED_AT}"


def _list_unknown_brokers(
    observation: WritableTopicsObservation, missing_reasons: Mapping[str, str]
) -> list[str]:
    known_names = {
        broker_name
        for perms_by_broker in observation.lost_topics.topic_placements.values()
        for broker_name in perms_by_broker
    }
    return [
        f"{broker_name}: {reason}; nsadmin does not know its topics"
        for broker_name, reason in sorted(missing_reasons.items())
        if broker_name not in known_names
    ]


def _find_missing_reasons(observation: WritableTopicsObservation, cluster_name: str | None) -> dict[str, str]:
    """The broker names without any registered process, with the reason."""
    return {
        missing_broker.broker.broker_name: describe_missing(missing_broker)
        for missing_broker in observation.lost_topics.missing_brokers
        if missing_broker.is_group_gone and missing_broker.broker.may_be_in(cluster_name)
    }


def _find_lost_topics(
    observation: WritableTopicsObservation, missing_reasons: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """The user topics of missing brokers, with the reason by broker name."""
    lost_brokers = lost_brokers_of_topics(
        observation.lost_topics.topic_placements, observation.lost_topics.missing_brokers
    )
    # A broker has topics with the names of itself and its cluster. No list of system topics has them.
    own_topics = {
        own_topic
        for missing_broker in observation.lost_topics.missing_brokers
        for own_topic in (
            missing_broker.broker.broker_name,
            missing_broker.broker.cluster_name,
            f"{missing_broker.broker.cluster_name}_REPLY_TOPIC",
        )
    }
    return {
        topic: {name: missing_reasons[name] for name in broker_names if name in missing_reasons}
        for topic, broker_names in lost_brokers.items()
        if topic not in own_topics
        and is_user_topic(topic, observation.system_topics)
        and any(name in missing_reasons for name in broker_names)
    }


def _add_missing(
    topic_loss: TopicLoss, missing_reasons: Mapping[str, str], is_on_other_brokers: bool
) -> TopicLoss:
    if not missing_reasons:
        return topic_loss
    if not is_on_other_brokers:
        return TopicLoss(missing_reasons, False)
    is_reduced = topic_loss.is_reduced or not topic_loss.lost_brokers
    return TopicLoss({**topic_loss.lost_brokers, **missing_reasons}, is_reduced)


def _has_cluster(known_snapshot: ClusterSnapshot, cluster_name: str) -> bool:
    return any(
        _cluster_of_broker(known_snapshot, broker_name) == cluster_name
        for broker_name in known_snapshot.brokers
    )


def _is_in_cluster(known_snapshot: ClusterSnapshot, topic: str, cluster_name: str) -> bool:
    return any(
        _cluster_of_broker(known_snapshot, broker_name) == cluster_name
        for broker_name in known_snapshot.topics.get(topic, ())
    )


def _cluster_of_broker(known_snapshot: ClusterSnapshot, broker_name: str) -> str | None:
    return (
        known_snapshot.brokers[broker_name]["clusterName"] if broker_name in known_snapshot.brokers else None
    )


def _find_worst_loss(
    topic: str,
    known_snapshots: Sequence[ClusterSnapshot],
    observation: WritableTopicsObservation,
    cluster_name: str | None,
) -> TopicLoss:
    """Return the loss on the worst name server. Not knowing the topic counts as a complete loss."""
    server_losses = [
        _find_loss(known_snapshot, topic, observation, cluster_name) for known_snapshot in known_snapshots
    ]
    return max(
        server_losses,
        key=lambda server_loss: (
            bool(server_loss.lost_brokers) and not server_loss.is_reduced,
            len(server_loss.lost_brokers),
        ),
    )


def _find_loss(
    known_snapshot: ClusterSnapshot,
    topic: str,
    observation: WritableTopicsObservation,
    cluster_name: str | None,
) -> TopicLoss:
    queues_by_broker = known_snapshot.topics.get(topic)
    if not queues_by_broker:
        return TopicLoss({"": f"name server {known_snapshot.source} does not have the topic"}, False)
    considered_queues = {
        broker_name: broker_queues
        for broker_name, broker_queues in queues_by_broker.items()
        if cluster_name in (None, _cluster_of_broker(known_snapshot, broker_name))
        and not _is_read_only_on_purpose(known_snapshot, topic, broker_name, observation)
    }
    lost_brokers = {
        broker_name: loss_reason
        for broker_name, broker_queues in considered_queues.items()
        if (
            loss_reason := masters.explain_unwritable(
                broker_queues.get("perm"),
                broker_queues.get("writeQueueNums", 0),
                find_master_addr(known_snapshot, broker_name),
                observation.master_answers,
            )
        )
    }
    return TopicLoss(lost_brokers, bool(lost_brokers) and len(lost_brokers) < len(considered_queues))


def _is_read_only_on_purpose(
    known_snapshot: ClusterSnapshot, topic: str, broker_name: str, observation: WritableTopicsObservation
) -> bool:
    """Whether the broker's own configuration makes the topic read-only.

    A silent broker cannot be asked. But a name server's wipe takes the write permission from all topics of a
    broker, so if another topic still has it, this topic was registered without it.
    """
    if find_master_addr(known_snapshot, broker_name) not in observation.master_answers.silence_reasons:
        return topic in observation.read_only_topics.get(broker_name, ())
    broker_perm = known_snapshot.topics[topic][broker_name].get("perm", 0)
    return not broker_perm & Perm.WRITE and broker_name in observation.unwiped_brokers[known_snapshot.source]


def _format_topics(line_start: str, loss_by_topic: Mapping[str, TopicLoss]) -> list[str]:
    topic_lines = [
        f"{line_start} {topic}: "
        + ", ".join(
            f"{broker_name}: {loss_reason}" if broker_name else loss_reason
            for broker_name, loss_reason in topic_loss.lost_brokers.items()
        )
        for topic, topic_loss in list(loss_by_topic.items())[:_MAX_SHOWN]
    ]
    hidden_count = len(loss_by_topic) - _MAX_SHOWN
    return [*topic_lines, f"and for {hidden_count} more topics"] if hidden_count > 0 else topic_lines


def _format_brokers(reduced_topics: Mapping[str, TopicLoss]) -> list[str]:
    """Group the losses by broker: usually one broker is lost with all its topics."""
    topic_counts = Counter(
        broker_and_reason
        for topic_loss in reduced_topics.values()
        for broker_and_reason in topic_loss.lost_brokers.items()
    )
    return [
        f"{broker_name} accepts no messages for {topic_count} topics: {loss_reason}"
        for (broker_name, loss_reason), topic_count in sorted(topic_counts.items())
    ]
