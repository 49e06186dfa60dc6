"""Facts about one consumer group from brokers, proxies and its clients, and direct conclusions. Pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.resource_names import RETRY_PREFIX
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.consumers.client_runtime import RunningClient, RunningInfo, RunningQueue
from nsadmin.client.consumers.connected_clients import GroupConnections, TopicSubscription
from nsadmin.client.consumers.consume_modes import AssignedMode
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag
from nsadmin.client.consumers.groups import GroupConfigFields
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.dead_letter_selection import DeadLetterCounts
from nsadmin.client.proxies.proxies import ProxyList
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.topic_routes import TopicRoute
from nsadmin.operations.broker_disks import DiskStates
from nsadmin.operations.inventory.keeper import NO_LOST_TOPICS, LostTopics


class ClusterFacts(NamedTuple):
    """The brokers and proxies at `now_ms`, which are the same for all groups.

    `configs` are by address of each process. `group_tables`, `modes` and `forbidden` (topics by group)
    are of the process `reader_addrs` of each broker: its master, or a slave if only that answers.
    """

    now_ms: int
    broker_groups: tuple[BrokerAddrGroup, ...]
    configs: Mapping[str, ServerResult[BrokerConfig]]
    reader_addrs: Mapping[str, str]
    group_tables: Mapping[str, ServerResult[dict[str, GroupConfigFields]]] = {}
    modes: Mapping[str, ServerResult[tuple[AssignedMode, ...]]] = {}
    forbidden: Mapping[str, ServerResult[dict[str, list[str]]]] = {}
    disks: DiskStates = DiskStates()
    lost_topics: LostTopics = NO_LOST_TOPICS
    proxies: ProxyList | None = None
    proxies_error: RocketMQError | None = None

    def answers(self, broker_addr: str) -> bool:
        """Whether the process at an address answers, perhaps with a refusal."""
        return broker_addr in self.configs and not is_unreachable(self.configs[broker_addr].error)


class HeldQueue(NamedTuple):
    """A queue that a client pulls from, with its messages from the client's offset on."""

    client_id: str
    info: RunningInfo
    running: RunningQueue
    offset: int
    waiting: int

    @property
    def unfinished_count(self) -> int:
        """The messages that the client has and did not finish."""
        return (self.running.cached_msg_count or 0) + (self.running.consuming_msg_count or 0)


class GroupFacts(NamedTuple):
    """All known facts about a group.

    `heads` are the first unconsumed messages of queues that may stand still; None if there is no message,
    and an error if it cannot be read. `stacks` are thread dumps of the clients of such queues. `samples` are
    the newest messages of topics with a filter. `min_offsets` are the oldest offsets of queues.
    `put_tps` are the messages that its topics get per second; None if a broker does not tell.
    `replayed_count` are the dead letters that were replayed. `topic` limits the question to one topic.
    """

    group: str
    cluster: ClusterFacts
    connections: GroupConnections
    clients: tuple[RunningClient, ...] = ()
    stats: tuple[ServerResult[ConsumeStats], ...] = ()
    routes: Mapping[str, ServerResult[TopicRoute]] = {}
    min_offsets: Mapping[MessageQueue, int] = {}
    put_tps: float | None = None
    dead_letters: DeadLetterCounts | None = None
    replayed_count: int = 0
    samples: Mapping[str, tuple[StoredMessage, ...]] = {}
    heads: Mapping[MessageQueue, StoredMessage | RocketMQError | None] = {}
    stacks: Mapping[str, ServerResult[str]] = {}
    topic: str | None = None

    @property
    def retry_topic(self) -> str:
        return RETRY_PREFIX + self.group

    @property
    def running(self) -> list[tuple[str, RunningInfo]]:
        """The clients that reported their state."""
        return [(c.client.client_id, c.info) for c in self.clients if c.info is not None]

    @property
    def lags(self) -> list[GroupQueueLag]:
        """The queues of the group on all brokers that answered, of the topic and of retries."""
        return [
            lag
            for result in self.stats
            for lag in (result.result.queues if result.result else ())
            if self.topic in (None, lag.queue.topic) or lag.queue.topic.startswith(self.retry_topic)
        ]

    @property
    def subscriptions(self) -> dict[str, dict[str, TopicSubscription]]:
        """The subscriptions of each client that told its own, by topic, without retries."""
        known = {c.client.client_id: c.client.subscriptions for c in self.clients} | {
            client_id: info.subscriptions for client_id, info in self.running
        }
        return {
            client_id: {
                s.topic: s
                for s in subscriptions
                if not s.topic.startswith(RETRY_PREFIX) and self.topic in (None, s.topic)
            }
            for client_id, subscriptions in known.items()
            if subscriptions is not None
        }

    @property
    def topics(self) -> list[str]:
        """The topics that clients subscribe to or that have offsets of the group, without retries."""
        names = {s.topic for s in self.connections.subscriptions} | {lag.queue.topic for lag in self.lags}
        names.update(topic for by_topic in self.subscriptions.values() for topic in by_topic)
        return sorted(n for n in names if not n.startswith(RETRY_PREFIX) and self.topic in (None, n))

    def held_queues(self) -> Iterator[HeldQueue]:
        """The queues with waiting messages that a client pulls from."""
        lags = {lag.queue: lag for lag in self.lags}
        for client_id, info in self.running:
            for running in info.queues:
                lag = lags.get(running.queue)
                if lag is None or running.is_dropped:
                    continue
                own_offset = running.consumer_offset
                # A client that has not read its offset yet reports -1.
                offset = lag.consumer_offset if own_offset is None or own_offset < 0 else own_offset
                if offset is not None and lag.broker_offset > offset:
                    yield HeldQueue(client_id, info, running, offset, lag.broker_offset - offset)
