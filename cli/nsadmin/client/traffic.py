"""Message counts of topics and groups, summed over the masters of each topic."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import RequestError, RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import MASTER_ID, RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.queues import queue_table
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import Decode, decoded
from nsadmin.client.routes import TopicRoute
from nsadmin.client.usage import usage

T = TypeVar("T")
_AT_ONCE = 1000


class Count(NamedTuple):
    """A message count.

    Attributes:
        messages_per_second: The mean of the last minute.
        message_count: The messages of the last 24 hours.
    """

    tps: float
    messages: int


class Traffic(NamedTuple):
    """The message counts of a topic and one of its groups.

    A number is the sum of the masters that answered; None if no master answered.

    Attributes:
        topic: The topic.
        consumer_group: The group; None for a topic without groups.
        accumulation: The unconsumed messages of the group.
        in_count: The messages that the topic received.
        out_count: The messages that the group received.
        error: The reason why a sum is incomplete; None otherwise.
    """

    topic: str
    consumer_group: str | None
    accumulation: int | None
    in_count: Count | None
    out_count: Count | None
    error: RocketMQError | None


class _Place(NamedTuple):
    topic: str
    masters: tuple[str, ...]
    groups: tuple[str, ...]
    error: RocketMQError | None


def traffic(caller: Caller, routes: Mapping[str, ServerResult[TopicRoute]]) -> list[Traffic]:
    """Read the message counts of topics and their groups from all masters.

    Sends QUERY_TOPIC_CONSUME_BY_WHO (300), VIEW_BROKER_STATS_DATA (315) and GET_CONSUME_STATS (208).

    Args:
        caller: The connections.
        routes_by_topic: Topic to the result of reading its route.

    Returns:
        One TopicTraffic per topic and group, in order. Topics without a route are left out.
    """
    places = _places(caller, routes)
    came = _asked(caller, [(place, _count(place.topic)) for place in places], _read_count)
    pairs = [(place, group) for place in places for group in place.groups]
    went = _asked(caller, [(place, _count(place.topic, group)) for place, group in pairs], _read_count)
    left = _asked(caller, [(place, _lag(place.topic, group)) for place, group in pairs], _read_lag)
    rows = [
        Traffic(place.topic, None, None, _sum(found), None, _error(place, found))
        for place, found in zip(places, came, strict=True)
        if not place.groups
    ]
    came_in = dict(zip((place.topic for place in places), came, strict=True))
    for (place, group), out, lags in zip(pairs, went, left, strict=True):
        found = came_in[place.topic]
        behind = [lag.result for lag in lags if lag.result is not None]
        rows.append(
            Traffic(
                place.topic,
                group,
                max(sum(behind), 0) if behind else None,
                _sum(found),
                _sum(out),
                _error(place, found, out, lags),
            )
        )
    return sorted(rows, key=lambda row: (row.topic, row.consumer_group or ""))


def put_rates(caller: Caller, topic: str, masters: Iterable[str]) -> list[ServerResult[float]]:
    """Read the messages per second (last minute) that masters receive for a topic (315).

    Returns:
        One ServerResult per address, in order.
    """
    return [count.then(lambda found: found.tps) for count in put_counts(caller, topic, masters)]


def put_counts(caller: Caller, topic: str, masters: Iterable[str]) -> list[ServerResult[Count]]:
    """Read the message counts of a topic on masters (VIEW_BROKER_STATS_DATA, 315).

    Returns:
        One ServerResult per address, in order; zeros for a master that never received a message.
    """
    code, ext = _count(topic)
    return [decoded(idle(answer), _read_count) for answer in caller.ask_each(masters, code, ext)]


def _places(caller: Caller, routes: Mapping[str, ServerResult[TopicRoute]]) -> list[_Place]:
    groups: dict[str, set[str]] = {}
    errors: dict[str, RocketMQError] = {}
    for found in usage(caller, routes):
        groups.setdefault(found.topic, set()).update(found.consumer_groups or ())
        if found.error is not None:
            errors.setdefault(found.topic, found.error)
    places: list[_Place] = []
    for topic, names in groups.items():
        route = routes[topic].result
        queues = route.queues if route is not None else ()
        for queue in queues:
            if MASTER_ID not in queue.broker_addrs:
                errors.setdefault(topic, NotFound(f"{queue.broker_name} has no master now"))
        masters = (queue.broker_addrs.get(MASTER_ID) for queue in queues)
        places.append(_Place(topic, tuple(filter(None, masters)), tuple(sorted(names)), errors.get(topic)))
    return places


def _asked(
    caller: Caller, asked: Sequence[tuple[_Place, tuple[RequestCode, dict[str, str]]]], decode: Decode[T]
) -> list[list[ServerResult[T]]]:
    """Send each request to the masters of its place; return the results per request."""
    calls = [(addr, code, ext) for place, (code, ext) in asked for addr in place.masters]
    results: list[ServerResult[T]] = []
    for at in range(0, len(calls), _AT_ONCE):
        some = [(addr, request(code, ext)) for addr, code, ext in calls[at : at + _AT_ONCE]]
        results += [decoded(idle(answer), decode) for answer in caller.ask(some)]
    ready = iter(results)
    return [[next(ready) for _ in place.masters] for place, _ in asked]


def idle(answer: ServerResult[Command]) -> ServerResult[Command]:
    """Turn the refusal of a broker that never counted anything into an empty answer."""
    error = answer.error
    if isinstance(error, RequestError) and error.code == 1 and "not exist" in (error.remark or ""):
        return ServerResult(answer.addr, Command(0), None)
    return answer


def _count(topic: str, group: str | None = None) -> tuple[RequestCode, dict[str, str]]:
    name, key = ("TOPIC_PUT_NUMS", topic) if group is None else ("GROUP_GET_NUMS", f"{topic}@{group}")
    return RequestCode.VIEW_BROKER_STATS_DATA, headers.write(broker_headers.ViewBrokerStats(name, key))


def _lag(topic: str, group: str) -> tuple[RequestCode, dict[str, str]]:
    return RequestCode.GET_CONSUME_STATS, {"consumerGroup": group, "topic": topic}


def _read_count(command: Command) -> Count:
    body = json_object(command)
    minute, hour, day = (body.get(f"stats{unit}") or {} for unit in ("Minute", "Hour", "Day"))
    # The hour and the day are empty until their first sample, which takes ten minutes and one hour.
    sums = (int(span.get("sum") or 0) for span in (day, hour, minute))
    return Count(float(minute.get("tps") or 0), next(filter(None, sums), 0))


def _read_lag(command: Command) -> int:
    table = queue_table(json_object(command).get("offsetTable"))
    return sum(int(item["brokerOffset"]) - int(item["consumerOffset"]) for item in table.values())


def _sum(counts: Sequence[ServerResult[Count]]) -> Count | None:
    known = [count.result for count in counts if count.result is not None]
    if not known:
        return None
    return Count(sum(count.tps for count in known), sum(count.messages for count in known))


def _error(place: _Place, *results: Iterable[ServerResult[Any]]) -> RocketMQError | None:
    errors = (result.error for some in results for result in some if result.error is not None)
    return next(errors, place.error)
