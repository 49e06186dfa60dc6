"""InventoryKeeper, through which commands compare what name servers list with the inventory.

Rule: an unreadable or unwritable inventory does not fail the command that reads the cluster. But what is
missing is unknown then, which `problem` says, and the files stay as they are.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.connection.addresses import NameServerList, make_finder
from nsadmin.client.wall_clock import time
from nsadmin.operations.inventory.records import (
    ExpectedBroker,
    MissingBroker,
    TopicPlacements,
    find_missing,
    merge_listing,
    merge_placements,
    set_leaving,
)
from nsadmin.operations.inventory.store import DamagedInventoryError, InventoryStore, inventory_folder_of
from nsadmin.operations.state_folder import locate_state_home

if TYPE_CHECKING:
    from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget
    from nsadmin.client.snapshots import ClusterSnapshot
    from nsadmin.console.session import Session, SharedOptions

OFF_VARIABLE = "NSADMIN_INVENTORY"
"""With the value "off" nsadmin keeps no inventory."""

_NO_QUEUES: Mapping[str, Mapping[str, int]] = {}


class BrokerMissingError(RocketMQError):
    """A broker of the inventory is registered with no name server."""


def describe_missing(missing_broker: MissingBroker) -> str:
    """Describe a missing broker: "missing: no name server lists it, last seen 2026-...Z"."""
    # Imported late: few commands find a broker missing.
    from nsadmin.console.phrases import format_utc_second

    last_seen_ms = missing_broker.broker.last_seen_ms
    seen_text = (
        "and nsadmin never saw it" if last_seen_ms is None else f"last seen {format_utc_second(last_seen_ms)}"
    )
    return f"missing: no name server lists it, {seen_text}"


class LostTopics(NamedTuple):
    """The missing brokers, and the topics per broker of the inventory, which include theirs."""

    missing_brokers: tuple[MissingBroker, ...] = ()
    topic_placements: Mapping[str, Mapping[str, int]] = {}

    @property
    def reasons_by_name(self) -> dict[str, str]:
        """The broker names without a listed process, each with a description."""
        return {
            lost.broker.broker_name: describe_missing(lost)
            for lost in reversed(self.missing_brokers)
            if lost.is_group_gone
        }

    def limit_to(self, cluster_name: str | None) -> "LostTopics":
        """Leave out the brokers of other clusters."""
        return self._replace(
            missing_brokers=tuple(m for m in self.missing_brokers if m.broker.may_be_in(cluster_name))
        )

    def had_topic(self, broker_name: str, topic: str) -> bool | None:
        """Whether a broker had a topic; None if no topic of the broker is known."""
        if broker_name in self.topic_placements.get(topic, {}):
            return True
        return False if self.knows_topics_of(broker_name) else None

    def knows_topics_of(self, broker_name: str) -> bool:
        """Whether commands saw a topic of the broker."""
        return any(broker_name in perms for perms in self.topic_placements.values())


NO_LOST_TOPICS = LostTopics()


class InventoryKeeper:
    """Reads and updates the inventory of one cluster.

    `find_key` returns the key of the inventory. It is called once, after the name servers are known.
    `extra_brokers` are expected as well, but not saved. `report_problem` gets each reason why the
    inventory cannot be read once.
    """

    def __init__(
        self,
        find_key: Callable[[], str],
        extra_brokers: Sequence[ExpectedBroker] = (),
        environment: Mapping[str, str] = os.environ,
        clock_ms: Callable[[], int] = lambda: int(time() * 1000),
        report_problem: Callable[[str], object] = lambda problem: None,
    ) -> None:
        self._problems: dict[str, str] = {}
        self._reported_problems: set[str] = set()
        self._report_problem = report_problem
        self._find_key = find_key
        self._extra_brokers = extra_brokers
        self._environment = environment
        self._clock_ms = clock_ms

    @cached_property
    def is_off(self) -> bool:
        """Whether nothing is read or saved: with NSADMIN_INVENTORY=off, or for a user without a home."""
        if self._environment.get(OFF_VARIABLE) == "off":
            return True
        try:
            locate_state_home(self._environment)
        except RuntimeError:
            return True
        return False

    @cached_property
    def store(self) -> InventoryStore:
        """The folder of the inventory."""
        return InventoryStore(inventory_folder_of(locate_state_home(self._environment), self._find_key()))

    @property
    def problem(self) -> str | None:
        """Why a part of the inventory cannot be read, at the last attempt."""
        return next(iter(self._problems.values()), None)

    @contextmanager
    def _note_problem(self, part: Literal["brokers", "topics"]) -> Iterator[None]:
        try:
            yield
            self._problems.pop(part, None)
        except OSError:
            # A file that cannot be written, or is being written: the next command tries again.
            pass
        except DamagedInventoryError as error:
            self._problems[part] = str(error)
            if str(error) not in self._reported_problems:
                self._reported_problems.add(str(error))
                self._report_problem(str(error))

    def _load_brokers(self) -> tuple[ExpectedBroker, ...]:
        with self._note_problem("brokers"):
            return self.store.load_brokers()
        return ()

    def observe_brokers(self, groups: Sequence[BrokerAddrGroup]) -> tuple[MissingBroker, ...]:
        """Save the brokers that at least one name server lists, and return the missing ones."""
        if self.is_off:
            return find_missing(self._extra_brokers, groups, self._clock_ms())
        now_ms, known = self._clock_ms(), self._load_brokers()
        merge_brokers = partial(merge_listing, groups=groups, now_ms=now_ms)
        if merge_brokers(known) != known:
            with self._note_problem("brokers"):
                self.store.change_brokers(merge_brokers)
        return find_missing(_add_brokers(known, self._extra_brokers), groups, now_ms)

    def observe_snapshots(
        self, snapshots: Sequence["ClusterSnapshot"], *, has_topics: bool = True
    ) -> LostTopics:
        """Save the brokers and topics of complete name server snapshots, and return the lost topics.

        Without a snapshot nothing is known, and nothing is missing. `has_topics` is False for snapshots
        without topics.
        """
        if not snapshots:
            return NO_LOST_TOPICS
        groups = [
            _group_of_record(name, record)
            for snapshot in snapshots
            for name, record in snapshot.brokers.items()
        ]
        if not has_topics:
            return LostTopics(self.observe_brokers(groups))
        return self.observe_topics(groups, _merge_snapshots(snapshots), is_complete=True)

    def observe_topics(
        self,
        groups: Sequence[BrokerAddrGroup],
        seen_placements: TopicPlacements,
        *,
        is_complete: bool = False,
    ) -> LostTopics:
        """Save listed brokers and the topics that were read; with `is_complete` these are all topics."""
        missing_brokers = self.observe_brokers(groups)
        if self.is_off:
            return LostTopics(missing_brokers)
        known_placements: TopicPlacements = {}
        with self._note_problem("topics"):
            known_placements = self.store.load_topics()
        merge_topics = partial(
            merge_placements,
            seen_placements=seen_placements,
            listed_names={group.broker_name for group in groups if group.broker_addrs},
            expected_names={broker.broker_name for broker in self._load_brokers()},
            is_complete=is_complete,
        )
        merged_placements = merge_topics(known_placements)
        if merged_placements != known_placements:
            with self._note_problem("topics"):
                self.store.change_topics(merge_topics)
        return LostTopics(missing_brokers, merged_placements)

    def find_lost_names(
        self, groups: Sequence[BrokerAddrGroup], cluster_name: str | None, topic: str | None = None
    ) -> dict[str, str]:
        """Describe the missing broker names of a cluster, unless they never had the topic."""
        lost_topics = self.observe_topics(groups, {}).limit_to(cluster_name)
        return {
            name: reason
            for name, reason in sorted(lost_topics.reasons_by_name.items())
            if topic is None or lost_topics.had_topic(name, topic) is not False
        }

    def find_former_addrs(self) -> dict[str, str]:
        """Return the address that a broker had before its present one, by present address."""
        known = () if self.is_off else self._load_brokers()
        return {broker.broker_addr: broker.former_addr for broker in known if broker.former_addr}

    def find_master_addrs(self) -> dict[str, str]:
        """Return the last known address of the master, by broker name."""
        known = () if self.is_off else self._load_brokers()
        masters = (broker for broker in known if broker.broker_id == MASTER_BROKER_ID)
        return {broker.broker_name: broker.broker_addr for broker in masters if broker.broker_addr}

    def list_left_names(self) -> frozenset[str]:
        """Return the names of brokers that an operator removed."""
        known = () if self.is_off else self._load_brokers()
        return frozenset(broker.broker_name for broker in known if broker.is_leaving)

    def mark_leaving(
        self, broker_name: str, broker_id: int | None = None, *, is_leaving: bool = True
    ) -> None:
        """Note that an operator removes a broker (one process, or all of its name), or keeps it after all."""
        if self.is_off:
            return
        with self._note_problem("brokers"):
            self.store.change_brokers(
                partial(
                    set_leaving,
                    broker_name=broker_name,
                    broker_id=broker_id,
                    is_leaving=is_leaving,
                    now_ms=self._clock_ms(),
                )
            )

    def drop_addrs(self, broker_addrs: Iterable[str | None]) -> None:
        """Drop the processes at these addresses (None: unknown), which an operator removed."""
        removed_addrs = frozenset(broker_addrs)
        if self.is_off:
            return
        with self._note_problem("brokers"):
            self.store.change_brokers(
                lambda brokers: [broker for broker in brokers if broker.broker_addr not in removed_addrs]
            )


def open_inventory(session: "Session", extra_brokers: Sequence[ExpectedBroker] = ()) -> InventoryKeeper:
    """Open the inventory of the cluster that a command asks."""

    def find_key() -> str:
        if session.namesrv_addrs:
            return find_inventory_key(session.admin.addresses, session.options)
        # A command that asks no name server need not say which ones it would ask.
        return find_inventory_key(make_finder(session.options.namesrv_addr)(), session.options)

    return InventoryKeeper(find_key, extra_brokers, report_problem=session.write_remark)


def find_inventory_key(name_servers: NameServerList, shared_options: "SharedOptions") -> str:
    """Return the key of a cluster's inventory: its context, or else its sorted name servers."""
    return build_inventory_key(name_servers, shared_options.own_context, shared_options.access.tunnel)


def build_inventory_key(
    name_servers: NameServerList, context_name: str | None, tunnel: "TunnelTarget | None" = None
) -> str:
    """Return the key for the name servers of a context, or for those that were given otherwise."""
    if context_name and name_servers.source in ("context", "file", "endpoint", "kubernetes"):
        return f"context {context_name}"
    # The same address leads to another server through a tunnel.
    tunnel_suffix = "" if tunnel is None else f" through {tunnel}"
    return f"servers {';'.join(sorted(name_servers.addrs))}{tunnel_suffix}"


def _add_brokers(
    known: Sequence[ExpectedBroker], extra_brokers: Iterable[ExpectedBroker]
) -> list[ExpectedBroker]:
    """Add brokers that are expected in any case, also if the inventory says that they left."""
    extra_by_label = {broker.label: broker for broker in extra_brokers}
    expected = [
        broker._replace(is_pinned=True, is_leaving=False, has_left=False)
        if extra_by_label.pop(broker.label, None)
        else broker
        for broker in known
    ]
    return [*expected, *extra_by_label.values()]


def _group_of_record(broker_name: str, broker_record: Mapping[str, object]) -> BrokerAddrGroup:
    broker_addrs = broker_record["brokerAddrs"]
    assert isinstance(broker_addrs, Mapping)
    return BrokerAddrGroup(
        str(broker_record["clusterName"]),
        broker_name,
        {int(broker_id): addr for broker_id, addr in broker_addrs.items()},
    )


def _merge_snapshots(snapshots: Sequence["ClusterSnapshot"]) -> TopicPlacements:
    """Merge the topics of all name servers. Topics with equal queues share one table."""
    tables_by_identity: dict[tuple[int, ...], dict[str, int]] = {}
    topic_placements: dict[str, Mapping[str, int]] = {}
    for topic in dict.fromkeys(topic for snapshot in snapshots for topic in snapshot.topics):
        queue_tables = [snapshot.topics.get(topic, _NO_QUEUES) for snapshot in snapshots]
        identity_key = tuple(map(id, queue_tables))
        if identity_key not in tables_by_identity:
            tables_by_identity[identity_key] = _merge_perms(queue_tables)
        if tables_by_identity[identity_key]:
            topic_placements[topic] = tables_by_identity[identity_key]
    return topic_placements


def _merge_perms(queue_tables: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, int]:
    perms_by_broker: dict[str, int] = {}
    for queues_by_broker in queue_tables:
        for broker_name, queue_record in queues_by_broker.items():
            if broker_name:
                perms_by_broker.setdefault(broker_name, queue_record.get("perm", 0))
    return perms_by_broker
