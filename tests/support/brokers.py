"""Broker groups that register with tables, by hand: short names for long records."""

from collections.abc import Iterable, Mapping

from namesrv_core.events import Event, QueueData
from namesrv_core.protocol.bodies import DataVersion, MappingInfo
from namesrv_core.protocol.registration import Registration, TopicConfig
from namesrv_core.state.liveness import channel_closed, expire
from namesrv_core.state.placements import Queues
from namesrv_core.state.registration import Master, Unregistration, register, unregister
from namesrv_core.state.tables import Broker, RouteTables


def topic(name: str | None, perm: int = 6, queues: int = 8, sys_flag: int = 0) -> TopicConfig:
    return TopicConfig(name, queues, queues, perm, sys_flag)


def queue(broker: str = "a", perm: int = 6, queues: int = 8, sys_flag: int = 0) -> QueueData:
    return QueueData(broker, queues, queues, perm, sys_flag)


class Lab:
    """Tables, and brokers that come and go. Broker "a" of id 1 has the address "a1" unless told otherwise."""

    def __init__(self, delete_missing_topics: bool = False) -> None:
        self.tables = RouteTables()
        self.events: list[Event] = []
        self._delete_missing_topics = delete_missing_topics

    def register(
        self,
        name: str = "a",
        broker_id: int = 0,
        topics: Iterable[str | TopicConfig] | None = ("T", "U"),
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
    ) -> Master:
        table = None
        if topics is not None:
            configs = [topic(item) if isinstance(item, str) else item for item in topics]
            table = {config.topicName or "": config for config in configs}
        master, self.events = register(
            self.tables,
            Broker(
                cluster, name, broker_id, addr or f"{name}{broker_id}", f"ha-{name}{broker_id}",
                timeout, acting, zone,
            ),
            Registration(
                DataVersion(version, 0, 1) if isinstance(version, int) else version,
                table,
                mappings or {},
                filters,
            ),
            channel=channel,
            now=now,
            delete_missing_topics=self._delete_missing_topics,
        )  # fmt: skip
        return master

    def unregister(
        self, name: str = "a", broker_id: int = 0, *, addr: str | None = None, cluster: str = "c"
    ) -> list[Event]:
        leaving = Unregistration(cluster, name, broker_id, addr or f"{name}{broker_id}")
        self.events = unregister(self.tables, [leaving], "unregistered")
        return self.events

    def close(self, channel: int) -> list[Event]:
        self.events = channel_closed(self.tables, channel)
        return self.events

    def expire(self, now: int) -> list[int]:
        """The channels to close."""
        channels, self.events = expire(self.tables, now)
        return channels

    def perms(self, broker: str = "a") -> dict[str, int]:
        """Permission of each topic that the broker has."""
        return {name: queues[broker].perm for name, queues in self.queues.items() if broker in queues}

    @property
    def queues(self) -> dict[str, Queues]:
        """Of each topic, by broker."""
        return queues_in(self.tables)

    def addrs(self, name: str = "a") -> dict[int, str]:
        return dict(self.tables.groups[name].addrs) if name in self.tables.groups else {}

    def picture(self) -> object:
        """All that the tables hold, as values that later changes do not reach."""
        tables = self.tables
        return (
            {cluster: list(names) for cluster, names in tables.clusters.items()},
            {
                name: (group.cluster, group.addrs.copy(), group.acting_master, group.zone)
                for name, group in tables.groups.items()
            },
            {
                key: (live.heard_at, live.timeout, live.version, live.channel, live.ha_addr)
                for key, live in tables.live.items()
            },
            queues_in(tables),
            {key: list(filters) for key, filters in tables.filters.items()},
            {name: infos.copy() for name, infos in tables.mappings.items()},
            tables.generation,
        )

    def is_empty(self) -> bool:
        tables = self.tables
        return not (
            tables.clusters
            or tables.groups
            or tables.live
            or tables.topics
            or tables.filters
            or tables.mappings
        )


def queues_in(tables: RouteTables) -> dict[str, Queues]:
    """Of each topic, by broker."""
    return {topic: placement.queues for topic, placement in tables.topics.items()}
