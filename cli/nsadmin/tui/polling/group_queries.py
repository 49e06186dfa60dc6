"""The queries for the lag and the clients of consumer groups, on the brokers that know each group."""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from namesrv_core.errors import RocketMQError
from nsadmin.client.consumers.connected_clients import GroupConnections
from nsadmin.client.results import ServerResult, error_text
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling.poll_records import AnyPoll, ClientConnection, GroupPolled, GroupsPolled, QueueLag
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


def query_groups(probe: ServerProbe, _: str, addrs: Sequence[str], pace: RequestPace) -> Iterator[AnyPoll]:
    """Query the names of all consumer groups, then each group in turn."""
    try:
        name_results = probe.admin.groups.list_names()
    except RocketMQError as error:
        yield GroupsPolled(probe.clock(), (), {"": error_text(error)})
        return
    addrs_by_group: dict[str, list[str]] = {}
    for result in name_results:
        for group in result.result or ():
            addrs_by_group.setdefault(group, []).append(result.addr)
    error_by_broker = {
        result.addr: error_text(result.error) for result in name_results if result.error is not None
    }
    yield GroupsPolled(probe.clock(), sorted(addrs_by_group), error_by_broker)
    polled_times = probe.carried_state.setdefault("group polls", {})
    # The caller may stop early. Begin with the groups that have waited longest, so that all get their turn.
    for group in sorted(addrs_by_group, key=lambda name: (polled_times.get(name, 0.0), name)):
        try:
            yield _poll_group(probe, group, addrs_by_group[group], pace)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            line = f"malformed answer ({error})"
            yield GroupPolled(probe.clock(), group, error=line)
        polled_times[group] = monotonic()


def query_group(probe: ServerProbe, group: str, addrs: Sequence[str], pace: RequestPace) -> Iterator[AnyPoll]:
    """Query the lag and the connected clients of a consumer group."""
    try:
        with pace.reserve_requests(1):
            targets = probe.admin.groups.list_targets(None)
    except RocketMQError as error:
        yield GroupPolled(probe.clock(), group, error=error_text(error))
        return
    broker_addrs = [target.broker_addr or "" for target in targets]
    yield _poll_group(probe, group, broker_addrs, pace, must_check=True)


def _poll_group(
    probe: ServerProbe,
    group: str,
    broker_addrs: Sequence[str],
    pace: RequestPace,
    *,
    must_check: bool = False,
) -> GroupPolled:
    """Poll one group on these brokers. `must_check`: no broker may know the group."""
    consumers = probe.admin.consumers
    progress_results: list[ServerResult[ConsumeStats]] = []
    member_by_id: dict[str, ConnectedClient] = {}
    connection_errors: dict[str, RocketMQError | None] = {}
    consume_type = message_model = None
    # Small turns: brokers and name servers are polled between them.
    turn_size = max(1, min(pace.per_second // _TURNS_PER_SECOND, _MAX_TURN_SIZE))
    for turn_addrs in split_batches(broker_addrs, turn_size):
        with pace.reserve_requests(len(turn_addrs)):
            progress_results += consumers.get_progress_at(group, turn_addrs)
        with pace.reserve_requests(len(turn_addrs)):
            connections = consumers.get_group_connections([group], turn_addrs)[group]
        member_by_id |= {client.client_id: client for client in connections.clients}
        connection_errors |= connections.errors
        consume_type = consume_type or connections.consume_type
        message_model = message_model or connections.message_model
    group_connections = _add_proxied_clients(
        probe,
        group,
        GroupConnections(
            tuple(member_by_id.values()), consume_type, message_model, None, (), (), connection_errors
        ),
        pace,
    )
    progress_tables = [result.result for result in progress_results if result.result is not None]
    try:
        if must_check and not any(
            result.result is None or result.result.queues for result in progress_results
        ):
            probe.admin.groups.check_exists(group, None)
        if not progress_tables:
            raise next(
                (result.error for result in progress_results if result.error is not None),
                RocketMQError("no master is registered"),
            )
    except RocketMQError as error:
        return GroupPolled(probe.clock(), group, error=error_text(error))
    return GroupPolled(
        probe.clock(),
        group,
        sum(progress_table.consume_tps for progress_table in progress_tables),
        _list_queue_lags(progress_tables),
        [_member_of_client(client) for client in group_connections.clients],
        group_connections.consume_type,
        group_connections.message_model,
        unreported=_describe_errors({**group_connections.errors, **group_connections.proxy_errors}),
    )


def _add_proxied_clients(
    probe: ServerProbe, group: str, group_connections: GroupConnections, pace: RequestPace
) -> GroupConnections:
    """Add the clients behind proxies. The heartbeats of all groups are read once for several polls."""
    proxies, carried_state = probe.admin.proxies, probe.carried_state
    if monotonic() >= carried_state.get("heartbeats again", 0.0):
        with pace.reserve_requests(1):
            carried_state["heartbeats"] = proxies.get_heartbeats()
        carried_state["heartbeats again"] = monotonic() + _HEARTBEATS_SECONDS
    return proxies.add_clients({group: group_connections}, heartbeats=carried_state["heartbeats"])[group]


def _describe_errors(connection_errors: Mapping[str, RocketMQError | None]) -> dict[str, str]:
    return {addr: error_text(error) for addr, error in connection_errors.items() if error is not None}


def _list_queue_lags(progress_tables: Sequence["ConsumeStats"]) -> list[QueueLag]:
    return [
        QueueLag(
            queue.queue.topic,
            queue.queue.broker_name,
            queue.queue.queue_id,
            queue.broker_offset,
            queue.consumer_offset,
            queue.inflight_count,
            queue.last_consumed_ms,
            queue.is_broadcasting,
        )
        for progress_table in progress_tables
        for queue in progress_table.queues
    ]


def _member_of_client(client: "ConnectedClient") -> ClientConnection:
    return ClientConnection(
        client.client_id,
        client.client_addr or "",
        client.language or "",
        client.version or "",
        client.protocol or "",
        ", ".join(client.proxy_addrs),
    )
