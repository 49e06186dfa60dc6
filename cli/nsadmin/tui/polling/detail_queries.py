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
    probe: ServerProbe, detail_queries: Sequence[DetailQuery], addrs: Sequence[str], pace: RequestPace
) -> Iterator[AnyPoll]:
    """Run the queries one after the other. The caller may stop between two polls."""
    for detail_query in detail_queries:
        yield from _QUERY_FUNCTIONS[detail_query.query_kind](probe, detail_query.object_name, addrs, pace)


def _query_topic(
    probe: ServerProbe, topic: str, addrs: Sequence[str], pace: RequestPace
) -> Iterator[AnyPoll]:
    """Query the routes, the put rates and the consumer groups of a topic."""
    masters, poll = _read_routes(probe, topic, addrs, pace)
    yield _add_rates(probe, poll, masters, pace, with_groups=True)


def _query_topic_row(
    probe: ServerProbe, topic: str, addrs: Sequence[str], pace: RequestPace
) -> Iterator[AnyPoll]:
    """Query the routes and the put rates of a topic, for its row in the list of topics."""
    masters, poll = _read_routes(probe, topic, addrs, pace)
    if len(masters) <= _MAX_RATED_MASTERS:
        poll = _add_rates(probe, poll, masters, pace, with_groups=False)
    yield poll


def _read_routes(
    probe: ServerProbe, topic: str, addrs: Sequence[str], pace: RequestPace
) -> tuple[dict[str, str], TopicPolled]:
    """The address of each broker's master, and the routes of all name servers that answer."""
    from nsadmin.client.name_servers.name_server_tables import parse_topic_queues

    route_by_server: dict[str, dict[str, QueueCounts] | None] = {}
    error_by_server = dict(probe.list_silent())
    masters: dict[str, str] = {}
    for addr in addrs:
        # Sixty topics would wait for the timeout of a frozen name server sixty times.
        if addr in error_by_server:
            continue
        with pace.reserve_requests(1):
            [result] = probe.admin.name_server_tables.get_route_bodies(addr, [topic])
        if result.result is None:
            if is_not_found(result.error):
                route_by_server[addr] = None
            else:
                error_by_server[addr] = error_text(result.error or RocketMQError("no answer"))
            continue
        try:
            queue_by_broker = parse_topic_queues(result.result).queues
            masters = {**_find_masters(result.result), **masters}
        except ValueError as error:
            error_by_server[addr] = f"malformed answer ({error})"
            continue
        route_by_server[addr] = {
            broker_name: QueueCounts(queues.read_queue_nums, queues.write_queue_nums, queues.perm)
            for broker_name, queues in queue_by_broker.items()
        }
    return masters, TopicPolled(probe.clock(), topic, route_by_server, error_by_server)


def _find_masters(body: bytes) -> dict[str, str]:
    """The masters in a TopicRouteData, without its queues: a static topic may claim two billion of them."""
    brokers = parse_json_object(RemotingCommand(0, body=body)).children("brokerDatas")
    addrs_by_broker = {
        broker.text("brokerName"): parse_broker_addrs(broker.child("brokerAddrs")) for broker in brokers
    }
    return {
        name: addrs[MASTER_BROKER_ID] for name, addrs in addrs_by_broker.items() if MASTER_BROKER_ID in addrs
    }


def _add_rates(
    probe: ServerProbe, poll: TopicPolled, masters: dict[str, str], pace: RequestPace, *, with_groups: bool
) -> TopicPolled:
    import msgspec

    if not masters:
        return msgspec.structs.replace(poll, put_tps={})
    with pace.reserve_requests(len(masters)):
        rate_results = probe.admin.topics.get_put_rates(poll.topic, masters.values())
    rate_by_broker = {
        broker_name: result.result
        for (broker_name, _), result in zip(masters.items(), rate_results, strict=True)
        if result.result is not None
    }
    reader_groups = None
    if with_groups:
        with pace.reserve_requests(len(masters)):
            usage_rows = probe.admin.topics.list_usage((poll.topic,))
        reader_groups = sorted(
            {group for usage_row in usage_rows for group in usage_row.consumer_groups or ()}
        )
    return msgspec.structs.replace(poll, put_tps=rate_by_broker, groups=reader_groups)


def _query_config(
    probe: ServerProbe, broker_addr: str, addrs: Sequence[str], pace: RequestPace
) -> Iterator[AnyPoll]:
    with pace.reserve_requests(1):
        [result] = probe.admin.broker_configs.get_each([broker_addr])
    line = None if result.error is None else error_text(result.error)
    visible_config = None if result.result is None else hide_secrets(result.result)
    yield ConfigPolled(probe.clock(), broker_addr, visible_config, line)


def _query_connections(
    probe: ServerProbe, broker_addr: str, addrs: Sequence[str], pace: RequestPace
) -> Iterator[AnyPoll]:
    with pace.reserve_requests(1):
        [result] = probe.admin.producers.list_all_producers(broker_addr)
    if result.result is None:
        yield ConnectionsPolled(
            probe.clock(), broker_addr, None, error_text(result.error or RocketMQError("?"))
        )
        return
    producers: dict[str, list[ClientConnection]] = {}
    for client in result.result:
        member = ClientConnection(
            client.client_id,
            client.client_addr or "",
            client.language or "",
            client.version or "",
            client.protocol or "",
        )
        producers.setdefault(client.producer_group, []).append(member)
    yield ConnectionsPolled(probe.clock(), broker_addr, producers)


def _query_broker_topics(
    probe: ServerProbe, broker_addr: str, addrs: Sequence[str], pace: RequestPace
) -> Iterator[AnyPoll]:
    with pace.reserve_requests(1):
        [result] = probe.admin.topic_configs.list_broker_topics([broker_addr])
    if result.result is None:
        yield BrokerTopicsPolled(
            probe.clock(), broker_addr, None, error_text(result.error or RocketMQError("no answer"))
        )
        return
    queues = {
        topic.topic_name: QueueCounts(topic.read_queue_nums, topic.write_queue_nums, topic.perm)
        for topic in result.result
    }
    yield BrokerTopicsPolled(probe.clock(), broker_addr, queues)


def _query_divergence(
    probe: ServerProbe, _: str, addrs: Sequence[str], pace: RequestPace
) -> Iterator[AnyPoll]:
    """Compare the name servers as the command `divergence` does: it reads every route of each of them."""
    from nsadmin.operations.divergence.findings import describe_difference, map_by_server
    from nsadmin.operations.divergence.observer import DivergenceObserver

    carried_state = probe.carried_state
    if "divergence" not in carried_state:
        carried_state["divergence"] = DivergenceObserver(
            probe.admin, probe.clock, namespaces=probe.namespaces
        )
    observer: DivergenceObserver = carried_state["divergence"]
    if monotonic() < carried_state.get("divergence again", 0.0):
        return
    began = monotonic()
    try:
        divergence_look = observer.observe_once()
    except RocketMQError as error:
        yield DivergencePolled(probe.clock(), error=error_text(error))
        return
    # After a long comparison, wait longer before the next one: it is work for the name servers, too.
    carried_state["divergence again"] = monotonic() + _REST_FACTOR * (monotonic() - began)
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
                addr: _format_value(value)
                for addr, value in map_by_server(finding.differences[0], servers).items()
            },
        )
        for finding in divergence_look.findings
    ]
    yield DivergencePolled(probe.clock(), str(divergence_look.verdict), findings)


def _format_value(server_value: object) -> str:
    """The value of one name server as a short text."""
    if server_value is None:
        return "nothing"
    if isinstance(server_value, dict):
        return " ".join(f"{key}={value}" for key, value in server_value.items())
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
