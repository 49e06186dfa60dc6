"""Asks all name servers at once, then the brokers that are concerned with the topic."""

import socket
from collections.abc import Iterable, Iterator, Sequence

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.frame import MAX_FRAME
from namesrv_core.transport.address import join_addr, split_addr
from nsadmin.client import AdminClient
from nsadmin.client.addresses import parse_addrs
from nsadmin.client.registrations import Registrant
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_views import BrokerView, NameServerView
from nsadmin.operations.explain.facts import Elsewhere, Facts, Memory, Question, Size, groups
from nsadmin.operations.explain.name_servers import entries
from nsadmin.operations.explain.registration import missing_somewhere


def gather(
    admin: AdminClient,
    question: Question,
    broker_addrs: Iterable[str] = (),
    memories: Sequence[Memory] = (),
    elsewhere: Sequence[Elsewhere] | None = None,
) -> Facts:
    """Gather the facts about the topic. Servers that do not answer do not end it.

    `broker_addrs` are brokers to ask in addition to those that name servers know.

    Raises:
        BadAddress: the client's list holds an invalid address.
    """
    servers = [*admin.addresses.addrs, *parse_addrs(question.client_list or "")]
    views = tuple(admin.topic_views.of_name_servers(servers, question.topic, question.zone))
    remembered = (addr for memory in memories for addrs in memory.addrs.values() for addr in addrs)
    concerned = [*_of_routes(views), *_of_all(views, question.cluster), *broker_addrs, *remembered]
    brokers = tuple(admin.topic_views.of_brokers(concerned, question.topic))
    facts = Facts(
        question,
        views,
        brokers,
        hosts(_written(views, brokers)),
        memories=tuple(memories),
        elsewhere=None if elsewhere is None else tuple(elsewhere),
    )
    return facts._replace(sizes=_sizes(admin, missing_somewhere(facts)))


def _sizes(admin: AdminClient, addrs: Sequence[str]) -> dict[str, ServerResult[Size]]:
    """The registration sizes of these brokers; this reads all their topics."""
    if not addrs:
        return {}
    # Imported late: a topic that is registered everywhere needs no sizes.
    from nsadmin.operations.registration_size import measure

    def size(broker: Registrant) -> Size:
        return Size(measure(broker).bytes, MAX_FRAME, len(broker.topics))

    return {found.addr: found.then(size) for found in admin.registrations.each(addrs)}


def _of_routes(views: Iterable[NameServerView]) -> Iterator[str]:
    for view in views:
        for queue in view.route.result.queues if view.route.result else ():
            yield from queue.broker_addrs.values()


def _of_all(views: Sequence[NameServerView], cluster: str | None) -> Iterator[str]:
    """One process of each broker, to learn which brokers have the topic; none if no server lacks a route."""
    if not any(view.has_no_route for view in views):
        return
    for view in views:
        for group in groups(view).values():
            if cluster in (None, group.cluster_name):
                yield from list(group.broker_addrs.values())[:1]


def _written(views: Sequence[NameServerView], brokers: Iterable[BrokerView]) -> set[str]:
    """The addresses that must be resolved for comparison: none if all brokers list them as we do."""
    asked = {view.addr for view in views}
    in_lists = {entry for broker in brokers for entry in entries(broker)}
    return asked | in_lists if in_lists - asked else set()


def hosts(addrs: Iterable[str]) -> dict[str, frozenset[str]]:
    """Each address with the addresses that its host resolves to; itself if it cannot be resolved."""
    return {addr: _resolved(addr) for addr in addrs}


def _resolved(addr: str) -> frozenset[str]:
    try:
        host, port = split_addr(addr)
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return frozenset([addr])
    return frozenset(join_addr(str(place[0]), port) for *_, place in found)


def elsewhere(context: str, admin: AdminClient, topic: str) -> Elsewhere:
    """The route of the topic on the name servers of another context."""
    try:
        views = admin.topic_views.of_name_servers(admin.addresses.addrs, topic)
    except RocketMQError as error:
        return Elsewhere(context, None, error=str(error))
    for view in views:
        if view.route.result is not None:
            clusters = {queue.cluster_name for queue in view.route.result.queues if queue.cluster_name}
            return Elsewhere(context, view.addr, tuple(sorted(clusters)))
    open_questions = [str(view.route.error) for view in views if view.route.error and not view.has_no_route]
    return Elsewhere(context, None, error="; ".join(open_questions) or None)
