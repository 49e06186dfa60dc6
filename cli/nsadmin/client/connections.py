"""Connections: who consumes and who produces. Each broker knows only its own clients, so all are merged."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded


class Client(NamedTuple):
    """A client of a group: `broker_addrs` are those that it is connected to, in order."""

    client_id: str
    client_addr: str | None
    language: str | None
    version: str | None
    broker_addrs: tuple[str, ...]


class Subscription(NamedTuple):
    """What a group wants of a topic: `expression_type` is "TAG" or "SQL92"."""

    topic: str
    expression_type: str
    sub_string: str

    def __str__(self) -> str:
        return (
            self.sub_string if self.expression_type == "TAG" else f"{self.expression_type}: {self.sub_string}"
        )


class GroupConnections(NamedTuple):
    """Who of a group is connected, merged over all brokers by client id.

    The settings are those that the first broker told, None where nobody is connected; brokers keep one
    subscription for a topic and group, and `disagreements` has a line for each where they differ. `errors`
    has None for a broker that answered, also where nobody was connected.
    """

    clients: tuple[Client, ...]
    consume_type: str | None
    message_model: str | None
    consume_from_where: str | None
    subscriptions: tuple[Subscription, ...]
    disagreements: tuple[str, ...]
    errors: Mapping[str, RocketMQError | None]


class ProducerClient(NamedTuple):
    """A client of a producer group, as one broker sees it; `last_update` is its last heartbeat, in ms."""

    producer_group: str
    client_id: str
    client_addr: str | None
    language: str | None
    version: str | None
    last_update: int | None
    broker_addr: str


class _Told(NamedTuple):
    """ConsumerConnection of one broker."""

    clients: tuple[Client, ...]
    settings: tuple[str | None, str | None, str | None]
    subscriptions: dict[str, Subscription]


def consumers_of(caller: Caller, groups: Sequence[str], addrs: Iterable[str]) -> dict[str, GroupConnections]:
    """Who of each group is connected to any of these brokers (GET_CONSUMER_CONNECTION_LIST)."""
    addrs = list(dict.fromkeys(addrs))
    code = RequestCode.GET_CONSUMER_CONNECTION_LIST
    requests = [(group, addr) for group in groups for addr in addrs]
    answers = caller.ask(
        (addr, request(code, headers.write(broker_headers.ConsumerGroup(group)))) for group, addr in requests
    )
    told: dict[str, list[ServerResult[_Told]]] = {group: [] for group in groups}
    for (group, _), answer in zip(requests, answers, strict=True):
        told[group].append(decoded(answer, partial(_consumers, answer.addr)))
    return {group: _merged(results) for group, results in told.items()}


def producers_of(
    caller: Caller, group: str, addrs: Iterable[str]
) -> tuple[tuple[Client, ...], dict[str, RocketMQError | None]]:
    """Who of a producer group is connected to any of these brokers, and what each broker answered."""
    ext = headers.write(broker_headers.ProducerGroup(group))
    answers = caller.ask_each(dict.fromkeys(addrs), RequestCode.GET_PRODUCER_CONNECTION_LIST, ext)
    told = [decoded(answer, partial(_producers, answer.addr)) for answer in answers]
    errors = {result.addr: None if _says_unknown(result.error) else result.error for result in told}
    return _merged_clients(client for result in told for client in result.result or ()), errors


def all_producers(caller: Caller, addrs: Iterable[str]) -> list[ServerResult[tuple[ProducerClient, ...]]]:
    """Every producer that each of these brokers knows (GET_ALL_PRODUCER_INFO, since 4.9.4)."""
    answers = caller.ask_each(dict.fromkeys(addrs), RequestCode.GET_ALL_PRODUCER_INFO)
    return [decoded(answer, partial(_producer_table, answer.addr)) for answer in answers]


def is_offline(error: RocketMQError | None) -> bool:
    """Whether a broker says that nobody of the group is connected to it."""
    return isinstance(error, RequestError) and error.code == ResponseCode.CONSUMER_NOT_ONLINE


def _says_unknown(error: RocketMQError | None) -> bool:
    """GET_PRODUCER_CONNECTION_LIST has no code of its own for a group that is not connected."""
    return isinstance(error, RequestError) and "not exist" in (error.remark or "")


def _producers(addr: str, command: Command) -> tuple[Client, ...]:
    return _clients(json_object(command), addr)


def _clients(body: Mapping[str, Any], addr: str) -> tuple[Client, ...]:
    return tuple(
        Client(
            str(item.get("clientId")),
            item.get("clientAddr"),
            item.get("language"),
            _version(item.get("version")),
            (addr,),
        )
        for item in body.get("connectionSet") or ()
    )


def _version(ordinal: object) -> str | None:
    return version_text(ordinal) if isinstance(ordinal, int) else None


def _consumers(addr: str, command: Command) -> _Told:
    body = json_object(command)
    table = body.get("subscriptionTable") or {}
    return _Told(
        _clients(body, addr),
        (body.get("consumeType"), body.get("messageModel"), body.get("consumeFromWhere")),
        {topic: subscription(topic, item) for topic, item in sorted(table.items())},
    )


def subscription(topic: str, item: Mapping[str, Any]) -> Subscription:
    """SubscriptionData; 3.x clients know no types."""
    return Subscription(topic, item.get("expressionType") or "TAG", item.get("subString") or "")


def _producer_table(addr: str, command: Command) -> tuple[ProducerClient, ...]:
    table = json_object(command).get("data") or {}
    return tuple(
        ProducerClient(
            group,
            str(item.get("clientId")),
            # A Java address as text has an empty host name before its slash.
            (item.get("remoteIP") or "").lstrip("/") or None,
            item.get("language"),
            _version(item.get("version")),
            item.get("lastUpdateTimestamp"),
            addr,
        )
        for group, items in sorted(table.items())
        for item in sorted(items or (), key=lambda item: str(item.get("clientId")))
    )


def _merged_clients(clients: Iterable[Client]) -> tuple[Client, ...]:
    found: dict[str, Client] = {}
    for client in clients:
        seen = found.get(client.client_id)
        if seen is None:
            found[client.client_id] = client
        else:
            found[client.client_id] = seen._replace(broker_addrs=seen.broker_addrs + client.broker_addrs)
    return tuple(found[client_id] for client_id in sorted(found))


def _merged(results: Sequence[ServerResult[_Told]]) -> GroupConnections:
    told = [(result.addr, result.result) for result in results if result.result is not None]
    told = [(addr, item) for addr, item in told if item.clients]
    subscriptions: dict[str, Subscription] = {}
    disagreements: list[str] = []
    for addr, item in told:
        for topic, found in item.subscriptions.items():
            known = subscriptions.setdefault(topic, found)
            if known != found:
                disagreements.append(f"{addr} has {found} for {topic}, others {known}")
    settings = told[0][1].settings if told else (None, None, None)
    return GroupConnections(
        _merged_clients(client for _, item in told for client in item.clients),
        *settings,
        tuple(subscriptions[topic] for topic in sorted(subscriptions)),
        tuple(disagreements),
        {result.addr: None if is_offline(result.error) else result.error for result in results},
    )
