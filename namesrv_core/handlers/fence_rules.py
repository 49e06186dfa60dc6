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


def find_foreign_cluster(
    registration_fence: RegistrationFence, tables: RouteTables, ext_fields: ExtFields
) -> str | None:
    """Find a foreign cluster: the request's own, or that of the named group, which may be another one."""
    if registration_fence.cluster_names is None:
        return None
    cluster_name, broker_name = ext_fields.get("clusterName"), ext_fields.get("brokerName")
    if cluster_name not in registration_fence.cluster_names:
        return f"cluster {cluster_name}"
    broker_group = tables.broker_groups.get(broker_name) if broker_name is not None else None
    if broker_group is not None and broker_group.cluster_name not in registration_fence.cluster_names:
        return f"broker {broker_name} of cluster {broker_group.cluster_name}"
    return None


def find_foreign_address(registration_fence: RegistrationFence, ext_fields: ExtFields) -> str | None:
    """Find an address of the request that is not in the networks of the fence."""
    if registration_fence.broker_networks is None:
        return None
    for claimed_addr in (
        ext_fields.get("brokerAddr"),
        ext_fields.get("haServerAddr") or ext_fields.get("brokerAddr"),
    ):
        if not is_in_networks(_host_of_addr(claimed_addr), registration_fence.broker_networks):
            return f"address {claimed_addr}"
    return None


def find_foreign_topic_queue(
    registration_fence: RegistrationFence, tables: RouteTables, queue_datas: Iterable[QueueData]
) -> str | None:
    """Find a foreign broker among those whose queues REGISTER_TOPIC_IN_NAMESRV registers."""
    for queue_data in queue_datas:
        broker_group = tables.broker_groups.get(queue_data.broker_name)
        foreign_part = _find_foreign_part(registration_fence, broker_group) if broker_group else None
        if foreign_part is not None:
            return f"broker {queue_data.broker_name} {foreign_part}"
    return None


def has_only_topics(json_body: bytes) -> bool:
    """Whether a JSON registration certainly has no queue mapping and no filter server.

    Brokers write both members, mostly empty. An escape sequence may hide the name of a member.
    """
    return (
        json_body[:1] == b"{"
        and b"\\" not in json_body
        and all(
            json_body.count(member_name) == json_body.count(empty_member)
            for member_name, empty_member in _EMPTY_MEMBERS
        )
    )


def find_foreign_body_claim(
    registration_fence: RegistrationFence,
    tables: RouteTables,
    request_header: headers.RegisterBroker,
    broker_registration: BrokerRegistration,
) -> str | None:
    """Find a foreign queue mapping or filter server in the body of a registration."""
    foreign_claim = _find_foreign_mapping(
        registration_fence, tables, request_header.broker_name, broker_registration
    ) or _find_foreign_filter_server(registration_fence, request_header.broker_addr, broker_registration)
    return None if foreign_claim is None else cut_text(foreign_claim, _MAX_CLAIM_LENGTH)


def _find_foreign_mapping(
    registration_fence: RegistrationFence,
    tables: RouteTables,
    broker_name: str | None,
    broker_registration: BrokerRegistration,
) -> str | None:
    """Find a mapping for another broker, or of a topic that the fence does not allow.

    Clients of a topic with mappings use only the mapped queues. A single mapping takes all messages away from
    the other brokers of the topic.
    """
    holder_search = _HolderSearch(registration_fence, tables)
    for topic, mapping_info in broker_registration.queue_mappings.items():
        if mapping_info is None:
            # The handler refuses it.
            continue
        # A mapping applies to the broker that it names, not to the sender.
        if mapping_info.bname is None or mapping_info.bname != broker_name:
            return f"broker {mapping_info.bname} in a queue mapping"
        if registration_fence.static_topics is not None:
            if topic not in registration_fence.static_topics:
                return f"topic {topic} in a queue mapping"
        elif broker_name not in tables.queue_mappings.get(topic, ()):
            # A broker keeps its registered mappings: another cluster must not push it out of its own topic.
            foreign_holder = holder_search.find_foreign_holder(topic)
            if foreign_holder is not None:
                return f"topic {topic} of {foreign_holder} in a queue mapping"
    return None


class _HolderSearch:
    """Finds the brokers outside a fence that have a topic. It checks each broker once for all topics."""

    def __init__(self, registration_fence: RegistrationFence, tables: RouteTables) -> None:
        self._registration_fence, self._tables = registration_fence, tables
        self._allowed_names: set[str | None] = set()
        # Topics on the same brokers share their queues: without this, topics times brokers would be checked.
        self._allowed_queue_ids: set[int] = set()

    def find_foreign_holder(self, topic: str) -> str | None:
        broker_queues = self._tables.queues_of_topic(topic)
        has_known_queues = id(broker_queues) in self._allowed_queue_ids
        for holder_name in (
            *(() if has_known_queues else broker_queues),
            *self._tables.queue_mappings.get(topic, ()),
        ):
            broker_group = self._find_unknown_group(holder_name)
            foreign_part = (
                _find_foreign_part(self._registration_fence, broker_group) if broker_group else None
            )
            if foreign_part is not None:
                return f"broker {holder_name} {foreign_part}"
            self._allowed_names.add(holder_name)
        self._allowed_queue_ids.add(id(broker_queues))
        return None

    def _find_unknown_group(self, holder_name: str | None) -> RegisteredGroup | None:
        if holder_name is None or holder_name in self._allowed_names:
            return None
        return self._tables.broker_groups.get(holder_name)


def _find_foreign_filter_server(
    registration_fence: RegistrationFence, broker_addr: str | None, broker_registration: BrokerRegistration
) -> str | None:
    """Find a filter server that is neither on the broker's host nor in the networks of the fence.

    Consumers send the code of their filters to these servers and take messages from them.
    """
    for filter_server in broker_registration.filter_servers or ():
        server_host = _host_of_addr(filter_server)
        if not server_host or (
            server_host != _host_of_addr(broker_addr)
            and not is_in_networks(server_host, registration_fence.broker_networks or ())
        ):
            return f"filter server {filter_server}"
    return None


def _find_foreign_part(registration_fence: RegistrationFence, broker_group: RegisteredGroup) -> str | None:
    """Find the cluster or the address that puts a registered group outside the fence."""
    if (
        registration_fence.cluster_names is not None
        and broker_group.cluster_name not in registration_fence.cluster_names
    ):
        return f"of cluster {broker_group.cluster_name}"
    for broker_addr in broker_group.broker_addrs.values():
        foreign_address = find_foreign_address(registration_fence, {"brokerAddr": broker_addr})
        if foreign_address is not None:
            return f"at {foreign_address}"
    return None


def _host_of_addr(host_port: str | None) -> str:
    return (host_port or "").rpartition(":")[0].strip("[]")
