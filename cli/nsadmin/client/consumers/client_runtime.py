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
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    GroupConnections,
    TopicSubscription,
    parse_subscription,
)
from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
from nsadmin.client.message_queues import MessageQueue, list_readable_queues, parse_queue_table
from nsadmin.client.results import ClientClosed, NotFound, ServerResult, error_text
from nsadmin.client.topics.topics import TopicAdmin

CLIENT_TIMEOUT_SECONDS = 12.0
"""Seconds for a request to a client. The broker waits 10 s for the client's answer."""

BLOCKED_AFTER_MS = 60_000
"""Milliseconds without consumption, despite cached messages, after which a client counts as blocked."""

ALL_QUEUES = -1
"""The queue id of a client that pops messages from any queue of a broker."""

_NAME_SERVERS_PATTERN = re.compile(rb'"PROP_NAMESERVER_ADDR"\s*:\s*"([^"\\]*)"')


class RunningQueue(NamedTuple):
    """A queue that a client consumes from (ProcessQueueInfo). Times are ms since 1970; None for never.

    Counts are None if the client does not report them.

    Attributes:
        queue: The queue.
        consumer_offset: The next message to consume, as the client knows it.
        cached_msg_count: The messages that the client fetched but did not consume.
        cached_msg_size_in_mib: Their size in MiB.
        last_pull_ms: The last pull.
        last_consume_ms: The last consumption.
        is_locked: Whether the client holds the lock of the queue; ordered consumers lock queues.
        is_dropped: Whether the client gave the queue up.
        consuming_msg_count: The messages that an ordered consumer has taken from its cache.
    """

    queue: MessageQueue
    consumer_offset: int | None
    cached_msg_count: int | None
    cached_msg_size_in_mib: int | None
    last_pull_ms: int | None
    last_consume_ms: int | None
    is_locked: bool
    is_dropped: bool
    consuming_msg_count: int | None = None


class PopQueue(NamedTuple):
    """A queue that a client pops from (PopProcessQueueInfo).

    Attributes:
        queue: The queue; its id is ALL_QUEUES if clients share all queues of the broker.
        wait_ack_count: The messages that the client popped but did not acknowledge.
        last_pop_ms: The last pop in ms since 1970; None for never.
        is_dropped: Whether the client gave the queue up.
    """

    queue: MessageQueue
    wait_ack_count: int | None
    last_pop_ms: int | None
    is_dropped: bool


class ConsumeStatus(NamedTuple):
    """The consumption of one topic by one client: `*_rt` in ms per message or pull, `*_tps` per second.

    `consume_failed_msgs` counts the failed messages of the last hour. None is not reported.
    """

    consume_ok_tps: float | None
    consume_failed_tps: float | None
    consume_rt: float | None
    pull_tps: float | None
    pull_rt: float | None
    consume_failed_msgs: float | None = None


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
        asked = [client for client in clients if can_be_asked(client)]
        answers = self._send_to_clients([(group, client) for client in asked], with_jstack)
        results = iter([decode_answer(answer, parse_running_info) for answer in answers])
        return [
            RunningClient(client, *next(results)[1:])
            if can_be_asked(client)
            else RunningClient(client, None, None)
            for client in clients
        ]

    def get_subscriptions(
        self, group: str, clients: Sequence[ConnectedClient]
    ) -> dict[str, ServerResult[tuple[TopicSubscription, ...]]]:
        """Return each client's own subscriptions (GET_CONSUMER_RUNNING_INFO, 307).

        A broker has one set for all clients of a group: that of the client whose heartbeat came last.

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
        answers = self._send_to_clients(group_clients, with_jstack=False)
        for (group, connected_client), answer in zip(group_clients, answers, strict=True):
            _, namesrv_addrs, error = answer.then(_parse_name_servers)
            lists_by_group[group].append(ClientNameServers(connected_client, namesrv_addrs, error))
        return lists_by_group

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
            *_find_queue_problems(infos, now_ms, running_group.message_model == "CLUSTERING"),
        ]
        is_shared = (
            running_group.message_model == "CLUSTERING" and running_group.consume_type == "CONSUME_PASSIVELY"
        )
        if is_shared and len(infos) == len(running_group.clients):
            problem_lines += _find_assignment_problems(infos, self._list_wanted_queues(infos))
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
            gone_brokers = {route.broker_name for route in topic_route.queues if not route.broker_addrs}
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


def find_subscription_problems(
    subscriptions_by_client: Sequence[tuple[str, tuple[TopicSubscription, ...]]],
) -> list[str]:
    """Find clients with different subscriptions in one group, which makes the group lose messages."""
    if not subscriptions_by_client:
        return []
    first_client, first_subscriptions = subscriptions_by_client[0]
    return [
        f"{client_id} and {first_client} subscribe differently: "
        f"{_format_subscriptions(subscriptions)} and {_format_subscriptions(first_subscriptions)}"
        for client_id, subscriptions in subscriptions_by_client[1:]
        if subscriptions != first_subscriptions
    ]


def _format_subscriptions(subscriptions: Iterable[TopicSubscription]) -> str:
    return " ".join(f"{subscription.topic}={subscription}" for subscription in subscriptions) or "nothing"


def _find_queue_problems(
    client_infos: Iterable[tuple[str, RunningInfo]], now_ms: int, needs_locks: bool
) -> list[str]:
    """Find queues that their client cannot lock, or on which it is blocked; see BLOCKED_AFTER_MS."""
    problem_lines = []
    for client_id, info in client_infos:
        for running_queue in info.queues:
            queue_text, cached_count = _name_queue(running_queue.queue), running_queue.cached_msg_count
            if needs_locks and info.is_orderly and not running_queue.is_locked:
                problem_lines.append(f"{client_id} cannot lock {queue_text}, which it must consume in order")
            quiet_ms = now_ms - (running_queue.last_consume_ms or 0)
            if not info.is_orderly and cached_count and quiet_ms > BLOCKED_AFTER_MS:
                problem_lines.append(
                    f"{client_id} is blocked on {queue_text}: it has {cached_count} "
                    f"messages and consumed none of them for {quiet_ms // 1000} s"
                )
    return problem_lines


def _find_assignment_problems(
    client_infos: Iterable[tuple[str, RunningInfo]], wanted_queues: Iterable[MessageQueue]
) -> list[str]:
    """Find queues that no client consumes, and queues that several clients consume."""
    clients_by_queue: dict[MessageQueue, list[str]] = {queue: [] for queue in sorted(wanted_queues)}
    for client_id, info in client_infos:
        for held_queue in info.queues:
            clients_by_queue.setdefault(held_queue.queue, []).append(client_id)
    popped_queues = {held_queue.queue for _, info in client_infos for held_queue in info.pop_queues}
    shared_queues = {q for q in clients_by_queue if {q, q._replace(queue_id=ALL_QUEUES)} & popped_queues}
    return [
        f"{' and '.join(clients)} consume the same queue, {_name_queue(queue)}"
        if clients
        else f"no client consumes {_name_queue(queue)}"
        for queue, clients in clients_by_queue.items()
        if len(clients) != 1 and queue not in shared_queues
    ]


def _name_queue(queue: MessageQueue) -> str:
    return f"{queue.topic} {queue.broker_name} {queue.queue_id}"


def parse_running_info(response: RemotingCommand) -> RunningInfo:
    """Parse a ConsumerRunningInfo body of a client in any language."""
    json_body = parse_json_object(response)
    subscriptions = (parse_subscription(s.text("topic"), s) for s in json_body.children("subscriptionSet"))
    properties = json_body.child("properties")
    queues = parse_queue_table(json_body.members.get("mqTable"), JsonObject)
    pop_queues = parse_queue_table(json_body.members.get("mqPopTable"), JsonObject)
    return RunningInfo(
        {name: properties.text(name, "") for name in sorted(properties.members)},
        tuple(sorted(subscriptions)),
        tuple(_parse_running_queue(queue, state) for queue, state in queues.items()),
        {topic: _parse_status(status) for topic, status in json_body.child("statusTable").sorted_children()},
        json_body.text("jstack", None),
        tuple(_parse_pop_queue(queue, state) for queue, state in pop_queues.items()),
    )


def _parse_pop_queue(message_queue: MessageQueue, state: JsonObject) -> PopQueue:
    return PopQueue(
        message_queue,
        state.integer("waitAckCount", None),
        state.integer("lastPopTimestamp", 0) or None,
        _is_dropped(state),
    )


def _parse_running_queue(message_queue: MessageQueue, state: JsonObject) -> RunningQueue:
    return RunningQueue(
        message_queue,
        state.integer("commitOffset", None),
        state.integer("cachedMsgCount", None),
        state.integer("cachedMsgSizeInMiB", None),
        state.integer("lastPullTimestamp", 0) or None,
        state.integer("lastConsumeTimestamp", 0) or None,
        state.flag("locked"),
        _is_dropped(state),
        state.integer("transactionMsgCount", None),
    )


def _is_dropped(state: JsonObject) -> bool:
    # Java spells the member "droped", Go "dropped".
    return state.flag("droped", state.flag("dropped"))


def _parse_status(status: JsonObject) -> ConsumeStatus:
    member_names = ("consumeOKTPS", "consumeFailedTPS", "consumeRT", "pullTPS", "pullRT", "consumeFailedMsgs")
    return ConsumeStatus(*(status.number(member_name, None) for member_name in member_names))
