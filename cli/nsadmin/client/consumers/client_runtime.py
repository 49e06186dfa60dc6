"""`admin.client_runtime`: the runtime state that clients report through the brokers they are connected to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.consumers.client_connections import (
    ConnectedClient,
    GroupConnections,
    TopicSubscription,
    parse_subscription,
)
from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
from nsadmin.client.consumers.queue_allocation import list_readable_queues
from nsadmin.client.message_queues import MessageQueue, parse_queue_table
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topics.topics import TopicAdmin

CLIENT_TIMEOUT_SECONDS = 12.0
"""Seconds for a request to a client. The broker waits 10 s for the client's answer."""
BLOCKED_AFTER_MS = 60_000
"""Milliseconds without consumption, despite cached messages, after which a client counts as blocked."""


_NAME_SERVERS_PATTERN = re.compile(rb'"PROP_NAMESERVER_ADDR"\s*:\s*"([^"\\]*)"')


class RunningQueue(NamedTuple):
    """A queue that a client consumes from (ProcessQueueInfo). Times are ms since 1970; None for never.

    Attributes:
        queue: The queue.
        commit_offset: The next message to consume, as the client knows it.
        cached_msg_count: The messages that the client fetched but did not consume.
        cached_msg_size_in_mib: Their size in MiB.
        last_pull_ms: The last pull.
        last_consume_ms: The last consumption.
        is_locked: Whether the client holds the lock of the queue; ordered consumers lock queues.
        is_dropped: Whether the client gave the queue up.
    """

    queue: MessageQueue
    commit_offset: int
    cached_msg_count: int
    cached_msg_size_in_mib: int
    last_pull_ms: int | None
    last_consume_ms: int | None
    is_locked: bool
    is_dropped: bool


ALL_QUEUES = -1
"""The queue id of a client that pops messages from any queue of a broker."""


class PopQueue(NamedTuple):
    """A queue that a client pops from (PopProcessQueueInfo).

    Attributes:
        queue: The queue; its id is ALL_QUEUES if clients share all queues of the broker.
        wait_ack_count: The messages that the client popped but did not acknowledge.
        last_pop_ms: The last pop in ms since 1970; None for never.
        is_dropped: Whether the client gave the queue up.
    """

    queue: MessageQueue
    wait_ack_count: int
    last_pop_ms: int | None
    is_dropped: bool


class ConsumeStatus(NamedTuple):
    """The consumption of one topic by one client: `*_rt` in ms per message or pull, `*_tps` per second."""

    consume_ok_tps: float
    consume_failed_tps: float
    consume_rt: float
    pull_tps: float
    pull_rt: float


class RunningInfo(NamedTuple):
    """The runtime state of a client (ConsumerRunningInfo).

    Attributes:
        properties: All settings of the client.
        subscriptions: Its subscriptions, in order.
        queues: The queues that it pulls from.
        status_by_topic: Topic to its consumption.
        jstack: A dump of its threads, if requested; else None.
        pop_queues: The queues that it pops from.
    """

    properties: dict[str, str]
    subscriptions: tuple[TopicSubscription, ...]
    queues: tuple[RunningQueue, ...]
    status_by_topic: dict[str, ConsumeStatus]
    jstack: str | None
    pop_queues: tuple[PopQueue, ...] = ()

    @property
    def held_queues(self) -> list[MessageQueue]:
        """All queues that the client pulls or pops from."""
        return [item.queue for item in self.queues] + [item.queue for item in self.pop_queues]

    @property
    def is_orderly(self) -> bool:
        """Whether the client consumes in order."""
        return self.properties.get("PROP_CONSUMEORDERLY", "").lower() == "true"

    @property
    def started_at_ms(self) -> int | None:
        """The start time of the client in ms since 1970; None if not reported."""
        text = self.properties.get("PROP_CONSUMER_START_TIMESTAMP", "")
        return int(text) if text.isdecimal() else None


class RunningClient(NamedTuple):
    """A client with its runtime state (None after an error) and its error (None after a success)."""

    client: ConnectedClient
    info: RunningInfo | None
    error: RocketMQError | None


class ClientNameServers(NamedTuple):
    """A client with its name servers (() if not reported, None after an error) and its error."""

    client: ConnectedClient
    name_servers: tuple[str, ...] | None
    error: RocketMQError | None


class RunningGroup(NamedTuple):
    """The clients of a group with their runtime state.

    Attributes:
        clients: The clients that were asked.
        consume_type: "CONSUME_ACTIVELY" (pull) or "CONSUME_PASSIVELY" (push).
        message_model: "CLUSTERING" or "BROADCASTING".
        errors: Broker address to error; None for a broker that answered.
    """

    clients: tuple[RunningClient, ...]
    consume_type: str | None
    message_model: str | None
    errors: Mapping[str, RocketMQError | None]


class ClientRuntime:
    """`admin.client_runtime`: the runtime state of consumer clients."""

    def __init__(self, caller: Caller, consumers: ConsumerAdmin, topics: TopicAdmin) -> None:
        self._caller = caller
        self._consumers = consumers
        self._topics = topics

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
        clients = [
            connected_client
            for connected_client in group_connections.clients
            if client_id in (None, connected_client.client_id)
        ]
        if not clients:
            who_text = "nobody" if client_id is None else f"no client {client_id!r}"
            raise NotFound(f"{who_text} of {group!r} is connected")
        return RunningGroup(
            tuple(
                self._read_clients([(group, connected_client) for connected_client in clients], with_jstack)
            ),
            group_connections.consume_type,
            group_connections.message_model,
            group_connections.errors,
        )

    def get_name_servers(
        self, connections_by_group: Mapping[str, GroupConnections]
    ) -> dict[str, list[ClientNameServers]]:
        """Return the name servers that the clients of many groups use (307, all at once).

        Args:
            connections_by_group: Group to its connected clients.

        Returns:
            Group to one ClientNameServers per client.
        """
        group_clients = [
            (group, connected_client)
            for group, group_connections in connections_by_group.items()
            for connected_client in group_connections.clients
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
        info_results = [
            decode_answer(answer, parse_running_info)
            for answer in self._send_to_clients(group_clients, with_jstack)
        ]
        return [
            RunningClient(connected_client, info_result.result, info_result.error)
            for (_, connected_client), info_result in zip(group_clients, info_results, strict=True)
        ]

    def _send_to_clients(
        self, group_clients: Sequence[tuple[str, ConnectedClient]], with_jstack: bool
    ) -> list[ServerResult[RemotingCommand]]:
        """Send the request to each client through a broker that it is connected to."""
        request_code = RequestCode.GET_CONSUMER_RUNNING_INFO
        calls = [
            (
                connected_client.broker_addrs[0],
                build_request(
                    request_code,
                    headers.write_header(
                        broker_headers.ConsumerClient(group, connected_client.client_id, with_jstack)
                    ),
                ),
            )
            for group, connected_client in group_clients
        ]
        return self._caller.send_requests(calls, max(CLIENT_TIMEOUT_SECONDS, self._caller.access.timeout))

    def get_queue_owners(self, group: str, cluster_name: str | None = None) -> dict[MessageQueue, str]:
        """Return the clients that consume each queue of a group (307).

        Returns:
            Queue to client id. Several ids are joined by a comma: broadcasting clients share queues, and so
            do clients that pop from ALL_QUEUES.
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
        client_infos = [
            (running_client.client.client_id, running_client.info)
            for running_client in running_group.clients
            if running_client.info is not None
        ]
        needs_locks = running_group.message_model == "CLUSTERING"
        problem_lines = [
            *_find_subscription_problems(client_infos),
            *_find_queue_problems(client_infos, now_ms, needs_locks),
        ]
        is_shared = (
            running_group.message_model == "CLUSTERING" and running_group.consume_type == "CONSUME_PASSIVELY"
        )
        if is_shared and len(client_infos) == len(running_group.clients):
            problem_lines += _find_assignment_problems(client_infos, self._list_wanted_queues(client_infos))
        return problem_lines

    def _list_wanted_queues(self, client_infos: Iterable[tuple[str, RunningInfo]]) -> set[MessageQueue]:
        subscribed_topics = {
            route_item.topic for _, running_info in client_infos for route_item in running_info.subscriptions
        }
        wanted_queues: set[MessageQueue] = set()
        for topic in sorted(subscribed_topics):
            try:
                topic_route = self._topics.get_route(topic)
            except RocketMQError:
                continue
            gone_brokers = {
                route_item.broker_name for route_item in topic_route.queues if not route_item.broker_addrs
            }
            wanted_queues.update(
                message_queue
                for message_queue in list_readable_queues(topic, topic_route)
                if message_queue.broker_name not in gone_brokers
            )
        return wanted_queues


def _parse_name_servers(response: RemotingCommand) -> tuple[str, ...]:
    """Parse only the name servers: parsing all queues of a ConsumerRunningInfo takes 100 times as long."""
    pattern_match = _NAME_SERVERS_PATTERN.search(response.body)
    addrs_text = "" if pattern_match is None else pattern_match[1].decode("utf-8", "replace")
    return tuple(filter(None, addrs_text.replace(" ", "").split(";")))


def parse_running_info(response: RemotingCommand) -> RunningInfo:
    """Parse a ConsumerRunningInfo body of a client in any language."""
    json_body = parse_json_object(response)
    subscriptions = (
        parse_subscription(json_record["topic"], json_record)
        for json_record in json_body.get("subscriptionSet") or ()
    )
    return RunningInfo(
        {
            property_name: str(property_value)
            for property_name, property_value in sorted((json_body.get("properties") or {}).items())
        },
        tuple(sorted(subscriptions)),
        tuple(
            _parse_running_queue(message_queue, json_record)
            for message_queue, json_record in parse_queue_table(json_body.get("mqTable")).items()
        ),
        {
            topic: _parse_status(json_record)
            for topic, json_record in sorted((json_body.get("statusTable") or {}).items())
        },
        json_body.get("jstack"),
        tuple(
            _parse_pop_queue(message_queue, json_record)
            for message_queue, json_record in parse_queue_table(json_body.get("mqPopTable")).items()
        ),
    )


def _parse_pop_queue(message_queue: MessageQueue, queue_record: Mapping[str, Any]) -> PopQueue:
    return PopQueue(
        message_queue,
        int(queue_record.get("waitAckCount") or 0),
        queue_record.get("lastPopTimestamp") or None,
        bool(queue_record.get("droped", queue_record.get("dropped"))),
    )


def _parse_running_queue(message_queue: MessageQueue, queue_record: Mapping[str, Any]) -> RunningQueue:
    return RunningQueue(
        message_queue,
        int(queue_record.get("commitOffset") or 0),
        int(queue_record.get("cachedMsgCount") or 0),
        int(queue_record.get("cachedMsgSizeInMiB") or 0),
        queue_record.get("lastPullTimestamp") or None,
        queue_record.get("lastConsumeTimestamp") or None,
        bool(queue_record.get("locked")),
        # Java spells the member "droped", Go "dropped".
        bool(queue_record.get("droped", queue_record.get("dropped"))),
    )


def _parse_status(status_record: Mapping[str, Any]) -> ConsumeStatus:
    member_names = ("consumeOKTPS", "consumeFailedTPS", "consumeRT", "pullTPS", "pullRT")
    return ConsumeStatus(*(float(status_record.get(member_name) or 0) for member_name in member_names))


def _find_subscription_problems(client_infos: Sequence[tuple[str, RunningInfo]]) -> list[str]:
    """Find clients with different subscriptions in one group, which makes the group lose messages."""
    if not client_infos:
        return []
    first_client, first_subscriptions = client_infos[0][0], client_infos[0][1].subscriptions
    return [
        f"{client_id} and {first_client} subscribe differently: "
        f"{_format_subscriptions(running_info.subscriptions)} and "
        f"{_format_subscriptions(first_subscriptions)}"
        for client_id, running_info in client_infos[1:]
        if running_info.subscriptions != first_subscriptions
    ]


def _format_subscriptions(subscriptions: Iterable[TopicSubscription]) -> str:
    return " ".join(f"{subscription.topic}={subscription}" for subscription in subscriptions) or "nothing"


def _find_queue_problems(
    client_infos: Iterable[tuple[str, RunningInfo]], now_ms: int, needs_locks: bool
) -> list[str]:
    problem_lines = []
    for client_id, running_info in client_infos:
        for running_queue in running_info.queues:
            queue_text = (
                f"{running_queue.queue.topic} {running_queue.queue.broker_name} "
                f"{running_queue.queue.queue_id}"
            )
            if needs_locks and running_info.is_orderly and not running_queue.is_locked:
                problem_lines.append(f"{client_id} cannot lock {queue_text}, which it consumes in order")
            quiet_ms = now_ms - (running_queue.last_consume_ms or 0)
            if not running_info.is_orderly and running_queue.cached_msg_count and quiet_ms > BLOCKED_AFTER_MS:
                problem_lines.append(
                    f"{client_id} is blocked on {queue_text}: {running_queue.cached_msg_count} "
                    f"messages are there and none"
                    f" was consumed for {quiet_ms // 1000} s"
                )
    return problem_lines


def _find_assignment_problems(
    client_infos: Iterable[tuple[str, RunningInfo]], wanted_queues: Iterable[MessageQueue]
) -> list[str]:
    clients_by_queue: dict[MessageQueue, list[str]] = {
        message_queue: [] for message_queue in sorted(wanted_queues)
    }
    for client_id, running_info in client_infos:
        for held_queue in running_info.queues:
            clients_by_queue.setdefault(held_queue.queue, []).append(client_id)
    popped_queues = {
        held_queue.queue for _, running_info in client_infos for held_queue in running_info.pop_queues
    }
    shared_queues = {
        message_queue
        for message_queue in clients_by_queue
        if {message_queue, message_queue._replace(queue_id=ALL_QUEUES)} & popped_queues
    }
    return [
        f"nobody consumes {message_queue.topic} {message_queue.broker_name} {message_queue.queue_id}"
        if not clients
        else f"{' and '.join(clients)} all consume {message_queue.topic} {message_queue.broker_name} "
        f"{message_queue.queue_id}"
        for message_queue, clients in clients_by_queue.items()
        if len(clients) != 1 and message_queue not in shared_queues
    ]
