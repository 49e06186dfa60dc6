"""Reads the facts to predict an outage of brokers; `losses` computes the losses."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient, NotFound, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.name_server_reader import pick_result
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.slave_reads import find_refusing_slaves
from nsadmin.operations.topic_kinds import is_user_topic
from nsadmin.operations.what_if.losses import (
    BrokerMembers,
    GroupLoss,
    TopicOutageLoss,
    WorstLoss,
    find_group_losses,
    find_losses,
    find_worst_losses,
    lost_write_share,
    members_of_snapshot,
)


class BrokerOutage(NamedTuple):
    """The predicted losses: the largest losses of topics and groups first, out of `topic_count` topics.

    `write_share` is the lost fraction of all writable queues, 0 to 1, on the name server with the largest
    loss. `errors` has None for each server that answered. Brokers at `groupless_addrs` did not
    return their groups, so `lost_groups` has those that other brokers know. `shared_addrs` has the names of
    each address that goes down with several of them. `refusing_slaves`, as NAME:ID, stay up without their
    master and refuse reads. `masterless_brokers` of the given brokers have no master already. `down_groups`
    has the ids of the brokers that go down with both master and slaves.
    """

    topic_count: int
    write_share: float
    topic_losses: Sequence[WorstLoss]
    lost_groups: Sequence[GroupLoss]
    errors: Mapping[str, RocketMQError | None]
    shared_addrs: Mapping[str, Sequence[str]]
    refusing_slaves: Sequence[str] = ()
    groupless_addrs: Sequence[str] = ()
    masterless_brokers: Sequence[str] = ()
    down_groups: Mapping[str, Sequence[int]] = {}


def foresee_broker_outage(
    admin: AdminClient, broker_words: Sequence[str], now_ms: int, *, include_system: bool = False
) -> BrokerOutage:
    """Predict the losses without these brokers, each given as NAME or, for one of its processes, NAME:ID.

    System topics and topics of retries and dead letters count only with `include_system`.

    Raises:
        NotFound: no name server knows one of the brokers.
        NoneReachable: no name server answered.
    """
    snapshot_results = take_server_snapshots(admin, now_ms)
    snapshots = {snapshot.source: snapshot for _, snapshot, _ in snapshot_results if snapshot is not None}
    pick_result(snapshot_results)  # Raises its error if none answered.
    down_members, shared_addrs = _add_other_names(
        resolve_processes(broker_words, snapshots), snapshots.values()
    )
    slave_ids = {
        addr: (name, broker_id)
        for snapshot in snapshots.values()
        for name, broker_ids in members_of_snapshot(snapshot).items()
        # Also where the master is gone already.
        if name in down_members or MASTER_BROKER_ID not in broker_ids
        for broker_id, addr in _list_slaves(snapshot, name)
        if broker_id not in down_members.get(name, ())
    }
    slave_errors = find_refusing_slaves(admin, slave_ids)
    refusing_slaves: dict[str, frozenset[int]] = {}
    for slave_addr in slave_errors:
        broker_name, broker_id = slave_ids[slave_addr]
        refusing_slaves[broker_name] = refusing_slaves.get(broker_name, frozenset()) | {broker_id}
    own_topics = frozenset() if include_system else admin.topics.list_system_names()
    user_snapshots = {
        namesrv_addr: snapshot._replace(
            topics={
                topic: queues
                for topic, queues in snapshot.topics.items()
                if include_system or is_user_topic(topic, own_topics)
            }
        )
        for namesrv_addr, snapshot in snapshots.items()
    }
    topic_losses = find_worst_losses(
        {
            namesrv_addr: find_losses(snapshot, down_members, refusing_slaves)
            for namesrv_addr, snapshot in user_snapshots.items()
        }
    )
    consumer_facts = _read_consumers(
        admin, snapshots, down_members, [loss.topic_loss for loss in topic_losses]
    )
    return BrokerOutage(
        len({topic for snapshot in user_snapshots.values() for topic in snapshot.topics}),
        max(lost_write_share(snapshot, down_members) for snapshot in user_snapshots.values()),
        topic_losses,
        find_group_losses(
            consumer_facts.topics_by_group, consumer_facts.client_counts_by_group, topic_losses
        ),
        {
            **{result.addr: result.error for result in snapshot_results},
            **consumer_facts.errors_by_addr,
            **{slave_addr: error for slave_addr, error in slave_errors.items() if error is not None},
        },
        shared_addrs,
        [
            f"{broker_name}:{broker_id}"
            for addr, (broker_name, broker_id) in sorted(slave_ids.items(), key=lambda item: item[1])
            if addr in slave_errors
            and slave_errors[addr] is None
            and MASTER_BROKER_ID in down_members.get(broker_name, ())
        ],
        [addr for addr, error in consumer_facts.errors_by_addr.items() if error is not None],
        [
            broker_name
            for broker_name in sorted(down_members)
            if not any(
                MASTER_BROKER_ID in members_of_snapshot(snapshot).get(broker_name, ())
                for snapshot in snapshots.values()
            )
        ],
        {
            name: sorted(broker_ids)
            for name, broker_ids in sorted(down_members.items())
            if name in broker_words and len(broker_ids) > 1 and MASTER_BROKER_ID in broker_ids
        },
    )


def _list_slaves(snapshot: ClusterSnapshot, broker_name: str) -> list[tuple[int, str]]:
    addrs_by_id = snapshot.brokers.get(broker_name, {"brokerAddrs": {}})["brokerAddrs"]
    return [
        (int(id_text), str(addr)) for id_text, addr in addrs_by_id.items() if int(id_text) != MASTER_BROKER_ID
    ]


def resolve_processes(
    broker_words: Sequence[str], snapshots: Mapping[str, ClusterSnapshot]
) -> dict[str, frozenset[int]]:
    """The processes that the words name.

    Raises:
        NotFound: no name server knows a broker or process.
    """
    present_members: dict[str, frozenset[int]] = {}
    for snapshot in snapshots.values():
        for broker_name, broker_ids in members_of_snapshot(snapshot).items():
            present_members[broker_name] = present_members.get(broker_name, frozenset()) | broker_ids
    down_members: dict[str, frozenset[int]] = {}
    for broker_word in broker_words:
        broker_name, _, id_text = broker_word.replace("/", ":").rpartition(":")
        if broker_word in present_members:
            broker_name, broker_ids = broker_word, present_members[broker_word]
        elif (
            broker_name in present_members
            and id_text.isdecimal()
            and int(id_text) in present_members[broker_name]
        ):
            broker_ids = frozenset({int(id_text)})
        elif broker_name in present_members and id_text == str(MASTER_BROKER_ID):
            raise NotFound(
                f"no name server lists {broker_word} now: `{quote_command('check', 'writable')}` names the "
                "topics that no master accepts"
            )
        else:
            known = abbreviate_names(sorted(present_members), 10) or "none"
            raise NotFound(f'no broker "{broker_word}": name servers list {known}')
        down_members[broker_name] = down_members.get(broker_name, frozenset()) | broker_ids
    return down_members


def _add_other_names(
    down_members: BrokerMembers, server_snapshots: Iterable[ClusterSnapshot]
) -> tuple[dict[str, frozenset[int]], dict[str, list[str]]]:
    """Add the other names of these processes: a broker that was renamed keeps its former name and address.

    Returns all processes that go down, and the names of each address that has several.
    """
    all_members = dict(down_members)
    names_by_addr: dict[str, set[str]] = {}
    for snapshot in server_snapshots:
        members = [
            (name, int(id_text), addr)
            for name, record in snapshot.brokers.items()
            for id_text, addr in record["brokerAddrs"].items()
        ]
        down_addrs = {addr for name, broker_id, addr in members if broker_id in down_members.get(name, ())}
        for broker_name, broker_id, addr in members:
            if addr in down_addrs:
                all_members[broker_name] = all_members.get(broker_name, frozenset()) | {broker_id}
                names_by_addr.setdefault(addr, set()).add(broker_name)
    return all_members, {addr: sorted(names) for addr, names in names_by_addr.items() if len(names) > 1}


class _ConsumerFacts(NamedTuple):
    """The consumed topics and the number of clients by group, and the error, if any, of each broker."""

    topics_by_group: dict[str, set[str]]
    client_counts_by_group: dict[str, int]
    errors_by_addr: dict[str, RocketMQError | None]


def _read_consumers(
    admin: AdminClient,
    snapshots: Mapping[str, ClusterSnapshot],
    down_members: BrokerMembers,
    lost_topics: Sequence[TopicOutageLoss],
) -> _ConsumerFacts:
    """Ask the masters that would be gone. If one does not answer, ask its slaves and all others."""
    topic_names = [loss.topic for loss in lost_topics]
    addrs = [addr for name in down_members for addr in _first_addr(name, snapshots)]
    facts = _read_consumers_at(admin, addrs, topic_names)
    if not any(facts.errors_by_addr.values()):
        return facts
    all_addrs = {
        addr: None
        for snapshot in snapshots.values()
        for record in snapshot.brokers.values()
        for addr in record["brokerAddrs"].values()
    }
    answering_addrs = [addr for addr in all_addrs if facts.errors_by_addr.get(addr) is None]
    complete_facts = _read_consumers_at(admin, answering_addrs, topic_names)
    return complete_facts._replace(errors_by_addr={**facts.errors_by_addr, **complete_facts.errors_by_addr})


def _read_consumers_at(
    admin: AdminClient, broker_addrs: Sequence[str], topic_names: Sequence[str]
) -> _ConsumerFacts:
    online_groups, errors_by_addr = admin.consumers.list_online_groups(broker_addrs)
    topics_by_group = {
        group: {subscription.topic for subscription in connections.subscriptions}
        for group, connections in online_groups.items()
    }
    for addr in [addr for addr, error in errors_by_addr.items() if error is None]:
        groups_result: ServerResult[dict[str, tuple[str, ...]]] = admin.topics.list_consumer_groups(
            addr, topic_names
        )
        errors_by_addr[addr] = groups_result.error
        for topic, group_names in (groups_result.result or {}).items():
            for group in group_names:
                topics_by_group.setdefault(group, set()).add(topic)
    return _ConsumerFacts(
        topics_by_group,
        {group: len(connections.clients) for group, connections in online_groups.items()},
        errors_by_addr,
    )


def _first_addr(broker_name: str, snapshots: Mapping[str, ClusterSnapshot]) -> list[str]:
    """The address of a broker's master, or of its slave with the lowest id; [] if it is not registered."""
    for snapshot in snapshots.values():
        addrs_by_id = snapshot.brokers.get(broker_name, {"brokerAddrs": {}})["brokerAddrs"]
        if addrs_by_id:
            return [str(addrs_by_id[min(addrs_by_id, key=int)])]
    return []
