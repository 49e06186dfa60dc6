"""Facts: what name servers and the broker were seen to be like at one moment. Only records."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm

QueuesByTopic = Mapping[str, QueueData]
"""By topic."""


class ServerTopic(NamedTuple):
    """A topic as one name server has it, seen from one broker.

    `queue` is the broker's own; `writable_elsewhere` are the queues that clients may write to on other
    brokers, `masters_elsewhere` the other brokers with a master. To a topic with `order_conf`, or one that
    `is_static`, clients write whatever the permission says.
    """

    own_queue: QueueData
    other_writable_queues: int = 0
    other_masters: int = 0
    order_conf: str | None = None
    is_static: bool = False

    @property
    def is_open(self) -> bool:
        """Whether clients may write to the broker."""
        return bool(self.own_queue.perm & Perm.WRITE)


class NameServerFacts(NamedTuple):
    """A name server; with an `error` nothing else is known of it.

    `members` are the addresses of the broker by id as it is registered there, none where it is not.
    `may_put_back` says whether queues can be written there topic by topic, which 4.x does not know.
    """

    namesrv_addr: str
    error: str | None = None
    cluster_name: str | None = None
    member_addrs: Mapping[int, str] = {}
    topics: Mapping[str, ServerTopic] = {}
    can_restore_queues: bool = True

    @property
    def is_registered(self) -> bool:
        """Whether it is known that the broker is registered there."""
        return self.error is None and bool(self.member_addrs)

    @property
    def queues_by_topic(self) -> dict[str, QueueData]:
        return {topic: server_topic.own_queue for topic, server_topic in self.topics.items()}

    @property
    def open_topics(self) -> list[str]:
        """Topics that clients may write to on this broker, in order."""
        return sorted(topic for topic, server_topic in self.topics.items() if server_topic.is_open)


class SlaveProgress(NamedTuple):
    """A slave: how far its commit log goes, in bytes; None where it did not say."""

    slave_addr: str
    log_end: int | None


class BrokerCounters(NamedTuple):
    """The master; with an `error` nothing else is known of it.

    `puts` counts messages since `boot` (ms): from 5.0 on those that were put to topics of users, before all
    that were stored. `end` is where its commit log ends, in bytes. `residue` are topics of users that got
    messages in the last minute, `user_puts` is the broker's own sum of that; both are None where nobody
    asked, and the sum before 5.0. `delayed` messages wait to be delivered. `lag` is how many messages each
    group has not consumed; None where nobody asked.
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
    lag_by_group: Mapping[str, int] | None = None
    slaves: tuple[SlaveProgress, ...] = ()


class ClusterObservation(NamedTuple):
    """All of it, at a `time` (ms)."""

    time_ms: int
    server_facts: tuple[NameServerFacts, ...]
    broker_counters: BrokerCounters


class DrainEnvironment(Protocol):
    """What a drain can see and do; errors of what it does are texts, None for none."""

    def read_servers(self) -> tuple[NameServerFacts, ...]:
        """Every name server."""

    def read_broker(
        self,
        master_addr: str | None,
        slave_addrs: Mapping[int, str],
        previous_counters: BrokerCounters | None,
        with_lag: bool,
    ) -> BrokerCounters:
        """The master and its slaves. Topics are asked for where the counter moved since `before`."""

    def read_own_queues(self, master_addr: str) -> QueuesByTopic | str:
        """All topics as the broker itself has them, or why that is not known."""

    def wipe_write_permission(self, namesrv_addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        """Take the write permission from all topics of the broker on these name servers."""

    def restore_queues(self, namesrv_addr: str, queues_by_topic: QueuesByTopic) -> Mapping[str, str | None]:
        """Have a name server give clients these queues; by topic."""

    def add_write_permission(self, namesrv_addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        """Give all topics of the broker the permission rw- on these name servers."""

    def request_registration(self, master_addr: str) -> str | None:
        """Have the broker register all that it has."""

    def read_permission(self, master_addr: str) -> int | str:
        """The broker's own permission, or why that is not known."""

    def set_permission(self, master_addr: str, perm: int) -> str | None:
        """Change the broker's own permission."""
