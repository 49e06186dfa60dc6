"""The detail queries of a view, which run in addition to the polls of all servers."""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import error_text, is_not_found, is_unreachable
from nsadmin.operations.collector.pace import Pace
from nsadmin.tui.looking import Looker, hidden
from nsadmin.tui.polls import (
    AnyPoll,
    BrokerTopicsPolled,
    ConfigPolled,
    ConnectionsPolled,
    DivergencePolled,
    Found,
    GroupPolled,
    GroupsPolled,
    Lag,
    Member,
    Queues,
    TopicPolled,
)

if TYPE_CHECKING:
    from nsadmin.client.connections import Client
    from nsadmin.client.routes import TopicRoute

_RESTS = 10
_MOST_MASTERS = 12
"""The list of topics asks for rates only up to this number of masters. The view of one topic always asks."""


class Question(NamedTuple):
    """`query_kind` is a key of `_QUERY_FUNCTIONS`. `object_name` is a topic, a group or an address, or ""."""

    kind: str
    name: str = ""


def answers(
    looker: Looker, questions: Sequence[Question], addrs: Sequence[str], pace: Pace
) -> Iterator[AnyPoll]:
    """Run the queries one after the other. The caller may stop between two polls."""
    for question in questions:
        yield from _ASK[question.kind](looker, question.name, addrs, pace)


def _topic(looker: Looker, topic: str, addrs: Sequence[str], pace: Pace) -> Iterator[AnyPoll]:
    """Query the routes, the put rates and the consumer groups of a topic."""
    route, poll = _routes(looker, topic, addrs, pace)
    masters = _masters(route)
    yield _measured(looker, poll, masters, pace, with_groups=True)


def _topic_row(looker: Looker, topic: str, addrs: Sequence[str], pace: Pace) -> Iterator[AnyPoll]:
    """Query the routes and the put rates of a topic, for its row in the list of topics."""
    route, poll = _routes(looker, topic, addrs, pace)
    masters = _masters(route)
    few = masters if len(masters) <= _MOST_MASTERS else {}
    yield _measured(looker, poll, few, pace, with_groups=False)


def _routes(
    looker: Looker, topic: str, addrs: Sequence[str], pace: Pace
) -> "tuple[TopicRoute | None, TopicPolled]":
    from nsadmin.client.tables import queues_of

    routes: dict[str, dict[str, Queues] | None] = {}
    errors: dict[str, str] = {}
    for addr in addrs:
        with pace.turn(1):
            [found] = looker.admin.tables.route_bodies(addr, [topic])
        if found.result is None:
            if is_not_found(found.error):
                routes[addr] = None
            else:
                errors[addr] = error_text(found.error or RocketMQError("no answer"))
            continue
        try:
            queues = queues_of(found.result).queues
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            errors[addr] = f"its answer cannot be read ({error})"
            continue
        routes[addr] = {
            name: Queues(queue.read_queue_nums, queue.write_queue_nums, queue.perm)
            for name, queue in queues.items()
        }
    route = None
    if any(routes.values()):
        try:
            route = looker.admin.topics.route(topic)
        except RocketMQError:
            # The topic has just been deleted. The next poll shows it.
            route = None
    return route, TopicPolled(looker.clock(), topic, routes, errors)


def _masters(route: "TopicRoute | None") -> dict[str, str]:
    queues = route.queues if route is not None else ()
    return {queue.broker_name: queue.broker_addrs[0] for queue in queues if 0 in queue.broker_addrs}


def _measured(
    looker: Looker, poll: TopicPolled, masters: dict[str, str], pace: Pace, *, with_groups: bool
) -> TopicPolled:
    import msgspec

    if not masters:
        return poll
    with pace.turn(len(masters)):
        found = looker.admin.topics.put_rates(poll.topic, masters.values())
    rates = {
        name: result.result
        for (name, _), result in zip(masters.items(), found, strict=True)
        if result.result is not None
    }
    groups = None
    if with_groups:
        with pace.turn(len(masters)):
            rows = looker.admin.topics.usage((poll.topic,))
        groups = sorted({group for row in rows for group in row.consumer_groups or ()})
    return msgspec.structs.replace(poll, put_tps=rates, groups=groups)


def _groups(looker: Looker, _: str, addrs: Sequence[str], pace: Pace) -> Iterator[AnyPoll]:
    """Query the names of all consumer groups, then each group in turn."""
    try:
        tables = looker.admin.groups.names()
    except RocketMQError as error:
        yield GroupsPolled(looker.clock(), (), {"": error_text(error)})
        return
    names = sorted({name for table in tables for name in table.result or ()})
    errors = {table.addr: error_text(table.error) for table in tables if table.error is not None}
    yield GroupsPolled(looker.clock(), names, errors)
    for name in names:
        yield from _group(looker, name, addrs, pace, len(tables))


def _group(
    looker: Looker, group: str, addrs: Sequence[str], pace: Pace, brokers: int = 8
) -> Iterator[AnyPoll]:
    """Query the lag and the connected clients of a consumer group."""
    try:
        with pace.turn(2 * brokers):
            told = looker.admin.consumers.progress(group)
    except RocketMQError as error:
        yield GroupPolled(looker.clock(), group, error=error_text(error))
        return
    stats = [result.result for result in told if result.result is not None]
    failures = [result.error for result in told if result.error is not None]
    if not stats and failures:
        yield GroupPolled(looker.clock(), group, error=error_text(failures[0]))
        return
    try:
        members, consume_type, model = _members(looker, group)
    except RocketMQError as error:
        yield GroupPolled(looker.clock(), group, error=error_text(error))
        return
    lags = [
        Lag(
            lag.queue.topic,
            lag.queue.broker_name,
            lag.queue.queue_id,
            lag.broker_offset,
            lag.consumer_offset,
            lag.inflight,
            lag.last_timestamp,
        )
        for each in stats
        for lag in each.queues
    ]
    tps = sum(each.consume_tps for each in stats)
    yield GroupPolled(looker.clock(), group, tps, lags, members, consume_type, model)


def _members(looker: Looker, group: str) -> tuple[list[Member], str | None, str | None]:
    try:
        found = looker.admin.consumers.connections(group)
    except RocketMQError as error:
        if is_unreachable(error):
            raise
        # Any other error means that no client of the group is connected.
        return [], None, None
    return list(map(_member, found.clients)), found.consume_type, found.message_model


def _member(client: "Client") -> Member:
    return Member(client.client_id, client.client_addr or "", client.language or "", client.version or "")


def _config(looker: Looker, addr: str, addrs: Sequence[str], pace: Pace) -> Iterator[AnyPoll]:
    with pace.turn(1):
        [found] = looker.admin.broker_configs.each([addr])
    error = None if found.error is None else error_text(found.error)
    config = None if found.result is None else hidden(found.result)
    yield ConfigPolled(looker.clock(), addr, config, error)


def _connections(looker: Looker, addr: str, addrs: Sequence[str], pace: Pace) -> Iterator[AnyPoll]:
    with pace.turn(1):
        [found] = looker.admin.producers.everybody(addr)
    if found.result is None:
        yield ConnectionsPolled(looker.clock(), addr, None, error_text(found.error or RocketMQError("?")))
        return
    producers: dict[str, list[Member]] = {}
    for one in found.result:
        member = Member(one.client_id, one.client_addr or "", one.language or "", one.version or "")
        producers.setdefault(one.producer_group, []).append(member)
    yield ConnectionsPolled(looker.clock(), addr, producers)


def _broker_topics(looker: Looker, addr: str, addrs: Sequence[str], pace: Pace) -> Iterator[AnyPoll]:
    with pace.turn(1):
        [found] = looker.admin.topic_configs.of_brokers([addr])
    if found.result is None:
        yield BrokerTopicsPolled(
            looker.clock(), addr, None, error_text(found.error or RocketMQError("no answer"))
        )
        return
    topics = {
        each.topic_name: Queues(each.read_queue_nums, each.write_queue_nums, each.perm)
        for each in found.result
    }
    yield BrokerTopicsPolled(looker.clock(), addr, topics)


def _divergence(looker: Looker, _: str, addrs: Sequence[str], pace: Pace) -> Iterator[AnyPoll]:
    """Compare the name servers as the command `divergence` does: it reads every route of each of them."""
    from nsadmin.operations.divergence.findings import by_server, in_words
    from nsadmin.operations.divergence.looking import Looking

    kept = looker.kept
    if "divergence" not in kept:
        kept["divergence"] = Looking(looker.admin, looker.clock, namespaces=looker.namespaces)
    looking: Looking = kept["divergence"]
    if monotonic() < kept.get("divergence again", 0.0):
        return
    begun = monotonic()
    try:
        look = looking.look()
    except RocketMQError as error:
        yield DivergencePolled(looker.clock(), error=error_text(error))
        return
    # After a long comparison, wait longer before the next one: it is work for the name servers, too.
    kept["divergence again"] = monotonic() + _RESTS * (monotonic() - begun)
    servers = look.comparison.servers
    found = [
        Found(
            each.what,
            each.names[0],
            each.place,
            len(each.differences),
            str(each.state),
            each.age,
            in_words(each.differences[0], servers),
            each.cause.text,
            each.cause.advice,
            {addr: _brief(value) for addr, value in by_server(each.differences[0], servers).items()},
        )
        for each in look.findings
    ]
    yield DivergencePolled(looker.clock(), str(look.verdict), found)


def _brief(value: object) -> str:
    """The value of one name server as a short text."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    return str(value)


_ASK: dict[str, Callable[..., Iterator[AnyPoll]]] = {
    "topic": _topic,
    "topicRow": _topic_row,
    "groups": _groups,
    "group": _group,
    "config": _config,
    "connections": _connections,
    "brokerTopics": _broker_topics,
    "divergence": _divergence,
}
