"""Producers: who sends messages, as the brokers that they are connected to know it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers import client_connections
from nsadmin.client.consumers.client_connections import ConnectedClient, ProducerClient
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topics.topics import TopicAdmin


class ProducerConnections(NamedTuple):
    """A producer group's clients, merged by client id; `errors` has None for each broker that answered."""

    clients: tuple[ConnectedClient, ...]
    errors: Mapping[str, RocketMQError | None]


class ProducerAdmin:
    """`admin.producers`."""

    def __init__(self, caller: Caller, clusters: ClusterAdmin, topics: TopicAdmin) -> None:
        self._caller = caller
        self._clusters = clusters
        self._topics = topics

    def get_connections(self, group: str, topic: str | None = None) -> ProducerConnections:
        """Who of the group is connected to any broker, or to those that have a topic.

        NotFound if all of them answer and none knows anybody: brokers forget a group with its last client.
        """
        clients, errors = client_connections.read_producers(self._caller, group, self._list_addrs(topic))
        if not clients and not any(errors.values()):
            raise NotFound(f"nobody of the producer group {group!r} is connected")
        return ProducerConnections(clients, errors)

    def list_all_producers(
        self, broker_addr: str | None = None
    ) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """All producers of one broker, or of each master and slave."""
        return client_connections.read_all_producers(
            self._caller, [broker_addr] if broker_addr else self._list_addrs(None)
        )

    def list_producers(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """All producers of each of these brokers."""
        return client_connections.read_all_producers(self._caller, broker_addrs)

    def _list_addrs(self, topic: str | None) -> list[str]:
        broker_groups = (
            self._clusters.get_info().broker_groups if topic is None else self._topics.get_route(topic).queues
        )
        return [
            broker_addr
            for broker_group in broker_groups
            for broker_addr in broker_group.broker_addrs.values()
        ]
