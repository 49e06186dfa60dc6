"""Asks name servers and brokers for their topics, twice, to ignore changes in progress."""

from collections.abc import Callable, Mapping, Sequence

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.connection.name_server_reader import pick_result
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.operations.orphans.rules import Orphan, TopicFacts, find_orphans
from nsadmin.operations.topic_kinds import find_topics_of_vanished_groups


def find_lasting_orphans(
    admin: AdminClient, now_ms: int, pause: Callable[[], None]
) -> tuple[list[Orphan], TopicFacts]:
    """The orphans that two observations find, with `pause` between them, and the second facts.

    A topic that is being created or deleted is found only once.

    Raises:
        NoneReachable: no name server answered.
    """
    facts = observe_topics(admin, now_ms)
    first_orphans = find_orphans(facts)
    if not first_orphans:
        return [], facts
    pause()
    facts = observe_topics(admin, now_ms)
    earlier_orphans = set(first_orphans)
    return [orphan for orphan in find_orphans(facts) if orphan in earlier_orphans], facts


def observe_topics(admin: AdminClient, now_ms: int) -> TopicFacts:
    """The current facts. Name servers are asked first, because they learn of topics last."""
    snapshot_results = take_server_snapshots(admin, now_ms)
    snapshots = {snapshot.source: snapshot for _, snapshot, _ in snapshot_results if snapshot is not None}
    errors_by_addr = {addr: error for addr, _, error in snapshot_results if error is not None}
    pick_result(snapshot_results)  # Raises its error if none answered.
    targets = _choose_processes(snapshots)
    broker_addrs = list(dict.fromkeys(target.broker_addr or "" for target in targets))
    registrations_by_addr = {result.addr: result for result in admin.registrations.get_each(broker_addrs)}
    registrations_by_name = {
        target.broker_name or "": registrations_by_addr[target.broker_addr or ""] for target in targets
    }
    silent_errors = {
        name: result.error for name, result in registrations_by_name.items() if result.error is not None
    }
    topics_by_broker = {
        name: frozenset(result.result.topics)
        for name, result in registrations_by_name.items()
        if result.result is not None
    }
    group_names, group_errors = _read_groups(admin, targets, topics_by_broker)
    return TopicFacts(
        {addr: _brokers_by_topic(snapshot) for addr, snapshot in snapshots.items()},
        {
            addr: frozenset(name for name, record in snapshot.brokers.items() if "0" in record["brokerAddrs"])
            for addr, snapshot in snapshots.items()
        },
        topics_by_broker,
        frozenset(silent_errors),
        group_names,
        {
            name: record["clusterName"]
            for snapshot in snapshots.values()
            for name, record in snapshot.brokers.items()
        },
        {**errors_by_addr, **group_errors, **silent_errors},
    )


def _read_groups(
    admin: AdminClient, targets: Sequence[BrokerTarget], topics_by_broker: Mapping[str, frozenset[str]]
) -> tuple[frozenset[str] | None, dict[str, RocketMQError]]:
    """All groups that brokers know or that have connected clients; None if a broker did not answer."""
    names_by_addr = {target.broker_addr or "": target.broker_name or "" for target in targets}
    group_tables = admin.groups.get_tables(targets)
    group_errors = {
        names_by_addr[table.addr]: table.error for table in group_tables if table.error is not None
    }
    known_groups = frozenset(group for table in group_tables for group in table.result or ())
    suspect_groups = set(
        find_topics_of_vanished_groups(
            (topic for topics in topics_by_broker.values() for topic in topics), known_groups
        ).values()
    )
    if group_errors:
        return None, group_errors
    online_groups = admin.consumers.get_group_connections(suspect_groups, names_by_addr)
    for group_connections in online_groups.values():
        group_errors |= {
            names_by_addr[addr]: error
            for addr, error in group_connections.errors.items()
            if error is not None
        }
    connected_groups = frozenset(group for group, connections in online_groups.items() if connections.clients)
    return None if group_errors else known_groups | connected_groups, group_errors


def _choose_processes(snapshots: Mapping[str, ClusterSnapshot]) -> list[BrokerTarget]:
    """The process with the lowest id of each registered broker: usually the master."""
    targets_by_name: dict[str, BrokerTarget] = {}
    for snapshot in snapshots.values():
        for broker_name, broker_record in snapshot.brokers.items():
            for id_text, broker_addr in broker_record["brokerAddrs"].items():
                known_target = targets_by_name.get(broker_name)
                if known_target is None or int(id_text) < (known_target.broker_id or 0):
                    targets_by_name[broker_name] = BrokerTarget(broker_name, int(id_text), broker_addr)
    return list(targets_by_name.values())


def _brokers_by_topic(snapshot: ClusterSnapshot) -> dict[str, frozenset[str]]:
    """The brokers to which clients are sent. `rebalance run` leaves brokers without queues in the route."""
    return {
        topic: frozenset(
            name
            for name, broker_queues in queues.items()
            if "perm" in broker_queues
            and (broker_queues.get("readQueueNums", 1) or broker_queues.get("writeQueueNums", 1))
        )
        for topic, queues in snapshot.topics.items()
    }
