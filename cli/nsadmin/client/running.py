"""Running: what the clients of a group tell about themselves, through brokers that they are connected to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.allocation import readable_queues
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.connections import Client, GroupConnections, Subscription, subscription
from nsadmin.client.consumers import Consumers
from nsadmin.client.queues import MessageQueue, queue_table
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.topics import Topics

CLIENT_TIMEOUT = 12.0
"""Seconds: a broker gives the client 10 to answer."""
BLOCKED_AFTER = 60_000
"""Milliseconds without consuming anything although messages are there."""


_NAME_SERVERS = re.compile(rb'"PROP_NAMESERVER_ADDR"\s*:\s*"([^"\\]*)"')


class RunningQueue(NamedTuple):
    """A queue that a client consumes from (ProcessQueueInfo); times are ms since 1970, None for never.

    `commit_offset` is the next message to consume as the client has it, `cached_msg_count` how many
    messages it has fetched and not consumed. Ordered consumers lock their queues on the broker.
    """

    queue: MessageQueue
    commit_offset: int
    cached_msg_count: int
    cached_msg_size_in_mib: int
    last_pull: int | None
    last_consume: int | None
    locked: bool
    dropped: bool


ALL_QUEUES = -1
"""The queue id of a client that pops messages of whatever queue of a broker."""


class PopQueue(NamedTuple):
    """A queue that a client pops from (PopProcessQueueInfo), or ALL_QUEUES of a broker, which clients share.

    `wait_ack_count` is how many messages it has popped and not acknowledged; the time is ms since 1970.
    """

    queue: MessageQueue
    wait_ack_count: int
    last_pop: int | None
    dropped: bool


class ConsumeStatus(NamedTuple):
    """How one client gets on with one topic; RTs are in ms, the rest is per second."""

    consume_ok_tps: float
    consume_failed_tps: float
    consume_rt: float
    pull_tps: float
    pull_rt: float


class RunningInfo(NamedTuple):
    """ConsumerRunningInfo: `properties` are all settings of the client, `jstack` its threads if wanted."""

    properties: dict[str, str]
    subscriptions: tuple[Subscription, ...]
    queues: tuple[RunningQueue, ...]
    topics: dict[str, ConsumeStatus]
    jstack: str | None
    pop_queues: tuple[PopQueue, ...] = ()

    @property
    def held(self) -> list[MessageQueue]:
        """All queues that the client consumes from, in one way or the other."""
        return [item.queue for item in self.queues] + [item.queue for item in self.pop_queues]

    @property
    def is_orderly(self) -> bool:
        """Whether the client consumes in order."""
        return self.properties.get("PROP_CONSUMEORDERLY", "").lower() == "true"

    @property
    def start_time(self) -> int | None:
        """When the client was started, in ms."""
        text = self.properties.get("PROP_CONSUMER_START_TIMESTAMP", "")
        return int(text) if text.isdecimal() else None


class RunningClient(NamedTuple):
    """A client, and what it told; `info` is None where it did not, and `error` says why."""

    client: Client
    info: RunningInfo | None
    error: RocketMQError | None


class ClientList(NamedTuple):
    """A client and its list of name servers, which is empty where it tells none; or `error` says why."""

    client: Client
    name_servers: tuple[str, ...] | None
    error: RocketMQError | None


class RunningGroup(NamedTuple):
    """The clients of a group that were asked; `errors` has None for each broker that answered."""

    clients: tuple[RunningClient, ...]
    consume_type: str | None
    message_model: str | None
    errors: Mapping[str, RocketMQError | None]


class Running:
    """`admin.running`."""

    def __init__(self, caller: Caller, consumers: Consumers, topics: Topics) -> None:
        self._caller = caller
        self._consumers = consumers
        self._topics = topics

    def group(
        self,
        group: str,
        client_id: str | None = None,
        *,
        cluster_name: str | None = None,
        broker_addr: str | None = None,
        jstack: bool = False,
    ) -> RunningGroup:
        """Every client of the group, or one of them (GET_CONSUMER_RUNNING_INFO).

        NotFound if there is no such client; see `Consumers.connections` for groups of which nobody is there.
        """
        found = self._consumers.connections(group, cluster_name, broker_addr)
        clients = [client for client in found.clients if client_id in (None, client.client_id)]
        if not clients:
            who = "nobody" if client_id is None else f"no client {client_id!r}"
            raise NotFound(f"{who} of {group!r} is connected")
        return RunningGroup(
            tuple(self._told([(group, client) for client in clients], jstack)),
            found.consume_type,
            found.message_model,
            found.errors,
        )

    def name_servers(self, online: Mapping[str, GroupConnections]) -> dict[str, list[ClientList]]:
        """The lists of the clients of many groups, all asked at once; by group."""
        asked = [(group, client) for group, found in online.items() for client in found.clients]
        lists: dict[str, list[ClientList]] = {group: [] for group in online}
        for (group, client), answer in zip(asked, self._ask(asked, jstack=False), strict=True):
            found = answer.then(_name_servers)
            lists[group].append(ClientList(client, found.result, found.error))
        return lists

    def _told(self, clients: Sequence[tuple[str, Client]], jstack: bool) -> list[RunningClient]:
        """What clients of these groups say of themselves."""
        infos = [decoded(answer, running_info) for answer in self._ask(clients, jstack)]
        return [
            RunningClient(client, info.result, info.error)
            for (_, client), info in zip(clients, infos, strict=True)
        ]

    def _ask(self, clients: Sequence[tuple[str, Client]], jstack: bool) -> list[ServerResult[Command]]:
        """Each client of these groups is asked through a broker that it is connected to."""
        code = RequestCode.GET_CONSUMER_RUNNING_INFO
        calls = [
            (
                client.broker_addrs[0],
                request(code, headers.write(broker_headers.ConsumerClient(group, client.client_id, jstack))),
            )
            for group, client in clients
        ]
        return self._caller.ask(calls, max(CLIENT_TIMEOUT, self._caller.access.timeout))

    def owners(self, group: str, cluster_name: str | None = None) -> dict[MessageQueue, str]:
        """Whose each queue is, as the clients say; several ids are joined by a comma.

        Several have one where they broadcast, or pop from ALL_QUEUES of a broker.
        """
        owners: dict[MessageQueue, list[str]] = {}
        for client in self.group(group, cluster_name=cluster_name).clients:
            for queue in client.info.held if client.info else ():
                owners.setdefault(queue, []).append(client.client.client_id)
        return {queue: ",".join(clients) for queue, clients in owners.items()}

    def problems(self, found: RunningGroup, now: int) -> list[str]:
        """What is wrong with a group all of whose clients were asked, a line for each, at `now` (ms)."""
        told = [(item.client.client_id, item.info) for item in found.clients if item.info is not None]
        locks = found.message_model == "CLUSTERING"
        lines = [*_subscription_problems(told), *_queue_problems(told, now, locks)]
        is_shared = found.message_model == "CLUSTERING" and found.consume_type == "CONSUME_PASSIVELY"
        if is_shared and len(told) == len(found.clients):
            lines += _assignment_problems(told, self._read_queues(told))
        return lines

    def _read_queues(self, told: Iterable[tuple[str, RunningInfo]]) -> set[MessageQueue]:
        topics = {item.topic for _, info in told for item in info.subscriptions}
        queues: set[MessageQueue] = set()
        for topic in sorted(topics):
            try:
                route = self._topics.route(topic)
            except RocketMQError:
                continue
            gone = {item.broker_name for item in route.queues if not item.broker_addrs}
            queues.update(queue for queue in readable_queues(topic, route) if queue.broker_name not in gone)
        return queues


def _name_servers(command: Command) -> tuple[str, ...]:
    """Of a ConsumerRunningInfo no more than that: to read all its queues takes a hundred times as long."""
    found = _NAME_SERVERS.search(command.body)
    text = "" if found is None else found[1].decode("utf-8", "replace")
    return tuple(filter(None, text.replace(" ", "").split(";")))


def running_info(command: Command) -> RunningInfo:
    """ConsumerRunningInfo, as clients of any language write it."""
    body = json_object(command)
    subscriptions = (subscription(item["topic"], item) for item in body.get("subscriptionSet") or ())
    return RunningInfo(
        {key: str(value) for key, value in sorted((body.get("properties") or {}).items())},
        tuple(sorted(subscriptions)),
        tuple(_running_queue(queue, item) for queue, item in queue_table(body.get("mqTable")).items()),
        {topic: _status(item) for topic, item in sorted((body.get("statusTable") or {}).items())},
        body.get("jstack"),
        tuple(_pop_queue(queue, item) for queue, item in queue_table(body.get("mqPopTable")).items()),
    )


def _pop_queue(queue: MessageQueue, item: Mapping[str, Any]) -> PopQueue:
    return PopQueue(
        queue,
        int(item.get("waitAckCount") or 0),
        item.get("lastPopTimestamp") or None,
        bool(item.get("droped", item.get("dropped"))),
    )


def _running_queue(queue: MessageQueue, item: Mapping[str, Any]) -> RunningQueue:
    return RunningQueue(
        queue,
        int(item.get("commitOffset") or 0),
        int(item.get("cachedMsgCount") or 0),
        int(item.get("cachedMsgSizeInMiB") or 0),
        item.get("lastPullTimestamp") or None,
        item.get("lastConsumeTimestamp") or None,
        bool(item.get("locked")),
        # Java writes it with one p, Go with two.
        bool(item.get("droped", item.get("dropped"))),
    )


def _status(item: Mapping[str, Any]) -> ConsumeStatus:
    names = ("consumeOKTPS", "consumeFailedTPS", "consumeRT", "pullTPS", "pullRT")
    return ConsumeStatus(*(float(item.get(name) or 0) for name in names))


def _subscription_problems(told: Sequence[tuple[str, RunningInfo]]) -> list[str]:
    """Clients of one group have to subscribe to the same: else messages are lost or never come."""
    if not told:
        return []
    first, wanted = told[0][0], told[0][1].subscriptions
    return [
        f"{client_id} and {first} subscribe differently: {_texts(info.subscriptions)} and {_texts(wanted)}"
        for client_id, info in told[1:]
        if info.subscriptions != wanted
    ]


def _texts(subscriptions: Iterable[Subscription]) -> str:
    return " ".join(f"{item.topic}={item}" for item in subscriptions) or "nothing"


def _queue_problems(told: Iterable[tuple[str, RunningInfo]], now: int, locks: bool) -> list[str]:
    lines = []
    for client_id, info in told:
        for item in info.queues:
            place = f"{item.queue.topic} {item.queue.broker_name} {item.queue.queue_id}"
            if locks and info.is_orderly and not item.locked:
                lines.append(f"{client_id} cannot lock {place}, which it consumes in order")
            quiet = now - (item.last_consume or 0)
            if not info.is_orderly and item.cached_msg_count and quiet > BLOCKED_AFTER:
                lines.append(
                    f"{client_id} is blocked on {place}: {item.cached_msg_count} messages are there and none"
                    f" was consumed for {quiet // 1000} s"
                )
    return lines


def _assignment_problems(
    told: Iterable[tuple[str, RunningInfo]], wanted: Iterable[MessageQueue]
) -> list[str]:
    owners: dict[MessageQueue, list[str]] = {queue: [] for queue in sorted(wanted)}
    for client_id, info in told:
        for item in info.queues:
            owners.setdefault(item.queue, []).append(client_id)
    popped = {item.queue for _, info in told for item in info.pop_queues}
    shared = {queue for queue in owners if {queue, queue._replace(queue_id=ALL_QUEUES)} & popped}
    return [
        f"nobody consumes {queue.topic} {queue.broker_name} {queue.queue_id}"
        if not clients
        else f"{' and '.join(clients)} all consume {queue.topic} {queue.broker_name} {queue.queue_id}"
        for queue, clients in owners.items()
        if len(clients) != 1 and queue not in shared
    ]
