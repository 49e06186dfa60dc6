"""The queries for the lag and the clients of consumer groups, on the brokers that know each group."""

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from namesrv_core.errors import RocketMQError
from nsadmin.client.consumers.connected_clients import GroupConnections
from nsadmin.client.results import ServerResult, error_text
from nsadmin.tui.polling.poll_records import AnyPoll, ClientConnection, GroupPolled, GroupsPolled, QueueLag
from nsadmin.tui.polling.server_polls import ServerProbe, split_batches

if TYPE_CHECKING:
    from nsadmin.client.consumers.connected_clients import ConnectedClient, ProducerClient
    from nsadmin.client.consumers.consume_stats import ConsumeStats

_HEARTBEATS_SECONDS = 10.0
"""How long the heartbeats of proxies are used again. Clients send one every 10 seconds."""

_TURNS_PER_SECOND = 10
"""The queries of a group on all brokers are split into turns of this fraction of the requests per second."""

_MAX_TURN_SIZE = 64
"""More requests at once would delay the polls of the same brokers, so that they look frozen."""


def query_groups(probe: ServerProbe, _: str) -> Iterator[AnyPoll]:
    """Query the names of all consumer groups, then each group in turn."""
    try:
        results = probe.admin.groups.list_names()
    except RocketMQError as error:
        yield GroupsPolled(probe.clock(), (), {"": error_text(error)})
        return
    addrs_by_group: dict[str, list[str]] = {}
    for result in results:
        for group in result.result or ():
            addrs_by_group.setdefault(group, []).append(result.addr)
    errors = {result.addr: error_text(result.error) for result in results if result.error is not None}
    yield GroupsPolled(probe.clock(), sorted(addrs_by_group), errors)
    polled_times = probe.carried_state.setdefault("group polls", {})
    # The caller may stop early. Begin with the groups that have waited longest, so that all get their turn.
    for group in sorted(addrs_by_group, key=lambda name: (polled_times.get(name, 0.0), name)):
        try:
            yield _poll_group(probe, group, addrs_by_group[group])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            yield GroupPolled(probe.clock(), group, error=f"malformed answer ({error})")
        polled_times[group] = monotonic()


def query_group(probe: ServerProbe, group: str) -> Iterator[AnyPoll]:
    """Query the lag and the connected clients of a consumer group."""
    try:
        with probe.pace.reserve_requests(1):
            targets = probe.admin.groups.list_targets(None)
    except RocketMQError as error:
        yield GroupPolled(probe.clock(), group, error=error_text(error))
        return
    yield _poll_group(probe, group, [target.broker_addr or "" for target in targets], must_check=True)


def _poll_group(
    probe: ServerProbe, group: str, broker_addrs: Sequence[str], *, must_check: bool = False
) -> GroupPolled:
    """Poll one group on these brokers. `must_check`: no broker may know the group."""
    consumers = probe.admin.consumers
    results: list[ServerResult[ConsumeStats]] = []
    clients: dict[str, ConnectedClient] = {}
    connection_errors: dict[str, RocketMQError | None] = {}
    consume_type = message_model = None
    # Small turns: brokers and name servers are polled between them.
    turn_size = max(1, min(probe.pace.per_second // _TURNS_PER_SECOND, _MAX_TURN_SIZE))
    for turn_addrs in split_batches(broker_addrs, turn_size):
        with probe.pace.reserve_requests(len(turn_addrs)):
            results += consumers.get_progress_at(group, turn_addrs)
        with probe.pace.reserve_requests(len(turn_addrs)):
            found = consumers.get_group_connections([group], turn_addrs)[group]
        clients |= {client.client_id: client for client in found.clients}
        connection_errors |= found.errors
        consume_type = consume_type or found.consume_type
        message_model = message_model or found.message_model
    members = tuple(clients.values())
    direct = GroupConnections(members, consume_type, message_model, None, (), (), connection_errors)
    connections = _add_proxied_clients(probe, group, direct)
    tables = [result.result for result in results if result.result is not None]
    try:
        if must_check and not any(r.result is None or r.result.queues for r in results):
            probe.admin.groups.check_exists(group, None)
        if not tables:
            errors = (result.error for result in results if result.error is not None)
            raise next(errors, RocketMQError("no master is registered"))
    except RocketMQError as error:
        return GroupPolled(probe.clock(), group, error=error_text(error))
    unreported = {**connections.errors, **connections.proxy_errors}
    return GroupPolled(
        probe.clock(),
        group,
        sum(table.consume_tps for table in tables),
        _list_queue_lags(tables),
        [make_connection(client, ", ".join(client.proxy_addrs)) for client in connections.clients],
        connections.consume_type,
        connections.message_model,
        unreported={addr: error_text(error) for addr, error in unreported.items() if error is not None},
    )


def _add_proxied_clients(probe: ServerProbe, group: str, connections: GroupConnections) -> GroupConnections:
    """Add the clients behind proxies. The heartbeats of all groups are read once for several polls."""
    proxies, carried = probe.admin.proxies, probe.carried_state
    if monotonic() >= carried.get("heartbeats again", 0.0):
        with probe.pace.reserve_requests(1):
            carried["heartbeats"] = proxies.get_heartbeats()
        carried["heartbeats again"] = monotonic() + _HEARTBEATS_SECONDS
    return proxies.add_clients({group: connections}, heartbeats=carried["heartbeats"])[group]


def _list_queue_lags(tables: Sequence["ConsumeStats"]) -> list[QueueLag]:
    return [
        QueueLag(
            progress.queue.topic,
            progress.queue.broker_name,
            progress.queue.queue_id,
            progress.broker_offset,
            progress.consumer_offset,
            progress.inflight_count,
            progress.last_consumed_ms,
            progress.is_broadcasting,
        )
        for table in tables
        for progress in table.queues
    ]


def make_connection(client: "ConnectedClient | ProducerClient", proxies: str = "") -> ClientConnection:
    return ClientConnection(
        client.client_id,
        client.client_addr or "",
        client.language or "",
        client.version or "",
        client.protocol or "",
        proxies,
    )
