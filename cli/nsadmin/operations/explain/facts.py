"""Facts about one topic from servers and journals, and what follows directly from them. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client.clusters import BrokerGroup
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.routes import QueueRoute, TopicRoute
from nsadmin.client.topic_views import BrokerView, NameServerView


class Deed(NamedTuple):
    """A journaled change of a topic on a broker: time (ms), cause, and the client that requested it."""

    server: str
    time: int
    cause: str
    client: str | None
    reason: str | None = None


class Memory(NamedTuple):
    """What the journal of the name server `namesrv_name` shows about the topic at its end.

    `closed_brokers` lost their write permission and did not get it back. `gone_brokers` left, and the topic
    went with them. `topic_deletion` is the deletion of the topic. Changes that were undone are left out.
    `last_addrs` are the last known addresses of gone brokers. `error` says why the journal cannot be read.
    """

    server: str
    closed: Mapping[str, Deed] = {}
    gone: Mapping[str, Deed] = {}
    deleted: Deed | None = None
    addrs: Mapping[str, tuple[str, ...]] = {}
    error: str | None = None


class Elsewhere(NamedTuple):
    """The route in another context: `found_on` is the first of its name servers that has one."""

    context: str
    found_on: str | None
    clusters: tuple[str, ...] = ()
    error: str | None = None


class Size(NamedTuple):
    """The size of a broker's registration, the largest size that name servers accept, and the topics."""

    size: int
    limit: int
    topics: int


class Question(NamedTuple):
    """The question: `cluster_name` is where a client should find the topic, `zone_name` is the client's zone.

    `client_list` is the client's list of name servers, as written in its configuration.
    `other_contexts` are the names of contexts that were not checked.
    """

    topic: str
    cluster: str | None = None
    zone: str | None = None
    client_list: str | None = None
    other_contexts: tuple[str, ...] = ()


class Facts(NamedTuple):
    """Everything that is known about the topic.

    `hosts` maps addresses as written to the addresses that they resolve to. `sizes` are by broker address;
    sizes that were not computed are missing. `elsewhere` is None if no other context was checked.
    """

    question: Question
    views: tuple[NameServerView, ...]
    brokers: tuple[BrokerView, ...] = ()
    hosts: Mapping[str, frozenset[str]] = {}
    sizes: Mapping[str, ServerResult[Size]] = {}
    memories: tuple[Memory, ...] = ()
    elsewhere: tuple[Elsewhere, ...] | None = None

    @property
    def topic(self) -> str:
        return self.question.topic

    def routed(self) -> Iterator[tuple[NameServerView, TopicRoute]]:
        """The name servers that have a route, with the route."""
        for view in self.views:
            if view.route.result is not None:
                yield view, view.route.result

    def lacking(self) -> Iterator[NameServerView]:
        """The name servers that answered that they have no route."""
        return (view for view in self.views if view.has_no_route)

    def broker_at(self, addr: str | None) -> BrokerView | None:
        """The view of the broker at an address; None if it was not asked."""
        return next((broker for broker in self.brokers if broker.addr == addr), None)

    def master_of(self, queue: QueueRoute) -> BrokerView | None:
        """The view of the master of a route entry; None if it was not asked."""
        return self.broker_at(queue.broker_addrs.get(MASTER_ID))

    def silence_of(self, addr: str | None) -> RocketMQError | None:
        """The error of a broker that could not be reached; None if it answered or was not asked."""
        broker = self.broker_at(addr)
        return broker.config.error if broker is not None and is_silent(broker) else None

    def holders(self) -> dict[str, list[BrokerView]]:
        """The brokers that have the topic in their own tables, by name: masters before slaves."""
        found: dict[str, list[BrokerView]] = {}
        for broker in self.brokers:
            if broker.topic.result is not None and broker.broker_name is not None:
                found.setdefault(broker.broker_name, []).append(broker)
        return {name: sorted(brokers, key=broker_id) for name, brokers in sorted(found.items())}

    def serves(self, view: NameServerView) -> bool:
        """Whether a producer that asks this server finds a writable queue on a master that answers."""
        route = view.route.result
        if route is None:
            return False
        return any(
            queue.is_writable
            and has_master(view, queue.broker_name)
            and self.silence_of(queue.broker_addrs.get(MASTER_ID)) is None
            for queue in route.queues
        )

    def severity(self, view: NameServerView) -> Literal["warning", "cause"]:
        """The severity of a problem with part of the route: "warning" while producers still have a queue."""
        return "warning" if self.serves(view) else "cause"


def is_silent(broker: BrokerView) -> bool:
    """Whether the broker could not be reached; False if it answered with an error."""
    return is_unreachable(broker.config.error)


def broker_id(broker: BrokerView) -> int:
    """The broker id: 0 for a master, higher for a slave; a number that sorts last if it is unknown."""
    text = (broker.config.result or {}).get("brokerId", "")
    return int(text) if text.isdecimal() else 1 << 31


def is_absent(view: NameServerView, broker_name: str, brokers: Sequence[BrokerView]) -> bool:
    """Whether none of the broker's processes is registered there, or its answering master is not."""
    group = groups(view).get(broker_name)
    if group is None:
        return True
    return group.master is None and any(broker_id(broker) == MASTER_ID for broker in brokers)


def groups(view: NameServerView) -> dict[str, BrokerGroup]:
    """The brokers that are registered with a name server, by name; {} if it did not answer."""
    return {group.broker_name: group for group in view.members.result.groups} if view.members.result else {}


def has_master(view: NameServerView, broker_name: str) -> bool:
    """Whether a master is registered there. A route may show a slave in its place, cluster info never does.

    If the server's cluster info is unknown, its route counts.
    """
    group = groups(view).get(broker_name)
    return view.members.result is None or (group is not None and group.master is not None)
