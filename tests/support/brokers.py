"""Broker groups that register with tables, by hand: short names for long records."""

from collections.abc import Iterable, Mapping
from itertools import chain

from namesrv_core.events import Event, QueueData
from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo
from namesrv_core.protocol.registration_codec import BrokerRegistration, RegisteredTopicConfig
from namesrv_core.state.broker_tables import BrokerClaim
from namesrv_core.state.liveness import detect_silent_brokers, end_channel, find_expired_brokers
from namesrv_core.state.placements import BrokerQueues
from namesrv_core.state.registration import MasterAddress, apply_registration
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.unregistration import (
    Departure,
    DepartureOrder,
    RegisteredPlace,
    leave_in_steps,
    unregister_brokers,
)


def make_topic(name: str | None, perm: int = 6, queues: int = 8, sys_flag: int = 0) -> RegisteredTopicConfig:
    return RegisteredTopicConfig(name, queues, queues, perm, sys_flag)


def make_queue(broker: str = "a", perm: int = 6, queues: int = 8, sys_flag: int = 0) -> QueueData:
    return QueueData(broker, queues, queues, perm, sys_flag)


class TableHarness:
    """Tables, and brokers that come and go. Broker "a" of id 1 has the address "a1" unless told otherwise."""

    def __init__(self, delete_missing_topics: bool = False) -> None:
        self.tables = RouteTables()
        self.events: list[Event] = []
        self._delete_missing_topics = delete_missing_topics

    def register_broker(
        self,
        name: str = "a",
        broker_id: int = 0,
        topics: Iterable[str | RegisteredTopicConfig] | None = ("T", "U"),
        *,
        addr: str | None = None,
        cluster: str = "c",
        version: int | DataVersion | None = 1,
        mappings: Mapping[str, MappingInfo | None] | None = None,
        filters: list[str | None] | None = None,
        channel: int = 1,
        now: int = 0,
        timeout: int | None = None,
        acting: bool | None = False,
        zone: str | None = None,
    ) -> MasterAddress:
        table = None
        if topics is not None:
            configs = [make_topic(item) if isinstance(item, str) else item for item in topics]
            table = {config.topicName or "": config for config in configs}
        master, self.events = apply_registration(
            self.tables,
            BrokerClaim(
                cluster, name, broker_id, addr or f"{name}{broker_id}", f"ha-{name}{broker_id}",
                timeout, acting, zone,
            ),
            BrokerRegistration(
                DataVersion(version, 0, 1) if isinstance(version, int) else version,
                table,
                mappings or {},
                filters,
            ),
            channel_id=channel,
            now_ms=now,
            delete_missing_topics=self._delete_missing_topics,
        )  # fmt: skip
        return master

    def unregister_broker(
        self, name: str = "a", broker_id: int = 0, *, addr: str | None = None, cluster: str = "c"
    ) -> list[Event]:
        leaving = RegisteredPlace(cluster, name, broker_id, addr or f"{name}{broker_id}")
        self.events = unregister_brokers(self.tables, [leaving], "unregistered")
        return self.events

    def close_channel(self, channel: int) -> list[Event]:
        self.apply_departure(end_channel(self.tables, channel))
        return self.events

    def expire_channels(self, now: int) -> list[int]:
        """The channels to close."""
        departures = self.apply_departure(find_expired_brokers(self.tables, now))
        return sorted({step.channel_id for step in departures if step.channel_id is not None})

    def apply_departure(self, order: DepartureOrder) -> list[Departure]:
        """All steps of an order, without others between them."""
        departures = list(leave_in_steps(self.tables, [order]))
        self.events = [event for departure in departures for event in departure.events]
        return departures

    def detect_silence(self, now: int) -> list[Event]:
        return list(chain.from_iterable(detect_silent_brokers(self.tables, now)))

    def perms_by_topic(self, broker: str = "a") -> dict[str, int]:
        """Permission of each topic that the broker has."""
        return {name: queues[broker].perm for name, queues in self.queues.items() if broker in queues}

    @property
    def queues(self) -> dict[str, BrokerQueues]:
        """Of each topic, by broker."""
        return queues_in(self.tables)

    def addrs_by_id(self, name: str = "a") -> dict[int, str]:
        return dict(self.tables.broker_groups[name].broker_addrs) if name in self.tables.broker_groups else {}

    def copy_tables(self) -> object:
        """All that the tables hold, as values that later changes do not reach."""
        tables = self.tables
        return (
            {cluster: list(names) for cluster, names in tables.broker_names_by_cluster.items()},
            {
                name: (
                    group.cluster_name,
                    group.broker_addrs.copy(),
                    group.enable_acting_master,
                    group.zone_name,
                )
                for name, group in tables.broker_groups.items()
            },
            {
                key: (
                    live.heard_at_ms,
                    live.timeout_ms,
                    live.data_version,
                    live.channel_id,
                    live.ha_server_addr,
                )
                for key, live in tables.live_brokers.items()
            },
            queues_in(tables),
            {key: list(filters) for key, filters in tables.filter_servers.items()},
            {name: infos.copy() for name, infos in tables.queue_mappings.items()},
            tables.generation,
        )

    def is_empty(self) -> bool:
        tables = self.tables
        return not (
            tables.broker_names_by_cluster
            or tables.broker_groups
            or tables.live_brokers
            or tables.placements_by_topic
            or tables.filter_servers
            or tables.queue_mappings
        )


def leave_at_once(tables: RouteTables, order: DepartureOrder) -> list[Event]:
    """The events of an order, without other requests between its steps."""
    return [event for departure in leave_in_steps(tables, [order]) for event in departure.events]


def queues_in(tables: RouteTables) -> dict[str, BrokerQueues]:
    """Of each topic, by broker."""
    return {topic: placement.broker_queues for topic, placement in tables.placements_by_topic.items()}
