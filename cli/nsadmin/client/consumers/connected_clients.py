"""Connected consumers and producers, merged from all servers, as each broker knows only its own clients."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from json import JSONDecoder
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.results import ServerResult

_GRPC_CLIENT_ID = re.compile(r".+@\d+@\d+@[0-9a-z]+")
_CONNECTIONS_FIRST = b'{"connectionSet":['
"""How brokers begin a ConsumerConnection: Fastjson writes fields in the order of their names."""
_JSON_DECODER = JSONDecoder()


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


def read_consumers(
    caller: Caller, groups: Sequence[str], broker_addrs: Iterable[str]
) -> dict[str, GroupConnections]:
    """Read the clients of groups from brokers (GET_CONSUMER_CONNECTION_LIST, 203, per group and broker)."""
    broker_addrs = list(dict.fromkeys(broker_addrs))
    results = iter(_read_each(caller, [(addr, group) for group in groups for addr in broker_addrs]))
    return {group: _merge_connections(list(islice(results, len(broker_addrs)))) for group in groups}


def find_broadcasting_groups(caller: Caller, group_places: Iterable[tuple[str, str]]) -> set[str]:
    """Return the groups whose connected clients broadcast (GET_CONSUMER_CONNECTION_LIST, 203)."""
    group_places = list(group_places)
    return {
        group
        for (_, group), (_, connections, _) in zip(
            group_places, _read_each(caller, group_places), strict=True
        )
        if connections is not None and connections.clients and connections.is_broadcasting
    }


def _read_each(
    caller: Caller, group_places: Iterable[tuple[str, str]]
) -> list[ServerResult[GroupConnections]]:
    """Read the clients of groups, given as pairs of (broker address, group), as each broker lists them."""
    code = RequestCode.GET_CONSUMER_CONNECTION_LIST
    answers = caller.send_requests(
        (addr, make_request(code, broker_headers.ConsumerGroup(group))) for addr, group in group_places
    )
    return [decode_answer(answer, partial(_parse_consumers, answer.addr)) for answer in answers]


def read_members(
    caller: Caller, group: str, broker_addrs: Iterable[str]
) -> list[ServerResult[tuple[ConnectedClient, ...]]]:
    """Read the clients of a group as each broker lists them (GET_CONSUMER_CONNECTION_LIST, 203), unmerged."""
    header = broker_headers.ConsumerGroup(group)
    answers = caller.send_to_each(
        dict.fromkeys(broker_addrs), RequestCode.GET_CONSUMER_CONNECTION_LIST, header
    )
    client_results = map(decode_clients, answers)
    return [ServerResult(r.addr, (), None) if is_group_offline(r.error) else r for r in client_results]


def is_group_offline(error: RocketMQError | None) -> bool:
    """Return whether a broker answered CONSUMER_NOT_ONLINE (206): no client of the group is connected."""
    return isinstance(error, RequestError) and error.code == ResponseCode.CONSUMER_NOT_ONLINE


def decode_clients(answer: ServerResult[RemotingCommand]) -> ServerResult[tuple[ConnectedClient, ...]]:
    """Decode the clients of an answer. The subscriptions after them are larger, and are not decoded."""
    return decode_answer(answer, partial(_parse_connection_set, answer.addr))


def _parse_connection_set(broker_addr: str, response: RemotingCommand) -> tuple[ConnectedClient, ...]:
    if response.body.startswith(_CONNECTIONS_FIRST):
        json_text = response.body.decode("utf-8", "replace")
        with suppress(ValueError, RecursionError):
            client_records, _ = _JSON_DECODER.raw_decode(json_text, len(_CONNECTIONS_FIRST) - 1)
            return _parse_clients(JsonObject({"connectionSet": client_records}), broker_addr)
    return _parse_clients(parse_json_object(response), broker_addr)


def _parse_clients(json_body: JsonObject, broker_addr: str) -> tuple[ConnectedClient, ...]:
    return tuple(_parse_client(client, broker_addr) for client in json_body.children("connectionSet"))


def _parse_client(client: JsonObject, broker_addr: str) -> ConnectedClient:
    client_id = client.text("clientId")
    protocol = infer_protocol(client_id)
    return ConnectedClient(
        client_id,
        client.text("clientAddr", None),
        client.text("language", None),
        parse_version(client, protocol),
        (broker_addr,),
        protocol=protocol,
    )


def parse_version(client: JsonObject, protocol: str) -> str | None:
    """Name the version of a client. For a gRPC client, a broker has that of its own proxy."""
    version_ordinal = client.integer("version", None)
    return None if version_ordinal is None or protocol != "remoting" else version_text(version_ordinal)


def _parse_consumers(broker_addr: str, response: RemotingCommand) -> GroupConnections:
    json_body = parse_json_object(response)
    return GroupConnections(
        _parse_clients(json_body, broker_addr),
        json_body.text("consumeType", None),
        json_body.text("messageModel", None),
        json_body.text("consumeFromWhere", None),
        tuple(parse_subscription(t, s) for t, s in json_body.child("subscriptionTable").sorted_children()),
        (),
        {},
    )


def parse_subscription(topic: str, subscription: JsonObject) -> TopicSubscription:
    """Parse a SubscriptionData. Clients of 3.x send no expression type: it is "TAG"."""
    return TopicSubscription(
        topic, subscription.text("expressionType", "") or "TAG", subscription.text("subString", "")
    )


def _merge_connections(results: Sequence[ServerResult[GroupConnections]]) -> GroupConnections:
    known_connections = [(addr, c) for addr, c, _ in results if c is not None and c.clients]
    subscriptions_by_topic: dict[str, TopicSubscription] = {}
    disagreements: list[str] = []
    for broker_addr, connections in known_connections:
        for subscription in connections.subscriptions:
            first = subscriptions_by_topic.setdefault(subscription.topic, subscription)
            if first != subscription:
                disagreements.append(
                    f"{broker_addr} has {subscription} for {subscription.topic}, others {first}"
                )
    return GroupConnections(
        merge_clients(client for _, connections in known_connections for client in connections.clients),
        *(known_connections[0][1][1:4] if known_connections else (None, None, None)),
        tuple(subscriptions_by_topic[topic] for topic in sorted(subscriptions_by_topic)),
        tuple(disagreements),
        {result.addr: None if is_group_offline(result.error) else result.error for result in results},
    )
