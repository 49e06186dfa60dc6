"""The detail queries of a view, which run in addition to the polls of all servers."""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.response_bodies import parse_broker_addrs, parse_json_object
from nsadmin.client.consumers.connected_clients import GroupConnections
from nsadmin.client.results import ServerResult, error_text, is_not_found
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerTopicsPolled,
    ClientConnection,
    ConfigPolled,
    ConnectionsPolled,
    DivergenceFinding,
    DivergencePolled,
    GroupPolled,
    GroupsPolled,
    QueueCounts,
    QueueLag,
    TopicPolled,
)
from nsadmin.tui.polling.server_polls import ServerProbe, describe_error, hide_secrets, split_batches

if TYPE_CHECKING:
    from nsadmin.client.consumers.connected_clients import ConnectedClient, ProducerClient
    from nsadmin.client.consumers.consume_stats import ConsumeStats

_REST_FACTOR = 10
_MAX_RATED_MASTERS = 12
"""The list of topics asks for rates only up to this number of masters. The view of one topic always asks."""

_HEARTBEATS_SECONDS = 10.0
"""How long the heartbeats of proxies are used again. Clients send one every 10 seconds."""
_TURNS_PER_SECOND = 10
"""The queries of a group on all brokers are split into turns of this fraction of the requests per second."""
_MAX_TURN_SIZE = 64
"""More requests at once would delay the polls of the same brokers, so that they look frozen."""


class DetailQuery(NamedTuple):
    """`query_kind` is a key of `_QUERY_FUNCTIONS`. `object_name` is a topic, a group or an address, or ""."""

    query_kind: str
    object_name: str = ""


def run_queries(probe: ServerProbe, queries: Sequence[DetailQuery]) -> Iterator[AnyPoll]:
    """Run the queries one after the other. The caller may stop between two polls."""
    for query in queries:
        yield from _QUERY_FUNCTIONS[query.query_kind](probe, query.object_name)


def _query_topic(probe: ServerProbe, topic: str) -> Iterator[AnyPoll]:
    masters, poll = _read_routes(probe, topic)
    yield _add_rates(probe, poll, masters, with_groups=True)


def _query_topic_row(probe: ServerProbe, topic: str) -> Iterator[AnyPoll]:
    masters, poll = _read_routes(probe, topic)
    is_rated = len(masters) <= _MAX_RATED_MASTERS
    yield _add_rates(probe, poll, masters, with_groups=False) if is_rated else poll


def _read_routes(probe: ServerProbe, topic: str) -> tuple[dict[str, str], TopicPolled]:
    """The address of each broker's master, and the routes of all name servers that answer."""
    from nsadmin.client.name_servers.name_server_tables import parse_topic_queues

    routes: dict[str, dict[str, QueueCounts] | None] = {}
    errors = dict(probe.list_silent())
    masters: dict[str, str] = {}
    for addr in probe.addrs:
        # Sixty topics would wait for the timeout of a frozen name server sixty times.
        if addr in errors:
            continue
        with probe.pace.reserve_requests(1):
            [result] = probe.admin.name_server_tables.get_route_bodies(addr, [topic])
        if result.result is None:
            if is_not_found(result.error):
                routes[addr] = None
            else:
                errors[addr] = describe_error(result)
            continue
        try:
            queues_by_broker = parse_topic_queues(result.result).queues
            masters = {**_find_masters(result.result), **masters}
        except ValueError as error:
            errors[addr] = f"malformed answer ({error})"
            continue
        routes[addr] = {broker: make_queue_counts(queues) for broker, queues in queues_by_broker.items()}
    return masters, TopicPolled(probe.clock(), topic, routes, errors)


def make_queue_counts(queues: Any) -> QueueCounts:
    return QueueCounts(queues.read_queue_nums, queues.write_queue_nums, queues.perm)


def _find_masters(body: bytes) -> dict[str, str]:
    """The masters in a TopicRouteData, without its queues: a static topic may claim two billion of them."""
    brokers = parse_json_object(RemotingCommand(0, body=body)).children("brokerDatas")
    addrs = {broker.text("brokerName"): parse_broker_addrs(broker.child("brokerAddrs")) for broker in brokers}
    return {name: by_id[MASTER_BROKER_ID] for name, by_id in addrs.items() if MASTER_BROKER_ID in by_id}


def _add_rates(
    probe: ServerProbe, poll: TopicPolled, masters: dict[str, str], *, with_groups: bool
) -> TopicPolled:
    if not masters:
        return structs.replace(poll, put_tps={})
    with probe.pace.reserve_requests(len(masters)):
        results = probe.admin.topics.get_put_rates(poll.topic, masters.values())
    answers = zip(masters, results, strict=True)
    rates = {broker: answer.result for broker, answer in answers if answer.result is not None}
    groups = None
    if with_groups:
        with probe.pace.reserve_requests(len(masters)):
            usages = probe.admin.topics.list_usage((poll.topic,))
        groups = sorted({group for usage in usages for group in usage.consumer_groups or ()})
    return structs.replace(poll, put_tps=rates, groups=groups)


def _query_config(probe: ServerProbe, addr: str) -> Iterator[AnyPoll]:
    with probe.pace.reserve_requests(1):
        [result] = probe.admin.broker_configs.get_each([addr])
    error = None if result.error is None else error_text(result.error)
    config = None if result.result is None else hide_secrets(result.result)
    yield ConfigPolled(probe.clock(), addr, config, error)


def _query_connections(probe: ServerProbe, addr: str) -> Iterator[AnyPoll]:
    with probe.pace.reserve_requests(1):
        [result] = probe.admin.producers.list_all_producers(addr)
    if result.result is None:
        yield ConnectionsPolled(probe.clock(), addr, None, describe_error(result))
        return
    producers: dict[str, list[ClientConnection]] = {}
    for client in result.result:
        producers.setdefault(client.producer_group, []).append(make_connection(client))
    yield ConnectionsPolled(probe.clock(), addr, producers)


def _query_broker_topics(probe: ServerProbe, addr: str) -> Iterator[AnyPoll]:
    with probe.pace.reserve_requests(1):
        [result] = probe.admin.topic_configs.list_broker_topics([addr])
    if result.result is None:
        yield BrokerTopicsPolled(probe.clock(), addr, None, describe_error(result))
        return
    queues_by_topic = {topic.topic_name: make_queue_counts(topic) for topic in result.result}
    yield BrokerTopicsPolled(probe.clock(), addr, queues_by_topic)


def _query_divergence(probe: ServerProbe, _: str) -> Iterator[AnyPoll]:
    """Compare the name servers as the command `divergence` does: it reads every route of each of them."""
    from nsadmin.operations.divergence.observer import DivergenceObserver
    from nsadmin.operations.divergence.verdict import describe_difference, map_by_server

    carried = probe.carried_state
    if "divergence" not in carried:
        carried["divergence"] = DivergenceObserver(probe.admin, probe.clock, namespaces=probe.namespaces)
    observer: DivergenceObserver = carried["divergence"]
    if monotonic() < carried.get("divergence again", 0.0):
        return
    began = monotonic()
    try:
        look = observer.observe_once()
    except RocketMQError as error:
        yield DivergencePolled(probe.clock(), error=error_text(error))
        return
    # After a long comparison, wait longer before the next one: it is work for the name servers, too.
    carried["divergence again"] = monotonic() + _REST_FACTOR * (monotonic() - began)
    servers = look.comparison.server_addrs
    findings = [
        DivergenceFinding(
            finding.section_name,
            finding.item_names[0],
            finding.parent_name,
            len(finding.differences),
            str(finding.state),
            finding.age_ms,
            describe_difference(finding.differences[0], servers),
            finding.cause.text,
            finding.cause.advice,
            {addr: _format_value(v) for addr, v in map_by_server(finding.differences[0], servers).items()},
        )
        for finding in look.findings
    ]
    yield DivergencePolled(probe.clock(), str(look.verdict), findings)


def _format_value(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return " ".join(f"{key}={text}" for key, text in value.items())
    return str(value)


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


_QUERY_FUNCTIONS: dict[str, Callable[..., Iterator[AnyPoll]]] = {
    "topic": _query_topic,
    "topicRow": _query_topic_row,
    "groups": query_groups,
    "group": query_group,
    "config": _query_config,
    "connections": _query_connections,
    "brokerTopics": _query_broker_topics,
    "divergence": _query_divergence,
}
