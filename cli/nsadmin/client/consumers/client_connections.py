"""Connected consumers and producers, merged from all brokers, as each broker knows only its own clients."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from json import JSONDecoder
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    GroupConnections,
    ProducerClient,
    TopicSubscription,
    infer_protocol,
    merge_clients,
)
from nsadmin.client.results import ServerResult

_CONNECTIONS_FIRST = b'{"connectionSet":['
"""How brokers begin a ConsumerConnection: Fastjson writes fields in the order of their names."""
_JSON_DECODER = JSONDecoder()


class _BrokerConnections(NamedTuple):
    """The ConsumerConnection of one broker."""

    clients: tuple[ConnectedClient, ...]
    settings: tuple[str | None, str | None, str | None]
    subscriptions: dict[str, TopicSubscription]


def read_consumers(
    caller: Caller, groups: Sequence[str], broker_addrs: Iterable[str]
) -> dict[str, GroupConnections]:
    """Read the clients of groups from brokers (GET_CONSUMER_CONNECTION_LIST, 203, per group and broker)."""
    broker_addrs = list(dict.fromkeys(broker_addrs))
    request_code = RequestCode.GET_CONSUMER_CONNECTION_LIST
    group_places = [(group, broker_addr) for group in groups for broker_addr in broker_addrs]
    answers = caller.send_requests(
        (a, make_request(request_code, broker_headers.ConsumerGroup(group))) for group, a in group_places
    )
    results_by_group: dict[str, list[ServerResult[_BrokerConnections]]] = {group: [] for group in groups}
    for (group, _), answer in zip(group_places, answers, strict=True):
        results_by_group[group].append(decode_answer(answer, partial(_parse_consumers, answer.addr)))
    return {group: _merge_connections(results) for group, results in results_by_group.items()}


def find_broadcasting_groups(caller: Caller, group_places: Iterable[tuple[str, str]]) -> set[str]:
    """Return the groups whose connected clients broadcast (GET_CONSUMER_CONNECTION_LIST, 203)."""
    group_places = list(group_places)
    answers = caller.send_requests(
        (addr, make_request(RequestCode.GET_CONSUMER_CONNECTION_LIST, broker_headers.ConsumerGroup(group)))
        for addr, group in group_places
    )
    connection_results = [decode_answer(answer, partial(_parse_consumers, answer.addr)) for answer in answers]
    return {
        group
        for (_, group), connection_result in zip(group_places, connection_results, strict=True)
        if _merge_connections([connection_result]).is_broadcasting
    }


def read_members(
    caller: Caller, group: str, broker_addrs: Iterable[str]
) -> list[ServerResult[tuple[ConnectedClient, ...]]]:
    """Read the clients of a group as each broker lists them (GET_CONSUMER_CONNECTION_LIST, 203), unmerged."""
    ext_fields = broker_headers.ConsumerGroup(group)
    answers = caller.send_to_each(
        dict.fromkeys(broker_addrs), RequestCode.GET_CONSUMER_CONNECTION_LIST, ext_fields
    )
    client_results = [decode_answer(a, partial(_parse_connection_set, a.addr)) for a in answers]
    return [ServerResult(r.addr, (), None) if is_group_offline(r.error) else r for r in client_results]


def read_producers(
    caller: Caller, group: str, broker_addrs: Iterable[str]
) -> tuple[tuple[ConnectedClient, ...], dict[str, RocketMQError | None]]:
    """Read the clients of a producer group from brokers (GET_PRODUCER_CONNECTION_LIST, 204)."""
    ext_fields = broker_headers.ProducerGroup(group)
    answers = caller.send_to_each(
        dict.fromkeys(broker_addrs), RequestCode.GET_PRODUCER_CONNECTION_LIST, ext_fields
    )
    client_results = [decode_answer(a, partial(_parse_connection_set, a.addr)) for a in answers]
    errors = {r.addr: None if _is_unknown_group(r.error) else r.error for r in client_results}
    return merge_clients(c for client_result in client_results for c in client_result.result or ()), errors


def find_connected_producers(
    caller: Caller, group_places: Iterable[tuple[str, str]]
) -> list[ServerResult[bool]]:
    """Whether each broker has a client of the producer group (GET_PRODUCER_CONNECTION_LIST, 204)."""
    answers = caller.send_requests(
        (addr, make_request(RequestCode.GET_PRODUCER_CONNECTION_LIST, broker_headers.ProducerGroup(group)))
        for addr, group in group_places
    )
    results = [decode_answer(a, partial(_parse_connection_set, a.addr)) for a in answers]
    return [
        ServerResult(r.addr, False, None) if _is_unknown_group(r.error) else r.then(bool) for r in results
    ]


def read_all_producers(
    caller: Caller, broker_addrs: Iterable[str]
) -> list[ServerResult[tuple[ProducerClient, ...]]]:
    """Read all producers of brokers (GET_ALL_PRODUCER_INFO, 328; since 4.9.4)."""
    answers = caller.send_to_each(dict.fromkeys(broker_addrs), RequestCode.GET_ALL_PRODUCER_INFO)
    return [decode_answer(answer, partial(_parse_producer_table, answer.addr)) for answer in answers]


def is_group_offline(error: RocketMQError | None) -> bool:
    """Return whether a broker answered CONSUMER_NOT_ONLINE (206): no client of the group is connected."""
    return isinstance(error, RequestError) and error.code == ResponseCode.CONSUMER_NOT_ONLINE


def _is_unknown_group(error: RocketMQError | None) -> bool:
    """Recognize an unknown producer group by its remark, as the response has no special code for it."""
    return isinstance(error, RequestError) and "not exist" in (error.remark or "")


def _parse_connection_set(broker_addr: str, response: RemotingCommand) -> tuple[ConnectedClient, ...]:
    """Parse the clients of an answer. The subscriptions after them are larger, and are not decoded."""
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
        _parse_version(client, protocol),
        (broker_addr,),
        protocol=protocol,
    )


def _parse_version(client: JsonObject, protocol: str) -> str | None:
    """Name the release of a client. For a gRPC client, a broker has the release of its own proxy."""
    version_ordinal = client.integer("version", None)
    return None if version_ordinal is None or protocol != "remoting" else version_text(version_ordinal)


def _parse_consumers(broker_addr: str, response: RemotingCommand) -> _BrokerConnections:
    json_body = parse_json_object(response)
    return _BrokerConnections(
        _parse_clients(json_body, broker_addr),
        (
            json_body.text("consumeType", None),
            json_body.text("messageModel", None),
            json_body.text("consumeFromWhere", None),
        ),
        {t: parse_subscription(t, s) for t, s in json_body.child("subscriptionTable").sorted_children()},
    )


def parse_subscription(topic: str, subscription: JsonObject) -> TopicSubscription:
    """Parse a SubscriptionData. Clients of 3.x send no expression type: it is "TAG"."""
    return TopicSubscription(
        topic, subscription.text("expressionType", "") or "TAG", subscription.text("subString", "")
    )


def _parse_producer_table(broker_addr: str, response: RemotingCommand) -> tuple[ProducerClient, ...]:
    producer_table = parse_json_object(response).child("data")
    return tuple(
        _parse_producer(group, client, broker_addr)
        for group in sorted(producer_table.members)
        for client in sorted(producer_table.children(group), key=lambda client: client.text("clientId"))
    )


def _parse_producer(group: str, client: JsonObject, broker_addr: str) -> ProducerClient:
    client_id = client.text("clientId")
    protocol = infer_protocol(client_id)
    return ProducerClient(
        group,
        client_id,
        # Java writes an address without a host name as "/10.0.0.1".
        client.text("remoteIP", "").lstrip("/") or None,
        client.text("language", None),
        _parse_version(client, protocol),
        client.integer("lastUpdateTimestamp", None),
        broker_addr,
        protocol,
    )


def _merge_connections(results: Sequence[ServerResult[_BrokerConnections]]) -> GroupConnections:
    known_connections = [(r.addr, r.result) for r in results if r.result is not None]
    known_connections = [(broker_addr, c) for broker_addr, c in known_connections if c.clients]
    subscriptions_by_topic: dict[str, TopicSubscription] = {}
    disagreements: list[str] = []
    for broker_addr, broker_connections in known_connections:
        for topic, topic_subscription in broker_connections.subscriptions.items():
            first_subscription = subscriptions_by_topic.setdefault(topic, topic_subscription)
            if first_subscription != topic_subscription:
                disagreements.append(
                    f"{broker_addr} has {topic_subscription} for {topic}, others {first_subscription}"
                )
    group_settings = known_connections[0][1].settings if known_connections else (None, None, None)
    return GroupConnections(
        merge_clients(client for _, connections in known_connections for client in connections.clients),
        *group_settings,
        tuple(subscriptions_by_topic[topic] for topic in sorted(subscriptions_by_topic)),
        tuple(disagreements),
        {result.addr: None if is_group_offline(result.error) else result.error for result in results},
    )
