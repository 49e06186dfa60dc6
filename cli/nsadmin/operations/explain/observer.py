"""Asks all name servers at once, then the brokers that are concerned with the topic."""

import socket
from collections.abc import Iterable, Iterator, Sequence

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from namesrv_core.transport.address import join_addr, split_addr
from nsadmin.client import AdminClient
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.connection.addresses import parse_addrs
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topic_views import BrokerTopicView, NameServerTopicView
from nsadmin.operations.broker_disks import observe_disks
from nsadmin.operations.explain.facts import (
    JournalEvidence,
    MeasuredRegistration,
    MissingTopicBroker,
    OtherContextRoute,
    RouteFacts,
    RouteQuestion,
    groups_by_name,
)
from nsadmin.operations.explain.name_server_causes import listed_name_servers
from nsadmin.operations.explain.registration_causes import find_missing_brokers
from nsadmin.operations.inventory.keeper import InventoryKeeper, describe_missing
from nsadmin.operations.inventory.records import MissingBroker


def gather_facts(
    admin: AdminClient,
    question: RouteQuestion,
    broker_addrs: Iterable[str] = (),
    journal_evidence: Sequence[JournalEvidence] = (),
    other_context_routes: Sequence[OtherContextRoute] | None = None,
    inventory: InventoryKeeper | None = None,
) -> RouteFacts:
    """Gather the facts about the topic. Servers that do not answer do not end it.

    `broker_addrs` are brokers to ask in addition to those that name servers know. `inventory` knows the
    brokers that no name server lists any more.

    Raises:
        BadAddress: the client's list holds an invalid address.
    """
    namesrv_addrs = [*admin.addresses.addrs, *parse_addrs(question.client_list or "")]
    views = tuple(admin.topic_views.get_name_server_views(namesrv_addrs, question.topic, question.zone_name))
    own_views = [view for view in views if view.addr in admin.addresses.addrs]
    missing_brokers = (
        () if inventory is None else find_missing_brokers_of_topic(inventory, own_views, question.topic)
    )
    queues = _list_queues(views)
    asked_addrs = [
        *(addr for queue in queues for addr in queue.broker_addrs.values()),
        *_addrs_of_all_brokers(views, question.cluster_name),
        *broker_addrs,
        *(a for evidence in journal_evidence for addrs in evidence.last_addrs.values() for a in addrs),
        *(addr for broker in missing_brokers for addr in broker.last_addrs),
    ]
    broker_views = tuple(admin.topic_views.get_broker_views(asked_addrs, question.topic))
    master_addrs = list(dict.fromkeys(queue.master_addr for queue in queues if queue.master_addr))
    facts = RouteFacts(
        question,
        views,
        broker_views,
        {addr: resolve_host(addr) for addr in _addrs_to_compare(views, broker_views)},
        memories=tuple(journal_evidence),
        other_context_routes=None if other_context_routes is None else tuple(other_context_routes),
        missing_brokers=missing_brokers,
        removed_brokers=frozenset() if inventory is None else inventory.list_left_names(),
        now_ms=admin.clock_ms,
        proxy_routes=_read_proxy_routes(admin, question.topic),
        disks=observe_disks(admin, admin.brokers.get_runtime_info(master_addrs)),
        former_addrs={} if inventory is None else inventory.find_former_addrs(),
        last_master_addrs={} if inventory is None else inventory.find_master_addrs(),
    )
    return facts._replace(sizes=_measure_registrations(admin, find_missing_brokers(facts)))


def _read_proxy_routes(admin: AdminClient, topic: str) -> tuple[ServerResult[tuple[str, ...]], ...]:
    """The route of each known proxy; () if the proxies cannot be found."""
    try:
        return tuple(admin.proxies.get_topic_routes(topic))
    except RocketMQError:
        return ()


def find_missing_brokers_of_topic(
    inventory: InventoryKeeper, views: Sequence[NameServerTopicView], topic: str
) -> tuple[MissingTopicBroker, ...]:
    """Find the broker names that no name server lists any more, and whether they had the topic.

    The inventory learns from the answers as well.
    """
    cluster_infos = [view.cluster_info.result for view in views if view.cluster_info.result]
    if not cluster_infos:
        return ()
    perms_by_broker = {queue.broker_name: queue.perm or 0 for queue in _list_queues(views)}
    lost_topics = inventory.observe_topics(
        [group for info in cluster_infos for group in info.broker_groups], {topic: perms_by_broker}
    )
    processes_by_name: dict[str, list[MissingBroker]] = {}
    for lost in lost_topics.missing_brokers:
        if lost.is_group_gone:
            processes_by_name.setdefault(lost.broker.broker_name, []).append(lost)
    return tuple(
        MissingTopicBroker(
            name,
            describe_missing(processes[0]),
            tuple(lost.broker.broker_addr for lost in processes if lost.broker.broker_addr),
            lost_topics.had_topic(name, topic),
        )
        for name, processes in processes_by_name.items()
    )


def _measure_registrations(
    admin: AdminClient, broker_addrs: Sequence[str]
) -> dict[str, ServerResult[MeasuredRegistration]]:
    """The registration sizes of these brokers; this reads all their topics."""
    if not broker_addrs:
        return {}
    # Imported late: a topic that is registered everywhere needs no sizes.
    from nsadmin.operations.registration_size import measure_registration

    def describe_size(broker: BrokerRegistrant) -> MeasuredRegistration:
        size_bytes = measure_registration(broker).frame_bytes
        return MeasuredRegistration(size_bytes, MAX_FRAME_BYTES, len(broker.topics))

    return {result.addr: result.then(describe_size) for result in admin.registrations.get_each(broker_addrs)}


def _list_queues(views: Iterable[NameServerTopicView]) -> list[QueueRoute]:
    """The entries of the topic's routes on all name servers."""
    return [queue for view in views if view.route.result for queue in view.route.result.queues]


def _addrs_of_all_brokers(views: Sequence[NameServerTopicView], cluster_name: str | None) -> Iterator[str]:
    """One process of each broker, to learn which brokers have the topic; none if no server lacks a route.

    Of a cluster that no name server lists, the name is wrong, and all brokers are asked.
    """
    if not any(view.has_no_route for view in views):
        return
    groups = [group for view in views for group in groups_by_name(view).values()]
    for group in [g for g in groups if g.cluster_name == cluster_name] or groups:
        yield from list(group.broker_addrs.values())[:1]


def _addrs_to_compare(
    views: Sequence[NameServerTopicView], broker_views: Iterable[BrokerTopicView]
) -> set[str]:
    """The addresses that must be resolved for comparison: none if all brokers list them as we do."""
    asked_addrs = {view.addr for view in views}
    listed_addrs = {addr for broker in broker_views for addr in listed_name_servers(broker)}
    return asked_addrs | listed_addrs if listed_addrs - asked_addrs else set()


def resolve_host(namesrv_addr: str) -> frozenset[str]:
    """The addresses that the host of an address resolves to; itself if it cannot be resolved."""
    try:
        host, port = split_addr(namesrv_addr)
        socket_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return frozenset([namesrv_addr])
    return frozenset(join_addr(str(addr[0]), port) for *_, addr in socket_infos)


def find_route_in_context(context_name: str, admin: AdminClient, topic: str) -> OtherContextRoute:
    """The route of the topic on the name servers of another context."""
    try:
        views = admin.topic_views.get_name_server_views(admin.addresses.addrs, topic)
    except RocketMQError as error:
        return OtherContextRoute(context_name, None, error=str(error))
    for view in views:
        if view.route.result is not None:
            cluster_names = {route.cluster_name for route in view.route.result.queues if route.cluster_name}
            return OtherContextRoute(context_name, view.addr, tuple(sorted(cluster_names)))
    error_texts = [str(view.route.error) for view in views if view.route.error and not view.has_no_route]
    return OtherContextRoute(context_name, None, error="; ".join(error_texts) or None)
