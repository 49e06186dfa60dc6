"""The observed facts that a drain decides by, and the interface to the cluster that it drains."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm
from nsadmin.client.consumers.lag import Lag

# An operation on an IntFlag takes ten times as long as one on an int.
_WRITE = int(Perm.WRITE)

QueuesByTopic = Mapping[str, QueueData]
"""A broker's queues by topic."""


class ServerTopic(NamedTuple):
    """A topic at one name server, from the point of view of one broker.

    `own_queue` has the broker's queues. `other_writable_queues` counts the writable queues on other brokers,
    `other_masters` the other brokers with a master. Clients ignore the permission of a topic with
    `order_conf` or `is_static`. `closed_names` are the other brokers with a master that take no messages.
    """

    own_queue: QueueData
    other_writable_queues: int = 0
    other_masters: int = 0
    order_conf: str | None = None
    is_static: bool = False
    closed_names: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether clients may write to the topic on the broker."""
        return bool(self.own_queue.perm & _WRITE)


class OwnTopics(NamedTuple):
    """A broker's own topics: their DataVersion, and each TopicConfig by topic, with the protocol's names."""

    data_version: Mapping[str, Any]
    configs: Mapping[str, Mapping[str, Any]]


class NameServerFacts(NamedTuple):
    """The broker as one name server lists it. With an `error`, nothing else is known.

    `member_addrs` has the broker's addresses by id; empty if it is not registered. `can_restore_queues` is
    whether the name server accepts queues of single topics. Name servers of 4.x do not. `other_names` are
    other broker names of the same process, `open_names` those of them that clients may write to. `has_peers`
    is whether another broker of the cluster has a master.
    """

    namesrv_addr: str
    error: str | None = None
    cluster_name: str | None = None
    member_addrs: Mapping[int, str] = {}
    topics: Mapping[str, ServerTopic] = {}
    can_restore_queues: bool = True
    other_names: tuple[str, ...] = ()
    open_names: tuple[str, ...] = ()
    has_peers: bool = True

    @property
    def is_registered(self) -> bool:
        """Whether the name server answered, and the broker is registered there."""
        return self.error is None and bool(self.member_addrs)

    @property
    def queues_by_topic(self) -> dict[str, QueueData]:
        return {topic: server.own_queue for topic, server in self.topics.items()}

    @property
    def open_topics(self) -> list[str]:
        """The topics that clients may write to on this broker, sorted."""
        return sorted(topic for topic, server in self.topics.items() if server.is_open)


class SlaveProgress(NamedTuple):
    """A slave, and the end of its commit log in bytes; None if it did not answer."""

    slave_addr: str
    log_end: int | None


class BrokerCounters(NamedTuple):
    """The counters of a broker process. With an `error`, nothing else is known.

    Attributes:
        put_count: Messages since `boot_ms`: from 5.0 on those of user topics, before that all stored ones.
        log_end: The end of the commit log in bytes.
        recent_puts: Messages of the last minute by user topic; None if not requested.
        user_puts: The broker's own sum of these; None if not requested, and before 5.0.
        writers: The hosts that wrote last to the busiest topics, by topic; empty if not requested.
        delayed_count: Messages that wait for delivery.
        lag_by_group: Unconsumed messages by consumer group; None if not requested.
    """

    addr: str | None
    error: str | None = None
    boot_ms: int | None = None
    put_count: int | None = None
    log_end: int | None = None
    recent_puts: Mapping[str, int] | None = None
    user_puts: int | None = None
    delayed_count: int = 0
    has_transactions: bool = False
    lag_by_group: Mapping[str, Lag] | None = None
    slaves: tuple[SlaveProgress, ...] = ()
    writers: Mapping[str, tuple[str, ...]] = {}


class ClusterObservation(NamedTuple):
    """All name servers and the broker, as observed at `time_ms`.

    `own_topics` are read only if `DrainStateMachine.needs_own_topics` returns True; None if they are unknown.
    `system_topics` may lose their last writable queue; None if every topic may.
    """

    time_ms: int
    servers: tuple[NameServerFacts, ...]
    counters: BrokerCounters
    own_topics: OwnTopics | None = None
    system_topics: frozenset[str] | None = None


class SlaveGap(NamedTuple):
    """A slave, and the items of its master that it lacks, such as "topic orders"."""

    broker_id: int
    slave_addr: str
    item_names: tuple[str, ...]


class DrainEnvironment(Protocol):
    """The cluster as a drain reads and changes it. A change returns its error as a text, or None."""

    def read_system_topics(self, master_addr: str, cluster_name: str) -> frozenset[str]:
        """Read the names of system topics, RocketMQ's and the broker's own."""

    def read_servers(self) -> tuple[NameServerFacts, ...]:
        """Read the facts of every name server."""

    def read_broker(
        self,
        master_addr: str | None,
        slave_addrs: Mapping[int, str],
        previous: BrokerCounters | None,
        with_lag: bool,
    ) -> BrokerCounters:
        """Read the master and its slaves; puts by topic only if the counter moved since the previous read."""

    def read_slave_gaps(
        self, master_addr: str | None, slave_addrs: Mapping[int, str]
    ) -> tuple[SlaveGap, ...]:
        """Read what the slaves lack, compared with their master."""

    def read_own_queues(self, master_addr: str) -> QueuesByTopic | str:
        """Read the broker's own topics; a text with the reason if that fails."""

    def read_own_topics(self, master_addr: str) -> OwnTopics | None:
        """Read the broker's own topics with all of their settings; None if that fails."""

    def wipe_write_permission(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        """Remove the write permission from all topics of the broker on these name servers."""

    def restore_queues(self, addr: str, queues: QueuesByTopic) -> Mapping[str, str | None]:
        """Write the queues of topics that a name server still has; return the error or None by topic."""

    def add_write_permission(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        """Set the permission of all topics of the broker to rw- on these name servers."""

    def request_registration(self, master_addr: str) -> str | None:
        """Make the broker register all its topics."""

    def read_permission(self, master_addr: str) -> int | str:
        """Read the broker's brokerPermission; a text with the reason if that fails."""

    def set_permission(self, master_addr: str, perm: int) -> str | None:
        """Change the broker's brokerPermission."""
