"""Facts about one topic from servers and journals, and direct conclusions from them. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.topic_routes import QueueRoute, TopicRoute
from nsadmin.client.topics.topic_views import BrokerTopicView, NameServerTopicView
from nsadmin.operations.broker_disks import DiskStates


class JournaledChange(NamedTuple):
    """A journaled change of a topic on a broker: time (ms), cause, and the client that requested it."""

    namesrv_name: str
    time_ms: int
    event_cause: str
    client_addr: str | None
    reason: str | None = None


class JournalEvidence(NamedTuple):
    """The topic at the end of the journal of the name server `namesrv_name`.

    `closed_brokers` lost their write permission and did not get it back. `gone_brokers` left, and the topic
    went with them. `topic_deletion` is the deletion of the topic. Changes that were undone are left out.
    `last_addrs` are the last known addresses of gone brokers. `error` says why the journal cannot be read.
    """

    namesrv_name: str
    closed_brokers: Mapping[str, JournaledChange] = {}
    gone_brokers: Mapping[str, JournaledChange] = {}
    topic_deletion: JournaledChange | None = None
    last_addrs: Mapping[str, tuple[str, ...]] = {}
    error: str | None = None


class OtherContextRoute(NamedTuple):
    """The route in another context: `found_on` is the first of its name servers that has one."""

    context_name: str
    found_on: str | None
    cluster_names: tuple[str, ...] = ()
    error: str | None = None


class MeasuredRegistration(NamedTuple):
    """The size of a broker's registration, the largest size that name servers accept, and the topics."""

    size_bytes: int
    limit_bytes: int
    topic_count: int


class RouteQuestion(NamedTuple):
    """The question: `cluster_name` is where a client should find the topic, `zone_name` is the client's zone.

    `client_list` is the client's list of name servers, as written in its configuration.
    `other_contexts` are the names of contexts that were not checked.
    """

    topic: str
    cluster_name: str | None = None
    zone_name: str | None = None
    client_list: str | None = None
    other_contexts: tuple[str, ...] = ()


class MissingTopicBroker(NamedTuple):
    """A broker of the inventory that no name server lists, with a description and its last addresses.

    `had_topic` is None if the inventory knows no topics of the broker.
    """

    broker_name: str
    description: str
    last_addrs: tuple[str, ...]
    had_topic: bool | None


class RouteFacts(NamedTuple):
    """All known facts about the topic at `now_ms`.

    `hosts` maps addresses as written to the addresses that they resolve to. `sizes` are by broker address;
    sizes that were not computed are missing. `other_context_routes` is None if no other context was checked.
    `removed_brokers` are names of brokers that an operator removed, `drained_brokers` of those that this
    account drained. `proxy_routes` are the brokers in the
    route that each known proxy gives clients. `disks` are those of the masters in the route. `former_addrs`
    has the address that a broker had before its present one, `last_master_addrs` the last one of each broker
    name's master.
    """

    question: RouteQuestion
    server_views: tuple[NameServerTopicView, ...]
    broker_views: tuple[BrokerTopicView, ...] = ()
    hosts: Mapping[str, frozenset[str]] = {}
    sizes: Mapping[str, ServerResult[MeasuredRegistration]] = {}
    memories: tuple[JournalEvidence, ...] = ()
    other_context_routes: tuple[OtherContextRoute, ...] | None = None
    missing_brokers: tuple[MissingTopicBroker, ...] = ()
    removed_brokers: frozenset[str] = frozenset()
    now_ms: int = 0
    proxy_routes: tuple[ServerResult[tuple[str, ...]], ...] = ()
    disks: DiskStates = DiskStates()
    former_addrs: Mapping[str, str] = {}
    last_master_addrs: Mapping[str, str] = {}
    drained_brokers: frozenset[str] = frozenset()

    @property
    def topic(self) -> str:
        return self.question.topic

    @property
    def listed_clusters(self) -> list[str]:
        """The clusters that name servers list, in order."""
        infos = (view.cluster_info.result for view in self.server_views)
        return sorted({name for info in infos if info is not None for name in info.cluster_names})

    @property
    def routed_clusters(self) -> list[str]:
        """The clusters in the routes of the topic, in order."""
        return sorted({queue.cluster_name for _, queue in self.routed_queues() if queue.cluster_name})

    @property
    def unknown_cluster(self) -> str | None:
        """The cluster of the question, if no name server lists it and one lists others."""
        wanted, listed = self.question.cluster_name, self.listed_clusters
        return wanted if wanted and listed and wanted not in listed else None

    @property
    def cluster_name(self) -> str:
        """The cluster for advice: that of the question, of a route, or the first that name servers list."""
        wanted = None if self.unknown_cluster else self.question.cluster_name
        return next(filter(None, (wanted, *self.routed_clusters, *self.listed_clusters)), "CLUSTER")

    def views_with_route(self) -> list[tuple[NameServerTopicView, TopicRoute]]:
        """The name servers that have a route, with the route."""
        return [(view, view.route.result) for view in self.server_views if view.route.result is not None]

    def routed_queues(self) -> Iterator[tuple[NameServerTopicView, QueueRoute]]:
        """The entries of all routes, with the name server that has the route."""
        return ((view, queue) for view, route in self.views_with_route() for queue in route.queues)

    def views_without_route(self) -> list[NameServerTopicView]:
        """The name servers that answered that they have no route."""
        return [view for view in self.server_views if view.has_no_route]

    def broker_view_at(self, broker_addr: str | None) -> BrokerTopicView | None:
        """The view of the broker at an address; None if it was not asked."""
        return next((view for view in self.broker_views if view.addr == broker_addr), None)

    def master_of_queue(self, queue: QueueRoute) -> BrokerTopicView | None:
        """The view of the master of a route entry; None if it was not asked."""
        return self.broker_view_at(queue.master_addr)

    def silence_error(self, broker_addr: str | None) -> RocketMQError | None:
        """The error of a broker that could not be reached; None if it answered or was not asked."""
        broker = self.broker_view_at(broker_addr)
        return broker.config.error if broker is not None and is_broker_silent(broker) else None

    def brokers_with_topic(self) -> dict[str, list[BrokerTopicView]]:
        """The brokers that have the topic in their own tables, by name: masters before slaves."""
        views_by_name: dict[str, list[BrokerTopicView]] = {}
        for broker in self.broker_views:
            if broker.topic_config.result is not None and broker.broker_name is not None:
                views_by_name.setdefault(broker.broker_name, []).append(broker)
        return {name: sorted(views, key=broker_id_of_view) for name, views in sorted(views_by_name.items())}

    def lost_brokers(self) -> list[MissingTopicBroker]:
        """The missing brokers that had the topic, or may have had it, and do not answer now.

        A journal knows topics that the inventory never saw. None if it says that the topic was deleted.
        """
        if any(evidence.topic_deletion is not None for evidence in self.memories):
            return []
        journaled_names = {name for evidence in self.memories for name in evidence.gone_brokers}
        return [
            broker._replace(had_topic=broker.had_topic or broker.broker_name in journaled_names or None)
            for broker in self.missing_brokers
            if broker.had_topic is not False and broker.broker_name not in self.brokers_with_topic()
        ]

    def has_writable_queue(self, view: NameServerTopicView) -> bool:
        """Whether a producer that asks this server finds a writable queue on a master that answers."""
        route = view.route.result
        if route is None:
            return False
        return any(
            queue.is_writable
            and has_registered_master(view, queue.broker_name)
            and self.silence_error(queue.master_addr) is None
            and queue.master_addr not in self.disks.refusals
            for queue in route.queues
        )

    def problem_severity(self, view: NameServerTopicView) -> Literal["warning", "cause"]:
        """The severity of a problem with part of the route: "warning" while producers still have a queue."""
        return "warning" if self.has_writable_queue(view) else "cause"


def is_broker_silent(broker: BrokerTopicView) -> bool:
    """Whether the broker could not be reached; False if it answered with an error."""
    return is_unreachable(broker.config.error)


def broker_id_of_view(broker: BrokerTopicView) -> int:
    """The broker id: 0 for a master, higher for a slave; a number that sorts last if it is unknown."""
    id_text = (broker.config.result or {}).get("brokerId", "")
    return int(id_text) if id_text.isdecimal() else 1 << 31


def is_broker_absent(
    view: NameServerTopicView, broker_name: str, broker_views: Sequence[BrokerTopicView]
) -> bool:
    """Whether none of the broker's processes is registered there, or its answering master is not."""
    addr_group = groups_by_name(view).get(broker_name)
    if addr_group is None:
        return True
    return addr_group.master_addr is None and any(
        broker_id_of_view(view) == MASTER_BROKER_ID for view in broker_views
    )


def groups_by_name(view: NameServerTopicView) -> dict[str, BrokerAddrGroup]:
    """The brokers that are registered with a name server, by name; {} if it did not answer."""
    return (
        {group.broker_name: group for group in view.cluster_info.result.broker_groups}
        if view.cluster_info.result
        else {}
    )


def has_registered_master(view: NameServerTopicView, broker_name: str) -> bool:
    """Whether a master is registered there. A route may show a slave in its place, cluster info never does.

    If the server's cluster info is unknown, its route counts.
    """
    addr_group = groups_by_name(view).get(broker_name)
    return view.cluster_info.result is None or (addr_group is not None and addr_group.master_addr is not None)
