"""The detail queries of a view, which run in addition to the polls of all servers."""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.response_bodies import parse_broker_addrs, parse_json_object
from nsadmin.client.results import error_text, is_not_found
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling.group_queries import query_group, query_groups
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerTopicsPolled,
    ClientConnection,
    ConfigPolled,
    ConnectionsPolled,
    DivergenceFinding,
    DivergencePolled,
    QueueCounts,
    TopicPolled,
)
from nsadmin.tui.polling.server_polls import ServerProbe, hide_secrets

_REST_FACTOR = 10
_MAX_RATED_MASTERS = 12
"""The list of topics asks for rates only up to this number of masters. The view of one topic always asks."""


class DetailQuery(NamedTuple):
    """`query_kind` is a key of `_QUERY_FUNCTIONS`. `object_name` is a topic, a group or an address, or ""."""

    query_kind: str
    object_name: str = ""


def run_queries(
    server_probe: ServerProbe,
    detail_queries: Sequence[DetailQuery],
    namesrv_addrs: Sequence[str],
    request_pace: RequestPace,
) -> Iterator[AnyPoll]:
    """Run the queries one after the other. The caller may stop between two polls."""
    for detail_query in detail_queries:
        yield from _QUERY_FUNCTIONS[detail_query.query_kind](
            server_probe, detail_query.object_name, namesrv_addrs, request_pace
        )


def _query_topic(
    server_probe: ServerProbe, topic: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    """Query the routes, the put rates and the consumer groups of a topic."""
    master_addrs, poll = _read_routes(server_probe, topic, namesrv_addrs, request_pace)
    yield _add_rates(server_probe, poll, master_addrs, request_pace, with_groups=True)


def _query_topic_row(
    server_probe: ServerProbe, topic: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    """Query the routes and the put rates of a topic, for its row in the list of topics."""
    master_addrs, poll = _read_routes(server_probe, topic, namesrv_addrs, request_pace)
    if len(master_addrs) <= _MAX_RATED_MASTERS:
        poll = _add_rates(server_probe, poll, master_addrs, request_pace, with_groups=False)
    yield poll


def _read_routes(
    server_probe: ServerProbe, topic: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> tuple[dict[str, str], TopicPolled]:
    """The address of each broker's master, and the routes of all name servers that answer."""
    from nsadmin.client.name_servers.name_server_tables import parse_topic_queues

    route_by_server: dict[str, dict[str, QueueCounts] | None] = {}
    error_by_server = dict(server_probe.list_silent())
    master_addrs: dict[str, str] = {}
    for namesrv_addr in namesrv_addrs:
        # Sixty topics would wait for the timeout of a frozen name server sixty times.
        if namesrv_addr in error_by_server:
            continue
        with request_pace.reserve_requests(1):
            [route_result] = server_probe.admin.name_server_tables.get_route_bodies(namesrv_addr, [topic])
        if route_result.result is None:
            if is_not_found(route_result.error):
                route_by_server[namesrv_addr] = None
            else:
                error_by_server[namesrv_addr] = error_text(route_result.error or RocketMQError("no answer"))
            continue
        try:
            queue_by_broker = parse_topic_queues(route_result.result).queues
            master_addrs = {**_find_masters(route_result.result), **master_addrs}
        except ValueError as error:
            error_by_server[namesrv_addr] = f"malformed answer ({error})"
            continue
        route_by_server[namesrv_addr] = {
            broker_name: QueueCounts(queue_data.read_queue_nums, queue_data.write_queue_nums, queue_data.perm)
            for broker_name, queue_data in queue_by_broker.items()
        }
    return master_addrs, TopicPolled(server_probe.clock(), topic, route_by_server, error_by_server)


def _find_masters(route_body: bytes) -> dict[str, str]:
    """The masters in a TopicRouteData, without its queues: a static topic may claim two billion of them."""
    brokers = parse_json_object(RemotingCommand(0, body=route_body)).children("brokerDatas")
    addrs_by_broker = {
        broker.text("brokerName"): parse_broker_addrs(broker.child("brokerAddrs")) for broker in brokers
    }
    return {
        name: addrs[MASTER_BROKER_ID] for name, addrs in addrs_by_broker.items() if MASTER_BROKER_ID in addrs
    }


def _add_rates(
    server_probe: ServerProbe,
    poll: TopicPolled,
    master_addrs: dict[str, str],
    request_pace: RequestPace,
    *,
    with_groups: bool,
) -> TopicPolled:
    import msgspec

    if not master_addrs:
        return msgspec.structs.replace(poll, put_tps={})
    with request_pace.reserve_requests(len(master_addrs)):
        rate_results = server_probe.admin.topics.get_put_rates(poll.topic, master_addrs.values())
    rate_by_broker = {
        broker_name: result.result
        for (broker_name, _), result in zip(master_addrs.items(), rate_results, strict=True)
        if result.result is not None
    }
    reader_groups = None
    if with_groups:
        with request_pace.reserve_requests(len(master_addrs)):
            usage_rows = server_probe.admin.topics.list_usage((poll.topic,))
        reader_groups = sorted(
            {group for usage_row in usage_rows for group in usage_row.consumer_groups or ()}
        )
    return msgspec.structs.replace(poll, put_tps=rate_by_broker, groups=reader_groups)


def _query_config(
    server_probe: ServerProbe, broker_addr: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    with request_pace.reserve_requests(1):
        [config_result] = server_probe.admin.broker_configs.get_each([broker_addr])
    error_line = None if config_result.error is None else error_text(config_result.error)
    visible_config = None if config_result.result is None else hide_secrets(config_result.result)
    yield ConfigPolled(server_probe.clock(), broker_addr, visible_config, error_line)


def _query_connections(
    server_probe: ServerProbe, broker_addr: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    with request_pace.reserve_requests(1):
        [producer_result] = server_probe.admin.producers.list_all_producers(broker_addr)
    if producer_result.result is None:
        yield ConnectionsPolled(
            server_probe.clock(), broker_addr, None, error_text(producer_result.error or RocketMQError("?"))
        )
        return
    producers_by_group: dict[str, list[ClientConnection]] = {}
    for producer_client in producer_result.result:
        member = ClientConnection(
            producer_client.client_id,
            producer_client.client_addr or "",
            producer_client.language or "",
            producer_client.version or "",
            producer_client.protocol or "",
        )
        producers_by_group.setdefault(producer_client.producer_group, []).append(member)
    yield ConnectionsPolled(server_probe.clock(), broker_addr, producers_by_group)


def _query_broker_topics(
    server_probe: ServerProbe, broker_addr: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    with request_pace.reserve_requests(1):
        [topics_result] = server_probe.admin.topic_configs.list_broker_topics([broker_addr])
    if topics_result.result is None:
        yield BrokerTopicsPolled(
            server_probe.clock(),
            broker_addr,
            None,
            error_text(topics_result.error or RocketMQError("no answer")),
        )
        return
    queues_by_topic = {
        topic_config.topic_name: QueueCounts(
            topic_config.read_queue_nums, topic_config.write_queue_nums, topic_config.perm
        )
        for topic_config in topics_result.result
    }
    yield BrokerTopicsPolled(server_probe.clock(), broker_addr, queues_by_topic)


def _query_divergence(
    server_probe: ServerProbe, _: str, namesrv_addrs: Sequence[str], request_pace: RequestPace
) -> Iterator[AnyPoll]:
    """Compare the name servers as the command `divergence` does: it reads every route of each of them."""
    from nsadmin.operations.divergence.findings import describe_difference, map_by_server
    from nsadmin.operations.divergence.observer import DivergenceObserver

    carried_state = server_probe.carried_state
    if "divergence" not in carried_state:
        carried_state["divergence"] = DivergenceObserver(
            server_probe.admin, server_probe.clock, namespaces=server_probe.namespaces
        )
    divergence_observer: DivergenceObserver = carried_state["divergence"]
    if monotonic() < carried_state.get("divergence again", 0.0):
        return
    begun_seconds = monotonic()
    try:
        divergence_look = divergence_observer.observe_once()
    except RocketMQError as error:
        yield DivergencePolled(server_probe.clock(), error=error_text(error))
        return
    # After a long comparison, wait longer before the next one: it is work for the name servers, too.
    carried_state["divergence again"] = monotonic() + _REST_FACTOR * (monotonic() - begun_seconds)
    servers = divergence_look.comparison.server_addrs
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
            {
                namesrv_addr: _format_value(value)
                for namesrv_addr, value in map_by_server(finding.differences[0], servers).items()
            },
        )
        for finding in divergence_look.findings
    ]
    yield DivergencePolled(server_probe.clock(), str(divergence_look.verdict), findings)


def _format_value(server_value: object) -> str:
    """The value of one name server as a short text."""
    if server_value is None:
        return "nothing"
    if isinstance(server_value, dict):
        return " ".join(f"{entry_key}={entry_value}" for entry_key, entry_value in server_value.items())
    return str(server_value)


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
