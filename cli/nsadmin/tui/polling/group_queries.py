"""The queries for the lag and the clients of consumer groups, on the brokers that know each group."""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from namesrv_core.errors import RocketMQError
from nsadmin.client.consumers.connected_clients import GroupConnections
from nsadmin.client.results import ServerResult, error_text
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    ClientConnection,
    GroupPolled,
    GroupsPolled,
    QueueLag,
)
from nsadmin.tui.polling.server_polls import ServerProbe, split_batches

if TYPE_CHECKING:
    from nsadmin.client.consumers.connected_clients import ConnectedClient
    from nsadmin.client.consumers.consume_stats import ConsumeStats

_HEARTBEATS_SECONDS = 10.0
"""How long the heartbeats of proxies are used again. Clients send one every 10 seconds."""

_TURNS_PER_SECOND = 10
"""The queries of a group on all brokers are split into turns of this fraction of the requests per second."""

_MAX_TURN_SIZE = 64
"""More requests at once would delay the polls of the same brokers, so that they look frozen."""


def query_groups(
    server_probe: ServerProbe, _: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    """Query the names of all consumer groups, then each group in turn."""
    try:
        name_results = server_probe.admin.groups.list_names()
    except RocketMQError as error:
        yield GroupsPolled(server_probe.clock(), (), {"": error_text(error)})
        return
    addrs_by_group: dict[str, list[str]] = {}
    for name_result in name_results:
        for group_name in name_result.result or ():
            addrs_by_group.setdefault(group_name, []).append(name_result.addr)
    error_by_broker = {
        name_result.addr: error_text(name_result.error)
        for name_result in name_results
        if name_result.error is not None
    }
    yield GroupsPolled(server_probe.clock(), sorted(addrs_by_group), error_by_broker)
    polled_times = server_probe.carried_state.setdefault("group polls", {})
    # The caller may stop early. Begin with the groups that have waited longest, so that all get their turn.
    for group_name in sorted(addrs_by_group, key=lambda name: (polled_times.get(name, 0.0), name)):
        try:
            yield _poll_group(server_probe, group_name, addrs_by_group[group_name], request_pace)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            error_line = f"malformed answer ({error})"
            yield GroupPolled(server_probe.clock(), group_name, error=error_line)
        polled_times[group_name] = monotonic()


def query_group(
    server_probe: ServerProbe, group: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    """Query the lag and the connected clients of a consumer group."""
    try:
        with request_pace.reserve_requests(1):
            targets = server_probe.admin.groups.list_targets(None)
    except RocketMQError as error:
        yield GroupPolled(server_probe.clock(), group, error=error_text(error))
        return
    broker_addrs = [target.broker_addr or "" for target in targets]
    yield _poll_group(server_probe, group, broker_addrs, request_pace, must_check=True)


def _poll_group(
    server_probe: ServerProbe,
    group: str,
    broker_addrs: Sequence[str],
    request_pace: RequestPace,
    *,
    must_check: bool = False,
) -> GroupPolled:
    """Poll one group on these brokers. `must_check`: no broker may know the group."""
    consumers = server_probe.admin.consumers
    progress_results: list[ServerResult[ConsumeStats]] = []
    member_by_id: dict[str, ConnectedClient] = {}
    connection_errors: dict[str, RocketMQError | None] = {}
    consume_type = message_model = None
    # Small turns: brokers and name servers are polled between them.
    turn_size = max(1, min(request_pace.per_second // _TURNS_PER_SECOND, _MAX_TURN_SIZE))
    for turn_addrs in split_batches(broker_addrs, turn_size):
        with request_pace.reserve_requests(len(turn_addrs)):
            progress_results += consumers.get_progress_at(group, turn_addrs)
        with request_pace.reserve_requests(len(turn_addrs)):
            connections = consumers.get_group_connections([group], turn_addrs)[group]
        member_by_id |= {client.client_id: client for client in connections.clients}
        connection_errors |= connections.errors
        consume_type = consume_type or connections.consume_type
        message_model = message_model or connections.message_model
    group_connections = _add_proxied_clients(
        server_probe,
        group,
        GroupConnections(
            tuple(member_by_id.values()), consume_type, message_model, None, (), (), connection_errors
        ),
        request_pace,
    )
    progress_tables = [result.result for result in progress_results if result.result is not None]
    try:
        if must_check and not any(
            result.result is None or result.result.queues for result in progress_results
        ):
            server_probe.admin.groups.check_exists(group, None)
        if not progress_tables:
            raise next(
                (result.error for result in progress_results if result.error is not None),
                RocketMQError("no master is registered"),
            )
    except RocketMQError as error:
        return GroupPolled(server_probe.clock(), group, error=error_text(error))
    return GroupPolled(
        server_probe.clock(),
        group,
        sum(progress_table.consume_tps for progress_table in progress_tables),
        _list_queue_lags(progress_tables),
        [_member_of_client(client) for client in group_connections.clients],
        group_connections.consume_type,
        group_connections.message_model,
        unreported=_describe_errors({**group_connections.errors, **group_connections.proxy_errors}),
    )


def _add_proxied_clients(
    server_probe: ServerProbe, group: str, group_connections: GroupConnections, request_pace: RequestPace
) -> GroupConnections:
    """Add the clients behind proxies. The heartbeats of all groups are read once for several polls."""
    proxies, carried_state = server_probe.admin.proxies, server_probe.carried_state
    if monotonic() >= carried_state.get("heartbeats again", 0.0):
        with request_pace.reserve_requests(1):
            carried_state["heartbeats"] = proxies.get_heartbeats()
        carried_state["heartbeats again"] = monotonic() + _HEARTBEATS_SECONDS
    return proxies.add_clients({group: group_connections}, heartbeats=carried_state["heartbeats"])[group]


def _describe_errors(connection_errors: Mapping[str, RocketMQError | None]) -> dict[str, str]:
    return {
        broker_addr: error_text(error)
        for broker_addr, error in connection_errors.items()
        if error is not None
    }


def _list_queue_lags(progress_tables: Sequence["ConsumeStats"]) -> list[QueueLag]:
    return [
        QueueLag(
            queue_progress.queue.topic,
            queue_progress.queue.broker_name,
            queue_progress.queue.queue_id,
            queue_progress.broker_offset,
            queue_progress.consumer_offset,
            queue_progress.inflight_count,
            queue_progress.last_consumed_ms,
            queue_progress.is_broadcasting,
        )
        for progress_table in progress_tables
        for queue_progress in progress_table.queues
    ]


def _member_of_client(group_client: "ConnectedClient") -> ClientConnection:
    return ClientConnection(
        group_client.client_id,
        group_client.client_addr or "",
        group_client.language or "",
        group_client.version or "",
        group_client.protocol or "",
        ", ".join(group_client.proxy_addrs),
    )
