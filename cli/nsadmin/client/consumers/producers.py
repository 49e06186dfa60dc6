"""`admin.producers`: connected producers, as brokers know them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from namesrv_core.errors import RequestError, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    ProducerClient,
    decode_clients,
    infer_protocol,
    merge_clients,
    parse_version,
)
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topics.topics import TopicAdmin


class ProducerConnections(NamedTuple):
    """The connected clients of a producer group.

    Attributes:
        clients: The clients, merged from all brokers by client id.
        errors: Broker address to error; None for a broker that answered.
    """

    clients: tuple[ConnectedClient, ...]
    errors: Mapping[str, RocketMQError | None]


class ProducerAdmin:
    """`admin.producers`: connected producers."""

    def __init__(self, caller: Caller, clusters: ClusterAdmin, topics: TopicAdmin) -> None:
        self._caller, self._clusters, self._topics = caller, clusters, topics

    def get_connections(self, group: str, topic: str | None = None) -> ProducerConnections:
        """Return the connected clients of a producer group (GET_PRODUCER_CONNECTION_LIST, 204).

        Args:
            group: The producer group.
            topic: Ask only the brokers of this topic. Default: every master and slave.

        Raises:
            NotFound: All brokers answered, and no client is connected. Brokers forget a group with its last
                client.
        """
        answers = self._caller.send_to_each(
            dict.fromkeys(self._list_addrs(topic)),
            RequestCode.GET_PRODUCER_CONNECTION_LIST,
            broker_headers.ProducerGroup(group),
        )
        results = list(map(decode_clients, answers))
        clients = merge_clients(client for result in results for client in result.result or ())
        errors = {r.addr: None if _is_unknown_group(r.error) else r.error for r in results}
        if not clients and not any(errors.values()):
            raise NotFound(f'no client of the producer group "{group}" is connected')
        return ProducerConnections(clients, errors)

    def list_all_producers(
        self, broker_addr: str | None = None
    ) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """Return all producers of one broker, or of every master and slave (GET_ALL_PRODUCER_INFO, 328).

        Args:
            broker_addr: Ask only this broker. Default: every master and slave.

        Returns:
            One ServerResult per address, in order: clients in the order of groups and client ids.
        """
        return self.list_producers([broker_addr] if broker_addr else self._list_addrs(None))

    def list_producers(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """Return all producers of brokers (GET_ALL_PRODUCER_INFO, 328; since 4.9.4).

        Args:
            broker_addrs: The broker addresses. A repeated one is asked once.

        Returns:
            One ServerResult per distinct address, in order: clients in the order of groups and client ids.
        """
        answers = self._caller.send_to_each(dict.fromkeys(broker_addrs), RequestCode.GET_ALL_PRODUCER_INFO)
        return [decode_answer(answer, partial(_parse_producer_table, answer.addr)) for answer in answers]

    def find_connected(self, group_places: Sequence[tuple[str, str]]) -> list[ServerResult[bool]]:
        """Return whether a client of a producer group is connected (GET_PRODUCER_CONNECTION_LIST, 204).

        Args:
            group_places: Pairs of (broker address, producer group).

        Returns:
            One ServerResult per pair, in order.
        """
        code = RequestCode.GET_PRODUCER_CONNECTION_LIST
        answers = self._caller.send_requests(
            (addr, make_request(code, broker_headers.ProducerGroup(group))) for addr, group in group_places
        )
        return [
            ServerResult(r.addr, False, None) if _is_unknown_group(r.error) else r.then(bool)
            for r in map(decode_clients, answers)
        ]

    def _list_addrs(self, topic: str | None) -> list[str]:
        broker_groups = (
            self._clusters.get_info().broker_groups if topic is None else self._topics.get_route(topic).queues
        )
        return [addr for broker_group in broker_groups for addr in broker_group.broker_addrs.values()]


def _is_unknown_group(error: RocketMQError | None) -> bool:
    """Recognize an unknown producer group by its remark, as the response has no special code for it."""
    return isinstance(error, RequestError) and "not exist" in (error.remark or "")


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
        parse_version(client, protocol),
        client.integer("lastUpdateTimestamp", None),
        broker_addr,
        protocol,
    )
