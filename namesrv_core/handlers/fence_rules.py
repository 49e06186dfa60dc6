"""The rules of a fence: what a broker may claim for itself and its topics.

Each function returns the claim outside the fence in words, or None.
"""

from collections.abc import Iterable

from namesrv_core.events import QueueData
from namesrv_core.printable_text import cut_text
from namesrv_core.protocol import headers
from namesrv_core.protocol.command import ExtFields
from namesrv_core.protocol.registration_codec import BrokerRegistration
from namesrv_core.state.access_policy import RegistrationFence, is_in_networks
from namesrv_core.state.broker_tables import RegisteredGroup
from namesrv_core.state.route_tables import RouteTables

_MAX_CLAIM_LENGTH = 1_000
_EMPTY_MEMBERS = (
    (b"topicQueueMappingInfoMap", b'"topicQueueMappingInfoMap":{}'),
    (b"filterServerList", b'"filterServerList":[]'),
)


def find_foreign_cluster(fence: RegistrationFence, tables: RouteTables, ext_fields: ExtFields) -> str | None:
    """Find a foreign cluster: the request's own, or that of the named group, which may be another one."""
    if fence.cluster_names is None:
        return None
    cluster_name, broker_name = ext_fields.get("clusterName"), ext_fields.get("brokerName")
    if cluster_name not in fence.cluster_names:
        return f"cluster {cluster_name}"
    group = tables.broker_groups.get(broker_name) if broker_name is not None else None
    if group is not None and group.cluster_name not in fence.cluster_names:
        return f"broker {broker_name} of cluster {group.cluster_name}"
    return None


def find_foreign_address(fence: RegistrationFence, ext_fields: ExtFields) -> str | None:
    """Find an address of the request that is not in the networks of the fence."""
    if fence.broker_networks is None:
        return None
    for claimed in (
        ext_fields.get("brokerAddr"),
        ext_fields.get("haServerAddr") or ext_fields.get("brokerAddr"),
    ):
        if not is_in_networks(_host_of_addr(claimed), fence.broker_networks):
            return f"address {claimed}"
    return None


def find_foreign_topic_queue(
    fence: RegistrationFence, tables: RouteTables, queues: Iterable[QueueData]
) -> str | None:
    """Find a foreign broker among those whose queues REGISTER_TOPIC_IN_NAMESRV registers."""
    for queue in queues:
        group = tables.broker_groups.get(queue.broker_name)
        part = _find_foreign_part(fence, group) if group else None
        if part is not None:
            return f"broker {queue.broker_name} {part}"
    return None


def has_only_topics(body: bytes) -> bool:
    """Whether a JSON registration certainly has no queue mapping and no filter server.

    Brokers write both members, mostly empty. An escape sequence may hide the name of a member.
    """
    return (
        body[:1] == b"{"
        and b"\\" not in body
        and all(body.count(name) == body.count(member) for name, member in _EMPTY_MEMBERS)
    )


def find_foreign_body_claim(
    fence: RegistrationFence,
    tables: RouteTables,
    header: headers.RegisterBroker,
    registration: BrokerRegistration,
) -> str | None:
    """Find a foreign queue mapping or filter server in the body of a registration."""
    claim = _find_foreign_mapping(
        fence, tables, header.broker_name, registration
    ) or _find_foreign_filter_server(fence, header.broker_addr, registration)
    return None if claim is None else cut_text(claim, _MAX_CLAIM_LENGTH)


def _find_foreign_mapping(
    fence: RegistrationFence, tables: RouteTables, broker_name: str | None, registration: BrokerRegistration
) -> str | None:
    """Find a mapping for another broker, or of a topic that the fence does not allow.

    Clients of a topic with mappings use only the mapped queues. A single mapping takes all messages away from
    the other brokers of the topic.
    """
    holder_search = _HolderSearch(fence, tables)
    for topic, mapping in registration.queue_mappings.items():
        if mapping is None:
            # The handler refuses it.
            continue
        # A mapping applies to the broker that it names, not to the sender.
        if mapping.bname is None or mapping.bname != broker_name:
            return f"broker {mapping.bname} in a queue mapping"
        if fence.static_topics is not None:
            if topic not in fence.static_topics:
                return f"topic {topic} in a queue mapping"
        elif broker_name not in tables.queue_mappings.get(topic, ()):
            # A broker keeps its registered mappings: another cluster must not push it out of its own topic.
            holder = holder_search.find_foreign_holder(topic)
            if holder is not None:
                return f"topic {topic} of {holder} in a queue mapping"
    return None


class _HolderSearch:
    """Finds the brokers outside a fence that have a topic. It checks each broker once for all topics."""

    def __init__(self, fence: RegistrationFence, tables: RouteTables) -> None:
        self._registration_fence, self._tables = fence, tables
        self._allowed_names: set[str | None] = set()
        # Topics on the same brokers share their queues: without this, topics times brokers would be checked.
        self._allowed_queue_ids: set[int] = set()

    def find_foreign_holder(self, topic: str) -> str | None:
        queues = self._tables.queues_of_topic(topic)
        has_known_queues = id(queues) in self._allowed_queue_ids
        for holder_name in (
            *(() if has_known_queues else queues),
            *self._tables.queue_mappings.get(topic, ()),
        ):
            is_known = holder_name is None or holder_name in self._allowed_names
            group = None if is_known else self._tables.broker_groups.get(holder_name)
            part = _find_foreign_part(self._registration_fence, group) if group else None
            if part is not None:
                return f"broker {holder_name} {part}"
            self._allowed_names.add(holder_name)
        self._allowed_queue_ids.add(id(queues))
        return None


def _find_foreign_filter_server(
    fence: RegistrationFence, broker_addr: str | None, registration: BrokerRegistration
) -> str | None:
    """Find a filter server that is neither on the broker's host nor in the networks of the fence.

    Consumers send the code of their filters to these servers and take messages from them.
    """
    for server in registration.filter_servers or ():
        host = _host_of_addr(server)
        if not host or (
            host != _host_of_addr(broker_addr) and not is_in_networks(host, fence.broker_networks or ())
        ):
            return f"filter server {server}"
    return None


def _find_foreign_part(fence: RegistrationFence, group: RegisteredGroup) -> str | None:
    """Find the cluster or the address that puts a registered group outside the fence."""
    if fence.cluster_names is not None and group.cluster_name not in fence.cluster_names:
        return f"of cluster {group.cluster_name}"
    for broker_addr in group.broker_addrs.values():
        address = find_foreign_address(fence, {"brokerAddr": broker_addr})
        if address is not None:
            return f"at {address}"
    return None


def _host_of_addr(host_port: str | None) -> str:
    return (host_port or "").rpartition(":")[0].strip("[]")
