"""What a rebalance reads from the cluster at one moment, and what it asks of it. Pure records."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair


class TopicOnBroker(NamedTuple):
    """A topic on one broker. `error` says why it is unknown; a broker without the topic has NO_QUEUES."""

    error: str | None
    exists: bool = False
    queues: QueuePair = NO_QUEUES
    perm: int = 0
    is_ordered: bool = False


class RoutedQueues(NamedTuple):
    """The queues of a broker in a route, with their permission bits."""

    queues: QueuePair
    perm: int


class TopicAtServer(NamedTuple):
    """The route of a topic at one name server; `order_conf` is "" if the route has none."""

    error: str | None
    routed: Mapping[str, RoutedQueues] = {}
    order_conf: str = ""


class GroupLag(NamedTuple):
    """The messages of one topic that a group has not consumed, None if unknown.

    `closing` counts those in the queues that go away, `retries` the group's retries on the brokers that lose
    the topic, and `total` all messages of the topic. `is_online` is False if no client is connected.
    """

    closing: int | None
    total: int | None
    retries: int | None
    is_online: bool


class NewQueueUse(NamedTuple):
    """A group and the new queues. `is_certain` is False if a client did not report which queues it consumes.

    `unowned` counts the new queues that no client consumes. `without_offset` has the queues, by broker, on
    which the group has no consumer offset, or one beyond the end.
    """

    unowned: int
    is_certain: bool
    without_offset: Mapping[str, tuple[int, ...]] = {}


class MovingTopicFacts(NamedTuple):
    """One moving topic.

    Attributes:
        on_brokers: Broker name to the topic there.
        at_servers: Name server to the topic's route there.
        queue_ends: Broker name to the next offset of each closing queue; None if unknown.
        group_lags: Group to its lag, while queues are being closed.
        undelivered: Delayed and transactional messages for closing queues that are not in them yet; None if
            unknown.
        new_queue_use: Group to its use of the new queues, while queues are being opened.
        error: Why groups or clients are unknown; None if they are known.
    """

    on_brokers: Mapping[str, TopicOnBroker]
    at_servers: Mapping[str, TopicAtServer]
    queue_ends: Mapping[str, tuple[int, ...] | None] = {}
    group_lags: Mapping[str, GroupLag] = {}
    undelivered: int | None = 0
    new_queue_use: Mapping[str, NewQueueUse] = {}
    error: str | None = None

    @property
    def queues_now(self) -> dict[str, QueuePair]:
        """The queues on the brokers that have the topic."""
        return {b: on.queues for b, on in sorted(self.on_brokers.items()) if on.exists}

    @property
    def conf_now(self) -> str:
        """The order configuration in force, "" for none."""
        return next((server.order_conf for server in self.at_servers.values() if server.order_conf), "")


class BrokerHealth(NamedTuple):
    """The state of a broker: disk use from 0 to 1, and failed puts since its start. None if unknown."""

    error: str | None
    disk_ratio: float | None = None
    failed_puts: int | None = None


class TopicQuestion(NamedTuple):
    """What to read about one topic. Queue ids are given by broker name."""

    topic: str
    brokers: tuple[str, ...]
    closing_queues: Mapping[str, range] = {}
    new_queues: Mapping[str, range] = {}
    with_owners: bool = False
    leaving_brokers: tuple[str, ...] = ()


class RunQuestions(NamedTuple):
    """What an observation must read: topics, the groups of brokers, and the health of brokers."""

    topics: tuple[TopicQuestion, ...]
    group_brokers: tuple[str, ...]
    health_brokers: tuple[str, ...]


class RunObservation(NamedTuple):
    """The answers at one moment; `time_ms` since 1970. A broker without an answer has None as groups."""

    time_ms: int
    topics: Mapping[str, MovingTopicFacts]
    groups: Mapping[str, frozenset[str] | None] = {}
    health: Mapping[str, BrokerHealth] = {}


class PutTopic(NamedTuple):
    """Give a topic these queues on a broker, where it has `present`, and keep its other settings.

    A new topic gets the settings that it has on one of the brokers `models`, and `perm`. `is_ordered` None
    keeps the flag.
    """

    topic: str
    broker: str
    present: QueuePair
    queues: QueuePair
    perm: int
    models: tuple[str, ...] = ()
    is_ordered: bool | None = None


class PutOrderConf(NamedTuple):
    """Write the order configuration of a topic on every name server; "" deletes it."""

    topic: str
    order_conf: str


class CommitStart(NamedTuple):
    """Let a group start to consume new queues where they end now, before anything is written to them."""

    topic: str
    broker: str
    group: str
    queue_ids: tuple[int, ...]


class DeleteTopicOn(NamedTuple):
    """Delete a topic, which has no queues there any more, on a broker."""

    topic: str
    broker: str


class CreateGroupOn(NamedTuple):
    """Create a group on a broker with its settings on another broker."""

    group: str
    broker: str


class AskRegistration(NamedTuple):
    """Ask a broker to register its topics with the name servers now."""

    topic: str
    broker: str


RunAction = PutTopic | PutOrderConf | CommitStart | DeleteTopicOn | CreateGroupOn | AskRegistration


class RebalanceEnvironment(Protocol):
    """The cluster of a rebalance."""

    def observe(self, questions: RunQuestions, now_ms: int) -> RunObservation:
        """Read everything at once. A server that does not answer is part of the result."""
        ...

    def carry_out(self, actions: Sequence[RunAction]) -> list[str | None]:
        """Carry out changes in order; return the error of each, None for a success."""
        ...
