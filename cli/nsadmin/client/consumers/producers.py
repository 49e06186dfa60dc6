"""`admin.producers`: connected producers, as brokers know them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers import client_connections
from nsadmin.client.consumers.connected_clients import ConnectedClient, ProducerClient
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
        clients, errors = client_connections.read_producers(self._caller, group, self._list_addrs(topic))
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
        return client_connections.read_all_producers(
            self._caller, [broker_addr] if broker_addr else self._list_addrs(None)
        )

    def list_producers(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """Return all producers of brokers (GET_ALL_PRODUCER_INFO, 328): one ServerResult per broker.

        Args:
            broker_addrs: The broker addresses. A repeated one is asked once.

        Returns:
            One ServerResult per distinct address, in order: clients in the order of groups and client ids.
        """
        return client_connections.read_all_producers(self._caller, broker_addrs)

    def find_connected(self, group_places: Sequence[tuple[str, str]]) -> list[ServerResult[bool]]:
        """Return whether a client of a producer group is connected (GET_PRODUCER_CONNECTION_LIST, 204).

        Args:
            group_places: Pairs of (broker address, producer group).

        Returns:
            One ServerResult per pair, in order.
        """
        return client_connections.find_connected_producers(self._caller, group_places)

    def _list_addrs(self, topic: str | None) -> list[str]:
        broker_groups = (
            self._clusters.get_info().broker_groups if topic is None else self._topics.get_route(topic).queues
        )
        return [addr for broker_group in broker_groups for addr in broker_group.broker_addrs.values()]
