"""The detail queries of a view, which run in addition to the polls of all servers."""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple

from msgspec import structs

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.response_bodies import parse_broker_addrs, parse_json_object
from nsadmin.client.results import error_text, is_not_found
from nsadmin.tui.polling.group_queries import make_connection, query_group, query_groups
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
from nsadmin.tui.polling.server_polls import ServerProbe, describe_error, hide_secrets

_REST_FACTOR = 10
_MAX_RATED_MASTERS = 12
"""The list of topics asks for rates only up to this number of masters. The view of one topic always asks."""


class DetailQuery(NamedTuple):
    """`query_kind` is a key of `_QUERY_FUNCTIONS`. `object_name` is a topic, a group or an address, or ""."""

    query_kind: str
    object_name: str = ""


def run_queries(probe: ServerProbe, queries: Sequence[DetailQuery]) -> Iterator[AnyPoll]:
    """Run the queries one after the other. The caller may stop between two polls."""
    for query in queries:
        yield from _QUERY_FUNCTIONS[query.query_kind](probe, query.object_name)


def _query_topic(probe: ServerProbe, topic: str) -> Iterator[AnyPoll]:
    """Query the routes, the put rates and the consumer groups of a topic."""
    masters, poll = _read_routes(probe, topic)
    yield _add_rates(probe, poll, masters, with_groups=True)


def _query_topic_row(probe: ServerProbe, topic: str) -> Iterator[AnyPoll]:
    """Query the routes and the put rates of a topic, for its row in the list of topics."""
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
    """The value of one name server as a short text."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return " ".join(f"{key}={text}" for key, text in value.items())
    return str(value)


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
