"""Producers: who sends messages, as the brokers that they are connected to know it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import connections
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import Clusters
from nsadmin.client.connections import Client, ProducerClient
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topics import Topics


class ProducerConnections(NamedTuple):
    """A producer group's clients, merged by client id; `errors` has None for each broker that answered."""

    clients: tuple[Client, ...]
    errors: Mapping[str, RocketMQError | None]


class Producers:
    """`admin.producers`."""

    def __init__(self, caller: Caller, clusters: Clusters, topics: Topics) -> None:
        self._caller = caller
        self._clusters = clusters
        self._topics = topics

    def connections(self, group: str, topic: str | None = None) -> ProducerConnections:
        """Who of the group is connected to any broker, or to those that have a topic.

        NotFound if all of them answer and none knows anybody: brokers forget a group with its last client.
        """
        clients, errors = connections.producers_of(self._caller, group, self._addrs(topic))
        if not clients and not any(errors.values()):
            raise NotFound(f"nobody of the producer group {group!r} is connected")
        return ProducerConnections(clients, errors)

    def everybody(self, broker_addr: str | None = None) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """All producers of one broker, or of each master and slave."""
        return connections.all_producers(self._caller, [broker_addr] if broker_addr else self._addrs(None))

    def each(self, addrs: Iterable[str]) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """All producers of each of these brokers."""
        return connections.all_producers(self._caller, addrs)

    def _addrs(self, topic: str | None) -> list[str]:
        groups = self._clusters.info().groups if topic is None else self._topics.route(topic).queues
        return [addr for group in groups for addr in group.broker_addrs.values()]
