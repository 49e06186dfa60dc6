"""Facts about one topic, as servers and journals told them, and what follows from them at once. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client.clusters import BrokerGroup
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.routes import QueueRoute, TopicRoute
from nsadmin.client.topic_views import BrokerView, NameServerView


class Deed(NamedTuple):
    """What a journal has of a topic on a broker: when (ms), why, and from which address it was asked for."""

    server: str
    time: int
    cause: str
    client: str | None
    reason: str | None = None


class Memory(NamedTuple):
    """What the journal of the name server `server` knows.

    `closed` are brokers whose permission to write was taken and not given back, `gone` those with which the
    topic went, `deleted` is who deleted it; all as far as nothing undid them. `addrs` are where brokers that
    are gone were last. `error` is why the journal could not be read.
    """

    server: str
    closed: Mapping[str, Deed] = {}
    gone: Mapping[str, Deed] = {}
    deleted: Deed | None = None
    addrs: Mapping[str, tuple[str, ...]] = {}
    error: str | None = None


class Elsewhere(NamedTuple):
    """What the name servers of another context say: `found_on` is the first that has a route."""

    context: str
    found_on: str | None
    clusters: tuple[str, ...] = ()
    error: str | None = None


class Size(NamedTuple):
    """A broker's registration in bytes, and the most that a name server takes."""

    size: int
    limit: int
    topics: int


class Question(NamedTuple):
    """What is asked: `cluster` is where a client should find the topic, `zone` is the client's own.

    `client_list` is the client's list of name servers, as it stands in its configuration.
    `other_contexts` are names of contexts that were not looked at.
    """

    topic: str
    cluster: str | None = None
    zone: str | None = None
    client_list: str | None = None
    other_contexts: tuple[str, ...] = ()


class Facts(NamedTuple):
    """Everything that is known. `hosts` are addresses as they are written, with what they resolve to.

    `sizes` are by broker address; nobody computed those that are not there. `elsewhere` is None where no
    other context was looked at.
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
        """The name servers that have a route, with it."""
        for view in self.views:
            if view.route.result is not None:
                yield view, view.route.result

    def lacking(self) -> Iterator[NameServerView]:
        """The name servers that say there is none."""
        return (view for view in self.views if view.has_no_route)

    def broker_at(self, addr: str | None) -> BrokerView | None:
        """What the broker at an address told, if it was asked."""
        return next((broker for broker in self.brokers if broker.addr == addr), None)

    def master_of(self, queue: QueueRoute) -> BrokerView | None:
        """What the master of a route's entry told."""
        return self.broker_at(queue.broker_addrs.get(MASTER_ID))

    def silence_of(self, addr: str | None) -> RocketMQError | None:
        """Why a broker that was asked could not be reached."""
        broker = self.broker_at(addr)
        return broker.config.error if broker is not None and is_silent(broker) else None

    def holders(self) -> dict[str, list[BrokerView]]:
        """The brokers that have the topic themselves, by name: masters before slaves."""
        found: dict[str, list[BrokerView]] = {}
        for broker in self.brokers:
            if broker.topic.result is not None and broker.broker_name is not None:
                found.setdefault(broker.broker_name, []).append(broker)
        return {name: sorted(brokers, key=broker_id) for name, brokers in sorted(found.items())}

    def serves(self, view: NameServerView) -> bool:
        """Whether a producer that asks this server finds a queue it may write to, of a living master."""
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
        """What something wrong with a part of it is to clients of this server."""
        return "warning" if self.serves(view) else "cause"


def is_silent(broker: BrokerView) -> bool:
    """Whether it could not be reached, rather than refused."""
    return is_unreachable(broker.config.error)


def broker_id(broker: BrokerView) -> int:
    """0 for a master, more for a slave; of one that does not say, what sorts last."""
    text = (broker.config.result or {}).get("brokerId", "")
    return int(text) if text.isdecimal() else 1 << 31


def is_absent(view: NameServerView, broker_name: str, brokers: Sequence[BrokerView]) -> bool:
    """Whether a broker is not registered there: none of its processes, or not the master that answered."""
    group = groups(view).get(broker_name)
    if group is None:
        return True
    return group.master is None and any(broker_id(broker) == MASTER_ID for broker in brokers)


def groups(view: NameServerView) -> dict[str, BrokerGroup]:
    """The brokers that a name server knows now, by name; {} where it did not tell."""
    return {group.broker_name: group for group in view.members.result.groups} if view.members.result else {}


def has_master(view: NameServerView, broker_name: str) -> bool:
    """Whether a master is registered there; a route may show a slave in its place, the members never do.

    Where the server told no members, its route is believed.
    """
    group = groups(view).get(broker_name)
    return view.members.result is None or (group is not None and group.master is not None)
