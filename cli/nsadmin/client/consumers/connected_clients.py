"""The records of connected clients, and the merge of what several servers report about a client. Pure."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RocketMQError

_GRPC_CLIENT_ID = re.compile(r".+@\d+@\d+@[0-9a-z]+")


class TopicSubscription(NamedTuple):
    """The subscription of a group to a topic.

    Attributes:
        topic: The topic.
        expression_type: "TAG" or "SQL92".
        sub_string: The expression, such as "*" or "TagA || TagB".
    """

    topic: str
    expression_type: str
    sub_string: str

    def __str__(self) -> str:
        return (
            self.sub_string if self.expression_type == "TAG" else f"{self.expression_type}: {self.sub_string}"
        )


class ConnectedClient(NamedTuple):
    """A connected client of a group.

    Attributes:
        client_id: The client id.
        client_addr: The address of the client; None if not reported, like the next two.
        language: The language, such as "JAVA".
        version: The release, such as "V5_5_0" of a remoting client or "5.2.0" of a gRPC client.
        broker_addrs: The brokers that the client is connected to, in request order. Clients behind a proxy
            in cluster mode are connected to none.
        protocol: "remoting" or "gRPC"; None if unknown.
        proxy_addrs: The proxies in cluster mode that the client is connected to.
        consume_type: "CONSUME_ACTIVELY" or "CONSUME_PASSIVELY" of this client; None if only that of its
            group is known.
        subscriptions: The subscriptions of this client; None if only those of its group are known.
        last_heartbeat_ms: The last heartbeat through a proxy, in ms since 1970; None without a proxy.
    """

    client_id: str
    client_addr: str | None
    language: str | None
    version: str | None
    broker_addrs: tuple[str, ...]
    protocol: str | None = None
    proxy_addrs: tuple[str, ...] = ()
    consume_type: str | None = None
    subscriptions: tuple[TopicSubscription, ...] | None = None
    last_heartbeat_ms: int | None = None


class GroupConnections(NamedTuple):
    """The connected clients of a consumer group, merged from all brokers by client id.

    Attributes:
        clients: The clients in the order of ids.
        consume_type: "CONSUME_ACTIVELY" (pull) or "CONSUME_PASSIVELY" (push), from the first broker with
            clients; None without clients, like the next two.
        message_model: "CLUSTERING" or "BROADCASTING".
        consume_from_where: Where a new group starts.
        subscriptions: The subscriptions in the order of topics.
        disagreements: One line per subscription that differs between brokers.
        errors: Broker address to error; None for a broker that answered, also without clients.
        proxy_errors: Address of a proxy, or of a broker with heartbeats of proxies, to its error. Empty if
            the clients behind proxies are known completely.
    """

    clients: tuple[ConnectedClient, ...]
    consume_type: str | None
    message_model: str | None
    consume_from_where: str | None
    subscriptions: tuple[TopicSubscription, ...]
    disagreements: tuple[str, ...]
    errors: Mapping[str, RocketMQError | None]
    proxy_errors: Mapping[str, RocketMQError] = MappingProxyType({})

    @property
    def is_broadcasting(self) -> bool:
        """Whether each client consumes all messages, and keeps its own offsets; unknown without clients."""
        return self.message_model == "BROADCASTING"


class ProducerClient(NamedTuple):
    """A client of a producer group, as one broker sees it.

    Attributes:
        producer_group: The producer group.
        client_id: The client id.
        client_addr: The address of the client; None if not reported, like the next three.
        language: The language, such as "JAVA".
        version: The release, such as "V5_5_0".
        last_heartbeat_ms: The last heartbeat, in ms since 1970.
        broker_addr: The broker.
        protocol: "remoting" or "gRPC"; None if unknown.
    """

    producer_group: str
    client_id: str
    client_addr: str | None
    language: str | None
    version: str | None
    last_heartbeat_ms: int | None
    broker_addr: str
    protocol: str | None = None


def infer_protocol(client_id: str) -> str:
    """Return the protocol of a client that a broker knows: "gRPC" or "remoting".

    A gRPC client is connected to the proxy in local mode that contains the broker. Brokers do not report the
    protocol, but gRPC clients of all languages have ids such as "host@4711@0@4mg4kizz3": host, process,
    number, and time in base 36 (ClientId in rocketmq-clients).
    """
    return "gRPC" if _GRPC_CLIENT_ID.fullmatch(client_id) else "remoting"


def merge_clients(clients: Iterable[ConnectedClient]) -> tuple[ConnectedClient, ...]:
    """Merge the records of the same client, by client id."""
    clients_by_id: dict[str, ConnectedClient] = {}
    for connected_client in clients:
        known_client = clients_by_id.get(connected_client.client_id)
        clients_by_id[connected_client.client_id] = (
            connected_client if known_client is None else _merge_pair(known_client, connected_client)
        )
    return tuple(clients_by_id[client_id] for client_id in sorted(clients_by_id))


def _merge_pair(known_client: ConnectedClient, other_client: ConnectedClient) -> ConnectedClient:
    known_values = known_client._asdict()
    merged_client = other_client._replace(**{n: v for n, v in known_values.items() if v not in (None, ())})
    return merged_client._replace(
        broker_addrs=tuple(dict.fromkeys((*known_client.broker_addrs, *other_client.broker_addrs))),
        proxy_addrs=tuple(dict.fromkeys((*known_client.proxy_addrs, *other_client.proxy_addrs))),
    )
