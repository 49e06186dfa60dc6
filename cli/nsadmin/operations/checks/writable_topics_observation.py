"""What the check of writable topics reads: topics of all name servers, silent masters, read-only topics."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import Perm
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.operations.checks import masters
from nsadmin.operations.checks.masters import MasterAnswers
from nsadmin.operations.inventory.keeper import NO_LOST_TOPICS, InventoryKeeper, LostTopics
from nsadmin.operations.topic_kinds import is_user_topic

_MASTER_ID_TEXT = "0"


class WritableTopicsObservation(NamedTuple):
    """The state of each name server, RocketMQ's system topics, and what masters answered.

    `read_only_topics` has, by broker name, the topics that the broker's own configuration makes read-only.
    They are read-only on purpose, not because a name server's write permission was removed. By name server,
    `unwiped_brokers` have a topic with the write permission. `lost_topics` has the missing brokers.
    `inventory_problem` says why they are unknown.
    """

    snapshot_results: Sequence[ServerResult[ClusterSnapshot]]
    system_topics: frozenset[str]
    master_answers: MasterAnswers
    read_only_topics: Mapping[str, frozenset[str]]
    unwiped_brokers: Mapping[str, frozenset[str]]
    lost_topics: LostTopics = NO_LOST_TOPICS
    inventory_problem: str | None = None


def observe_writable_topics(
    admin: AdminClient, inventory: InventoryKeeper | None = None
) -> WritableTopicsObservation:
    """Read all name servers, ask every master, and read which topics brokers configure as read-only."""
    snapshot_results = take_server_snapshots(admin, admin.clock_ms)
    known_snapshots = [
        known_snapshot for _, known_snapshot, _ in snapshot_results if known_snapshot is not None
    ]
    if not known_snapshots:
        return WritableTopicsObservation(snapshot_results, frozenset(), MasterAnswers(), {}, {})
    master_addrs = [
        find_master_addr(known_snapshot, broker_name)
        for known_snapshot in known_snapshots
        for broker_name in known_snapshot.brokers
    ]
    master_answers, system_topics = (
        masters.ask_masters(admin, master_addrs),
        admin.topics.list_system_names(),
    )
    return WritableTopicsObservation(
        snapshot_results,
        system_topics,
        master_answers,
        _find_read_only(admin, known_snapshots, system_topics, master_answers.silence_reasons),
        {known_snapshot.source: _find_unwiped_brokers(known_snapshot) for known_snapshot in known_snapshots},
        NO_LOST_TOPICS if inventory is None else inventory.observe_snapshots(known_snapshots),
        None if inventory is None else inventory.problem,
    )


def _find_unwiped_brokers(known_snapshot: ClusterSnapshot) -> frozenset[str]:
    return frozenset(
        broker_name
        for queues_by_broker in known_snapshot.topics.values()
        for broker_name, broker_queues in queues_by_broker.items()
        if broker_queues.get("perm", 0) & Perm.WRITE
    )


def _find_read_only(
    admin: AdminClient,
    known_snapshots: Sequence[ClusterSnapshot],
    system_topics: frozenset[str],
    silence_reasons: Mapping[str, str],
) -> dict[str, frozenset[str]]:
    suspect_addrs = {
        find_master_addr(known_snapshot, entry_name)
        for known_snapshot in known_snapshots
        for topic, queues_by_broker in known_snapshot.topics.items()
        if is_user_topic(topic, system_topics)
        for entry_name, broker_queues in queues_by_broker.items()
        if not broker_queues.get("perm", 0) & Perm.WRITE
    }
    registration_results = admin.registrations.get_each(
        master_addr for master_addr in suspect_addrs if master_addr and master_addr not in silence_reasons
    )
    return {
        registered_broker.broker_name: frozenset(
            entry_name
            for entry_name, topic_config in registered_broker.topics.items()
            if not int(topic_config.get("perm", 0)) & Perm.WRITE
        )
        for _, registered_broker, _ in registration_results
        if registered_broker is not None
    }


def find_master_addr(known_snapshot: ClusterSnapshot, broker_name: str) -> str | None:
    master_addr: str | None = known_snapshot.brokers.get(broker_name, {"brokerAddrs": {}})["brokerAddrs"].get(
        _MASTER_ID_TEXT
    )
    return master_addr
