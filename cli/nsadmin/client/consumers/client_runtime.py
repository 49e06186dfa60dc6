"""`admin.client_runtime`: the runtime state that clients report through the brokers they are connected to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer
from nsadmin.client.consumers.connected_clients import ConnectedClient, GroupConnections, TopicSubscription
from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
from nsadmin.client.consumers.group_problems import (
    find_assignment_problems,
    find_queue_problems,
    find_subscription_problems,
)
from nsadmin.client.consumers.running_info import RunningInfo, parse_running_info
from nsadmin.client.message_queues import MessageQueue, list_readable_queues
from nsadmin.client.results import ClientClosed, NotFound, ServerResult, error_text
from nsadmin.client.topics.topics import TopicAdmin

CLIENT_TIMEOUT_SECONDS = 12.0
"""Seconds for a request to a client. The broker waits 10 s for the client's answer."""

_NAME_SERVERS_PATTERN = re.compile(rb'"PROP_NAMESERVER_ADDR"\s*:\s*"([^"\\]*)"')


class RunningClient(NamedTuple):
    """A client with its runtime state (None after an error) and its error (None after a success).

    Both are None for a client that no server can ask: a gRPC client, or one behind a proxy in cluster mode.
    """

    client: ConnectedClient
    info: RunningInfo | None
    error: RocketMQError | None


class ClientNameServers(NamedTuple):
    """A client with its name servers (() if not reported, None after an error) and its error."""

    client: ConnectedClient
    namesrv_addrs: tuple[str, ...] | None
    error: RocketMQError | None


class RunningGroup(NamedTuple):
    """The clients of a group with their runtime state.

    Attributes:
        clients: The clients that were asked.
        consume_type: "CONSUME_ACTIVELY" (pull) or "CONSUME_PASSIVELY" (push).
        message_model: "CLUSTERING" or "BROADCASTING".
        errors: Broker address to error; None for a broker that answered.
        proxy_errors: Address to error, if clients behind proxies may be missing.
    """

    clients: tuple[RunningClient, ...]
    consume_type: str | None
    message_model: str | None
    errors: Mapping[str, RocketMQError | None]
    proxy_errors: Mapping[str, RocketMQError] = MappingProxyType({})


class ClientRuntime:
    """`admin.client_runtime`: the runtime state of consumer clients."""

    def __init__(self, caller: Caller, consumers: ConsumerAdmin, topics: TopicAdmin) -> None:
        self._caller, self._consumers, self._topics = caller, consumers, topics

    def get_group(
        self,
        group: str,
        client_id: str | None = None,
        *,
        cluster_name: str | None = None,
        broker_addr: str | None = None,
        with_jstack: bool = False,
    ) -> RunningGroup:
        """Return the runtime state of a group's clients (GET_CONSUMER_RUNNING_INFO, 307).

        Args:
            group: The consumer group.
            client_id: Only this client. Default: all clients.
            cluster_name: Find clients in this cluster. Default: all clusters.
            broker_addr: Find clients only on this broker.
            with_jstack: Also read a dump of each client's threads.

        Raises:
            NotFound: No such client is connected, or no broker knows the group.
            RequestError: CONSUMER_NOT_ONLINE (206): no client of the group is connected.
        """
        group_connections = self._consumers.get_connections(group, cluster_name, broker_addr)
        clients = [client for client in group_connections.clients if client_id in (None, client.client_id)]
        if not clients:
            errors = {**group_connections.errors, **group_connections.proxy_errors}
            failures = "; ".join(f"{addr}: {error_text(error)}" for addr, error in errors.items() if error)
            if failures:
                who_text = "no client" if client_id is None else f'no client "{client_id}"'
                raise NotFound(
                    f'{who_text} of group "{group}" is known, but not all servers told theirs: {failures}'
                )
            connections = quote_command("consumerConnection", group)
            raise NotFound(
                f'no client "{client_id}" of group "{group}" is connected: `{connections}` lists the clients'
            )
        return RunningGroup(
            tuple(self.get_clients(group, clients, with_jstack=with_jstack)),
            group_connections.consume_type,
            group_connections.message_model,
            group_connections.errors,
            group_connections.proxy_errors,
        )

    def get_clients(
        self, group: str, clients: Sequence[ConnectedClient], *, with_jstack: bool = False
    ) -> list[RunningClient]:
        """Return the runtime state of these clients of a group (GET_CONSUMER_RUNNING_INFO, 307).

        Args:
            group: The consumer group.
            clients: Its connected clients.
            with_jstack: Also read a dump of each client's threads.
        """
        return self._read_clients([(group, client) for client in clients], with_jstack)

    def get_subscriptions(
        self, group: str, clients: Sequence[ConnectedClient]
    ) -> dict[str, ServerResult[tuple[TopicSubscription, ...]]]:
        """Return each client's own subscriptions (GET_CONSUMER_RUNNING_INFO, 307).

        A broker has one set for all clients of a group: that of the client whose heartbeat came last.

        Args:
            group: The consumer group.
            clients: Its connected clients.

        Returns:
            Client id to ServerResult, without clients that no server can ask.
        """
        return {
            c.client.client_id: ServerResult(
                c.client.client_id, None if c.info is None else c.info.subscriptions, c.error
            )
            for c in self.get_clients(group, clients)
            if can_be_asked(c.client)
        }

    def get_name_servers(
        self, connections_by_group: Mapping[str, GroupConnections]
    ) -> dict[str, list[ClientNameServers]]:
        """Return the name servers that the clients of many groups use (307, all at once).

        Args:
            connections_by_group: Group to its connected clients.

        Returns:
            Group to one ClientNameServers per client, without clients that no server can ask.
        """
        group_clients = [
            (group, connected_client)
            for group, group_connections in connections_by_group.items()
            for connected_client in group_connections.clients
            if can_be_asked(connected_client)
        ]
        lists_by_group: dict[str, list[ClientNameServers]] = {group: [] for group in connections_by_group}
        for (group, connected_client), answer in zip(
            group_clients, self._send_to_clients(group_clients, with_jstack=False), strict=True
        ):
            group_connections = answer.then(_parse_name_servers)
            lists_by_group[group].append(
                ClientNameServers(connected_client, group_connections.result, group_connections.error)
            )
        return lists_by_group

    def _read_clients(
        self, group_clients: Sequence[tuple[str, ConnectedClient]], with_jstack: bool
    ) -> list[RunningClient]:
        """Read the runtime state of clients, given as pairs of (group, client)."""
        clients = [addr_and_client for addr_and_client in group_clients if can_be_asked(addr_and_client[1])]
        results = [decode_answer(a, parse_running_info) for a in self._send_to_clients(clients, with_jstack)]
        results_by_id = {c.client_id: r for (_, c), r in zip(clients, results, strict=True)}
        return [
            RunningClient(connected_client, info_result.result, info_result.error)
            if (info_result := results_by_id.get(connected_client.client_id)) is not None
            else RunningClient(connected_client, None, None)
            for _, connected_client in group_clients
        ]

    def _send_to_clients(
        self, group_clients: Sequence[tuple[str, ConnectedClient]], with_jstack: bool
    ) -> list[ServerResult[RemotingCommand]]:
        """Send the request to each client through a broker that it is connected to."""
        request_code = RequestCode.GET_CONSUMER_RUNNING_INFO
        calls = [
            (
                c.broker_addrs[0],
                make_request(request_code, broker_headers.ConsumerClient(group, c.client_id, with_jstack)),
            )
            for group, c in group_clients
        ]
        return self._caller.send_requests(calls, max(CLIENT_TIMEOUT_SECONDS, self._caller.access.timeout))

    def get_queue_owners(self, group: str, cluster_name: str | None = None) -> dict[MessageQueue, str]:
        """Return the clients that consume each queue of a group (307).

        Args:
            group: The consumer group.
            cluster_name: Find clients in this cluster. Default: all clusters.

        Returns:
            Queue to client id, without the queues of clients that did not answer. Several ids are joined by a
            comma: broadcasting clients share queues, and so do clients that pop from ALL_QUEUES.

        Raises:
            NotFound: No broker knows the group; or a broker failed, and no client is connected to the others.
            RequestError: CONSUMER_NOT_ONLINE (206): no client of the group is connected.
        """
        clients_by_queue: dict[MessageQueue, list[str]] = {}
        for running_client in self.get_group(group, cluster_name=cluster_name).clients:
            for message_queue in running_client.info.held_queues if running_client.info else ():
                clients_by_queue.setdefault(message_queue, []).append(running_client.client.client_id)
        return {message_queue: ",".join(clients) for message_queue, clients in clients_by_queue.items()}

    def find_problems(self, running_group: RunningGroup, now_ms: int) -> list[str]:
        """Find problems of a group: different subscriptions, blocked, unlocked or unassigned queues.

        Args:
            running_group: The result of `get_group` for all clients.
            now_ms: The current time in ms since 1970.

        Returns:
            One line per problem.
        """
        infos = [(c.client.client_id, c.info) for c in running_group.clients if c.info is not None]
        problem_lines = [
            *find_subscription_problems([(client_id, info.subscriptions) for client_id, info in infos]),
            *find_queue_problems(infos, now_ms, running_group.message_model == "CLUSTERING"),
        ]
        is_shared = (
            running_group.message_model == "CLUSTERING" and running_group.consume_type == "CONSUME_PASSIVELY"
        )
        if is_shared and len(infos) == len(running_group.clients):
            problem_lines += find_assignment_problems(infos, self._list_wanted_queues(infos))
        return problem_lines

    def _list_wanted_queues(self, client_infos: Iterable[tuple[str, RunningInfo]]) -> set[MessageQueue]:
        subscribed_topics = {item.topic for _, info in client_infos for item in info.subscriptions}
        wanted_queues: set[MessageQueue] = set()
        for topic in sorted(subscribed_topics):
            try:
                topic_route = self._topics.get_route(topic)
                topic_queues = list_readable_queues(topic, topic_route)
            except ClientClosed:
                raise
            except RocketMQError:
                continue
            gone_brokers = {
                route_item.broker_name for route_item in topic_route.queues if not route_item.broker_addrs
            }
            wanted_queues.update(queue for queue in topic_queues if queue.broker_name not in gone_brokers)
        return wanted_queues


def can_be_asked(connected_client: ConnectedClient) -> bool:
    """Return whether a broker can pass a request on to the client.

    A gRPC client does not answer: the broker would wait for 10 seconds (GrpcClientChannel upstream).
    """
    return connected_client.protocol != "gRPC" and bool(connected_client.broker_addrs)


def _parse_name_servers(response: RemotingCommand) -> tuple[str, ...]:
    """Parse only the name servers: parsing all queues of a ConsumerRunningInfo takes 100 times as long."""
    pattern_match = _NAME_SERVERS_PATTERN.search(response.body)
    addrs_text = "" if pattern_match is None else pattern_match[1].decode("utf-8", "replace")
    return tuple(filter(None, addrs_text.replace(" ", "").split(";")))
