"""Checks for topics that clients can write to on no broker, or on fewer brokers than have the topic."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.console.phrases import abbreviate_names, count_noun, part_is
from nsadmin.operations.checks import masters
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState, list_failures
from nsadmin.operations.checks.masters import MasterAnswers
from nsadmin.operations.inventory.keeper import NO_LOST_TOPICS, LostTopics, describe_missing
from nsadmin.operations.inventory.records import lost_brokers_of_topics
from nsadmin.operations.order_conf_check import check_order_confs
from nsadmin.operations.topic_kinds import find_groups_with_retries, is_user_topic

_MAX_SHOWN = 10


class WritableTopicsObservation(NamedTuple):
    """The state of each name server, RocketMQ's system topics, and what masters answered.

    `read_only_topics` has, by broker name, the topics that the broker's own configuration makes read-only.
    They are read-only on purpose, not because a name server's write permission was removed. By name server,
    `unwiped_brokers` have a topic with the write permission. `lost_topics` has the missing brokers.
    `inventory_problem` says why they are unknown. `cluster_name` and `excluded` limit what is judged.
    """

    snapshot_results: Sequence[ServerResult[ClusterSnapshot]]
    system_topics: frozenset[str] = frozenset()
    master_answers: MasterAnswers = MasterAnswers()
    read_only_topics: Mapping[str, frozenset[str]] = {}
    unwiped_brokers: Mapping[str, frozenset[str]] = {}
    lost_topics: LostTopics = NO_LOST_TOPICS
    inventory_problem: str | None = None
    cluster_name: str | None = None
    excluded: re.Pattern[str] | None = None

    @property
    def snapshots(self) -> list[ClusterSnapshot]:
        return [snapshot for _, snapshot, _ in self.snapshot_results if snapshot is not None]


def observe(admin: AdminClient, scope: CheckScope) -> WritableTopicsObservation:
    """Read all name servers, ask every master, and read which topics brokers configure as read-only."""
    results, inventory = take_server_snapshots(admin, admin.clock_ms), scope.inventory
    snapshots = [snapshot for _, snapshot, _ in results if snapshot is not None]
    scope.report_groups(find_groups_with_retries({topic for shot in snapshots for topic in shot.topics}))
    if not snapshots:
        return WritableTopicsObservation(results)
    answers = masters.ask_masters(
        admin, [find_master_addr(snapshot, name) for snapshot in snapshots for name in snapshot.brokers]
    )
    system_topics = admin.topics.list_system_names()
    return WritableTopicsObservation(
        results,
        system_topics,
        answers,
        _find_read_only(admin, snapshots, system_topics, answers.silence_reasons),
        {snapshot.source: _find_unwiped_brokers(snapshot) for snapshot in snapshots},
        NO_LOST_TOPICS if inventory is None else inventory.observe_snapshots(snapshots),
        None if inventory is None else inventory.problem,
        scope.cluster_name,
        scope.excluded,
    )


def _find_unwiped_brokers(snapshot: ClusterSnapshot) -> frozenset[str]:
    return frozenset(
        name
        for brokers in snapshot.topics.values()
        for name, queues in brokers.items()
        if queues.get("perm", 0) & Perm.WRITE
    )


def _find_read_only(
    admin: AdminClient,
    snapshots: Sequence[ClusterSnapshot],
    system_topics: frozenset[str],
    silence_reasons: Mapping[str, str],
) -> dict[str, frozenset[str]]:
    """Ask the master, or a slave, which copies the topics, of each broker that may have read-only ones."""
    suspect_addrs = {
        next(
            (
                addr
                for _, addr in sorted(snapshot.brokers.get(name, {}).get("brokerAddrs", {}).items())
                if addr not in silence_reasons
            ),
            None,
        )
        for snapshot in snapshots
        for topic, queues_by_broker in snapshot.topics.items()
        if is_user_topic(topic, system_topics)
        for name, queues in queues_by_broker.items()
        if not queues.get("perm", 0) & Perm.WRITE
    }
    registrations = admin.registrations.get_each(addr for addr in suspect_addrs if addr)
    return {
        broker.broker_name: frozenset(
            topic
            for topic, config in broker.topics.items()
            if not (isinstance(perm := config.get("perm"), int) and perm & Perm.WRITE)
        )
        for _, broker, _ in registrations
        if broker is not None
    }


def find_master_addr(snapshot: ClusterSnapshot, broker_name: str) -> str | None:
    addr: str | None = snapshot.brokers.get(broker_name, {}).get("brokerAddrs", {}).get(str(MASTER_BROKER_ID))
    return addr


class TopicLoss(NamedTuple):
    """The brokers that take no messages of a topic, with reasons. `is_reduced` if other brokers take them."""

    lost_brokers: Mapping[str, str]
    is_reduced: bool

    @property
    def is_complete(self) -> bool:
        return bool(self.lost_brokers) and not self.is_reduced


class TopicGroups(NamedTuple):
    """The topics that lost some of their brokers, or all; and those that are read-only by configuration.

    `hidden` has the topics that clients of some name servers can write to: by what is said of the others.
    """

    reduced: Mapping[str, TopicLoss]
    unwritable: Mapping[str, TopicLoss]
    hidden: Mapping[str, Sequence[str]]
    read_only: Sequence[str]

    @property
    def hidden_count(self) -> int:
        return sum(map(len, self.hidden.values()))


def judge(scale: CheckScale, seen: WritableTopicsObservation) -> CheckFinding:
    """Judge each topic by its worst name server, because clients may ask any of them."""
    snapshots, cluster_name = seen.snapshots, seen.cluster_name
    failure_lines = list_failures(seen.snapshot_results, kind="name server")
    if not snapshots:
        return scale.make_unknown_finding("no name server returned its topics", failure_lines)
    # The broker names without any registered process.
    missing_reasons = {
        lost.broker.broker_name: describe_missing(lost)
        for lost in seen.lost_topics.missing_brokers
        if lost.is_group_gone and lost.broker.may_be_in(cluster_name)
    }
    if (
        cluster_name is not None
        and not missing_reasons
        and not any(_are_in_cluster(shot, shot.brokers, cluster_name) for shot in snapshots)
    ):
        return scale.make_unknown_finding(f'no name server lists the cluster "{cluster_name}"', failure_lines)
    reasons_by_topic = _find_lost_topics(seen, missing_reasons)
    user_topics = _list_user_topics(seen, reasons_by_topic)
    groups = _group_topics(user_topics, seen, reasons_by_topic)
    figures = {
        "reduced": len(groups.reduced),
        "unwritable": len(groups.unwritable) + groups.hidden_count,
        "topics": len(user_topics),
    }
    known_names = {name for brokers in seen.lost_topics.topic_placements.values() for name in brokers}
    unknown_lines = [
        *(
            f"{name}: {reason}; nsadmin does not know its topics"
            for name, reason in sorted(missing_reasons.items())
            if name not in known_names
        ),
        *seen.master_answers.unknown_lines,
    ]
    # Clients get the order configuration instead of the queues of the route.
    misled = {p.topic: p.problem_text for p in reversed(check_order_confs(snapshots)) if p.is_grave}
    order_lines = [f"{topic}: {misled[topic]}" for topic in user_topics if topic in misled]
    details = [
        *_format_unwritable(groups.unwritable),
        *_format_hidden(groups.hidden),
        *_format_reduced(groups.reduced),
        *order_lines,
        *unknown_lines,
        *failure_lines,
    ]
    is_impaired = failure_lines or unknown_lines or order_lines
    minimum_state = CheckState.WARNING if is_impaired else CheckState.OK
    summary = _summarize_groups(groups, len(user_topics))
    if order_lines:
        summary += f"; topics with a wrong order configuration: {len(order_lines)}"
    hidden = (topic for topics in groups.hidden.values() for topic in topics)
    affected = [*groups.unwritable, *hidden] or [*groups.reduced, *filter(misled.get, user_topics)]
    finding = scale.make_finding(summary, figures, details, minimum_state=minimum_state, affected=affected)
    if order_lines or any(masters.NO_MASTER in line for line in details):
        guide, other = quote_command("guide", "when-a-master-dies"), CHECK.format_remedy(None)
        orders = dict.fromkeys(order_lines, quote_command("orderConfCheck"))
        remedies = (guide if masters.NO_MASTER in line else orders.get(line, other) for line in details)
        finding = finding._replace(remedies=tuple(f"`{remedy}`" for remedy in remedies))
    return finding.with_inventory_problem(seen.inventory_problem)


def _list_user_topics(seen: WritableTopicsObservation, lost_topics: Iterable[str]) -> list[str]:
    """List the topics to judge: those that a name server has, and those of missing brokers."""
    known_topics = {
        topic
        for snapshot in seen.snapshots
        for topic, brokers in snapshot.topics.items()
        if is_user_topic(topic, seen.system_topics)
        and (seen.cluster_name is None or _are_in_cluster(snapshot, brokers, seen.cluster_name))
    }
    excluded, topics = seen.excluded, sorted(known_topics.union(lost_topics))
    return [topic for topic in topics if excluded is None or not excluded.search(topic)]


def _group_topics(
    user_topics: Sequence[str],
    seen: WritableTopicsObservation,
    reasons_by_topic: Mapping[str, Mapping[str, str]],
) -> TopicGroups:
    snapshots = seen.snapshots
    reduced, unwritable, hidden, read_only = {}, {}, defaultdict[str, list[str]](list), list[str]()
    for topic in user_topics:
        holders = [shot for shot in snapshots if shot.topics.get(topic)]
        placements = [(shot, name) for shot in holders for name in shot.topics[topic]]
        is_read_only = holders and all(
            _is_read_only_on_purpose(shot, topic, name, seen) for shot, name in placements
        )
        if is_read_only:
            read_only.append(topic)
        losses = {
            shot.source: _find_loss(shot, topic, seen) for shot in (holders if is_read_only else snapshots)
        }
        # Not knowing the topic counts as a complete loss.
        worst = max(losses.values(), key=lambda loss: (loss.is_complete, len(loss.lost_brokers)))
        good_addrs = [addr for addr, loss in losses.items() if not loss.is_complete]
        if worst.is_complete and good_addrs:
            hidden[_describe_hidden(losses, worst, good_addrs)].append(topic)
            continue
        named = TopicLoss(_name_servers_of_reasons(losses, worst), worst.is_reduced)
        loss = _add_missing(named, reasons_by_topic.get(topic, {}), bool(holders))
        if loss.is_reduced:
            reduced[topic] = loss
        elif loss.lost_brokers:
            unwritable[topic] = loss
    return TopicGroups(reduced, unwritable, hidden, read_only)


def _describe_hidden(losses: Mapping[str, TopicLoss], worst: TopicLoss, good_addrs: Sequence[str]) -> str:
    """What clients of some name servers meet, while those of others can send."""
    bad_addrs = ", ".join(addr for addr, loss in losses.items() if loss.is_complete)
    found = f"can send to no broker ({_list_reasons(worst)})" if all(worst.lost_brokers) else "find no route"
    return f"clients of name server {bad_addrs} {found}, clients of {', '.join(good_addrs)} can send"


def _name_servers_of_reasons(losses: Mapping[str, TopicLoss], worst: TopicLoss) -> dict[str, str]:
    """The reasons of the worst loss, with the name servers if others do not have the loss."""
    reasons = {}
    for name, reason in worst.lost_brokers.items():
        addrs = [addr for addr, loss in losses.items() if name in loss.lost_brokers]
        reasons[name] = reason if len(addrs) == len(losses) else f"{reason} on name server {', '.join(addrs)}"
    return reasons


def _list_reasons(loss: TopicLoss) -> str:
    return ", ".join(f"{name}: {reason}" if name else reason for name, reason in loss.lost_brokers.items())


def _summarize_groups(groups: TopicGroups, topic_count: int) -> str:
    writable_count = topic_count - len(groups.unwritable) - len(groups.read_only)
    summary = f"{part_is(writable_count, topic_count, 'topic')} writable"
    limits = [
        *([f"{len(groups.reduced)} of them not on all of their brokers"] if groups.reduced else []),
        *([f"{groups.hidden_count} of them not for clients of every name server"] if groups.hidden else []),
    ]
    if limits:
        summary += f" ({', '.join(limits)})"
    if groups.read_only:
        count = len(groups.read_only)
        summary += f", {count} {'is' if count == 1 else 'are'} read-only by configuration"
    return f"{summary} {masters.LOOKED_AT}"


def _find_lost_topics(
    seen: WritableTopicsObservation, missing_reasons: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """The user topics of missing brokers, with the reason by broker name."""
    lost = seen.lost_topics
    # A broker has topics with the names of itself and its cluster. No list of system topics has them.
    brokers = [missing.broker for missing in lost.missing_brokers]
    clusters = {broker.cluster_name for broker in brokers}
    own_topics = {b.broker_name for b in brokers} | clusters | {f"{name}_REPLY_TOPIC" for name in clusters}
    return {
        topic: {name: missing_reasons[name] for name in names if name in missing_reasons}
        for topic, names in lost_brokers_of_topics(lost.topic_placements, lost.missing_brokers).items()
        if topic not in own_topics
        and is_user_topic(topic, seen.system_topics)
        and any(name in missing_reasons for name in names)
    }


def _add_missing(loss: TopicLoss, missing_reasons: Mapping[str, str], is_on_other_brokers: bool) -> TopicLoss:
    if not missing_reasons:
        return loss
    if not is_on_other_brokers:
        return TopicLoss(missing_reasons, False)
    is_reduced = loss.is_reduced or not loss.lost_brokers
    return TopicLoss({**loss.lost_brokers, **missing_reasons}, is_reduced)


def _are_in_cluster(snapshot: ClusterSnapshot, broker_names: Iterable[str], cluster_name: str) -> bool:
    return any(_cluster_of_broker(snapshot, name) == cluster_name for name in broker_names)


def _cluster_of_broker(snapshot: ClusterSnapshot, broker_name: str) -> str | None:
    return snapshot.brokers.get(broker_name, {}).get("clusterName")


def _find_loss(snapshot: ClusterSnapshot, topic: str, seen: WritableTopicsObservation) -> TopicLoss:
    queues_by_broker = snapshot.topics.get(topic)
    if not queues_by_broker:
        return TopicLoss({"": f"name server {snapshot.source} does not have the topic"}, False)
    considered = {
        name: queues
        for name, queues in queues_by_broker.items()
        if seen.cluster_name in (None, _cluster_of_broker(snapshot, name))
        and not _is_read_only_on_purpose(snapshot, topic, name, seen)
    }
    lost = {}
    for name, queues in considered.items():
        perm, queue_count = queues.get("perm"), queues.get("writeQueueNums", 0)
        master_addr = find_master_addr(snapshot, name)
        if reason := masters.explain_unwritable(perm, queue_count, master_addr, seen.master_answers):
            lost[name] = reason
    return TopicLoss(lost, bool(lost) and len(lost) < len(considered))


def _is_read_only_on_purpose(
    snapshot: ClusterSnapshot, topic: str, broker_name: str, seen: WritableTopicsObservation
) -> bool:
    """Whether the broker's own configuration makes the topic read-only.

    A silent broker cannot be asked. But a name server's wipe takes the write permission from all topics of a
    broker, so if another topic still has it, this topic was registered without it.
    """
    known_topics = seen.read_only_topics.get(broker_name)
    silent_addrs = (None, *seen.master_answers.silence_reasons)
    if known_topics is not None or find_master_addr(snapshot, broker_name) not in silent_addrs:
        return topic in (known_topics or ())
    perm = snapshot.topics[topic][broker_name].get("perm", 0)
    return not perm & Perm.WRITE and broker_name in seen.unwiped_brokers[snapshot.source]


def _format_unwritable(losses: Mapping[str, TopicLoss]) -> list[str]:
    lines = [
        f"no broker accepts messages for {topic}: {_list_reasons(loss)}"
        for topic, loss in list(losses.items())[:_MAX_SHOWN]
    ]
    hidden_count = len(losses) - _MAX_SHOWN
    return [*lines, f"and for {count_noun(hidden_count, 'more topic')}"] if hidden_count > 0 else lines


def _format_hidden(hidden: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"{abbreviate_names(topics, 3)}: {text}: `{quote_command('route', 'explain', topics[0])}`"
        for text, topics in hidden.items()
    ]


def _format_reduced(losses: Mapping[str, TopicLoss]) -> list[str]:
    """Group the losses by broker: usually one broker is lost with all its topics."""
    topics_by_reason = defaultdict[tuple[str, str], list[str]](list)
    for topic, loss in losses.items():
        for item in loss.lost_brokers.items():
            topics_by_reason[item].append(topic)
    return [
        f"{name} accepts no messages for {count_noun(len(topics), 'topic')} "
        f"({abbreviate_names(topics, _MAX_SHOWN)}): {reason}"
        for (name, reason), topics in sorted(topics_by_reason.items())
    ]


CHECK = Check(
    "writable",
    (
        CheckMeasure("reduced", "topics with brokers that accept no messages", warning="0"),
        CheckMeasure("unwritable", "topics that clients of some name server cannot write to", critical="0"),
        CheckMeasure("topics", "checked topics"),
    ),
    observe,
    judge,
    warning_when="clients can write to a topic on fewer brokers than have it, or get an order configuration "
    "with queues that the topic does not have",
    critical_when="clients cannot write to a topic",
    remedy="nsadmin divergence",
)
