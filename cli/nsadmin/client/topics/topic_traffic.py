"""Message counts of topics and groups, summed over the masters of each topic."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import RequestError, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import Header, make_request
from nsadmin.client.connection.response_bodies import ResponseDecoder, decode_answer, parse_json_object
from nsadmin.client.consumers.consume_stats import complete_stats, parse_group_stats
from nsadmin.client.consumers.lag import sum_lags
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topic_routes import QueueRoute, TopicRoute
from nsadmin.client.topics.topic_usage import read_usage

T = TypeVar("T")
_REQUESTS_AT_ONCE = 1000


class MessageCount(NamedTuple):
    """A message count.

    Attributes:
        messages_per_second: The mean of the last minute.
        message_count: The messages of the last 24 hours.
    """

    messages_per_second: float
    message_count: int


class TopicTraffic(NamedTuple):
    """The message counts of a topic and one of its groups.

    A number is the sum of the masters that answered; None if no master answered.

    Attributes:
        topic: The topic.
        group: The group; None for a topic without groups.
        lag: The unconsumed messages of the group on the queues whose lag is known.
        in_count: The messages that the topic received: their rate, and the number of the last 24 hours.
        out_count: The messages that the group received, likewise.
        error: The reason why a sum is incomplete; None otherwise.
        lag_reason: Why `lag` is None, or lacks some queues.
        offset_distance: The ends of all queues minus the consumer offsets, of which a missing one counts as
            0: what mqadmin prints in its place.
        in_bytes: The bytes of the messages of 24 hours; None if they were not read.
    """

    topic: str
    group: str | None
    lag: int | None
    in_count: MessageCount | None
    out_count: MessageCount | None
    error: RocketMQError | None
    lag_reason: str | None = None
    offset_distance: int | None = None
    in_bytes: int | None = None


class _TopicPlace(NamedTuple):
    topic: str
    master_addrs: tuple[str, ...]
    group_names: tuple[str, ...]
    error: RocketMQError | None


def read_traffic(
    caller: Caller, routes_by_topic: Mapping[str, ServerResult[TopicRoute]]
) -> list[TopicTraffic]:
    """Read the message counts of topics and their groups from all masters.

    Sends QUERY_TOPIC_CONSUME_BY_WHO (300), VIEW_BROKER_STATS_DATA (315) and GET_CONSUME_STATS (208).
    """
    topic_places = _find_places(caller, routes_by_topic)
    in_results = _send_to_masters(caller, [(p, _count_request(p.topic), _parse_count) for p in topic_places])
    place_groups = [(topic_place, group) for topic_place in topic_places for group in topic_place.group_names]
    out_results = _send_to_masters(
        caller,
        [
            (topic_place, _count_request(topic_place.topic, group), _parse_count)
            for topic_place, group in place_groups
        ],
    )
    stats_results = _send_to_masters(
        caller,
        [
            (
                place,
                (RequestCode.GET_CONSUME_STATS, {"consumerGroup": group, "topic": place.topic}),
                partial(parse_group_stats, group),
            )
            for place, group in place_groups
        ],
    )
    completed_stats = iter(complete_stats(caller, list(chain.from_iterable(stats_results))))
    traffic_rows = [
        TopicTraffic(place.topic, None, None, _sum_counts(in_counts), None, _find_error(place, in_counts))
        for place, in_counts in zip(topic_places, in_results, strict=True)
        if not place.group_names
    ]
    in_by_topic = dict(zip((topic_place.topic for topic_place in topic_places), in_results, strict=True))
    for (topic_place, group), out_counts in zip(place_groups, out_results, strict=True):
        in_counts = in_by_topic[topic_place.topic]
        group_stats = list(islice(completed_stats, len(topic_place.master_addrs)))
        known_stats = [result.result for result in group_stats if result.result is not None]
        lag = sum_lags(queue_lag.lag for consume_stats in known_stats for queue_lag in consume_stats.queues)
        traffic_rows.append(
            TopicTraffic(
                topic_place.topic,
                group,
                lag.messages,
                _sum_counts(in_counts),
                _sum_counts(out_counts),
                _find_error(topic_place, in_counts, out_counts, group_stats),
                lag.reason if known_stats else None,
                sum(
                    queue_lag.broker_offset - (queue_lag.consumer_offset or 0)
                    for consume_stats in known_stats
                    for queue_lag in consume_stats.queues
                ),
            )
        )
    return sorted(traffic_rows, key=lambda traffic_row: (traffic_row.topic, traffic_row.group or ""))


def read_put_bytes(
    caller: Caller, routes_by_topic: Mapping[str, ServerResult[TopicRoute]]
) -> dict[str, int | None]:
    """Read the bytes of the messages of 24 hours by topic, summed over its masters (315).

    The sum lacks a master that did not answer. It is None if no master answered.
    """
    places = [
        _TopicPlace(topic, _list_masters(route.queues), (), None)
        for topic, (_, route, _) in routes_by_topic.items()
        if route is not None
    ]
    results = _send_to_masters(
        caller, [(place, _stats_request("TOPIC_PUT_SIZE", place.topic), _parse_count) for place in places]
    )
    sums = map(_sum_counts, results)
    return {place.topic: total and total.message_count for place, total in zip(places, sums, strict=True)}


def read_put_rates(caller: Caller, topic: str, master_addrs: Iterable[str]) -> list[ServerResult[float]]:
    """Read the messages per second (last minute) that masters receive for a topic (315)."""
    return [
        count_result.then(lambda message_count: message_count.messages_per_second)
        for count_result in read_put_counts(caller, topic, master_addrs)
    ]


def read_put_counts(
    caller: Caller, topic: str, master_addrs: Iterable[str]
) -> list[ServerResult[MessageCount]]:
    """Read the message counts of a topic on masters (VIEW_BROKER_STATS_DATA, 315)."""
    request_code, ext_fields = _count_request(topic)
    return [
        decode_answer(accept_uncounted(answer), _parse_count)
        for answer in caller.send_to_each(master_addrs, request_code, ext_fields)
    ]


def _find_places(
    caller: Caller, routes_by_topic: Mapping[str, ServerResult[TopicRoute]]
) -> list[_TopicPlace]:
    groups_by_topic: dict[str, set[str]] = {}
    errors_by_topic: dict[str, RocketMQError] = {}
    for topic_usage in read_usage(caller, routes_by_topic):
        groups_by_topic.setdefault(topic_usage.topic, set()).update(topic_usage.consumer_groups or ())
        if topic_usage.error is not None:
            errors_by_topic.setdefault(topic_usage.topic, topic_usage.error)
    topic_places: list[_TopicPlace] = []
    for topic, group_names in groups_by_topic.items():
        topic_route = routes_by_topic[topic].result
        queue_routes = topic_route.queues if topic_route is not None else ()
        for queue_route in queue_routes:
            if queue_route.master_addr is None:
                errors_by_topic.setdefault(topic, NotFound(f"{queue_route.broker_name} has no master now"))
        topic_places.append(
            _TopicPlace(
                topic,
                _list_masters(queue_routes),
                tuple(sorted(group_names)),
                errors_by_topic.get(topic),
            )
        )
    return topic_places


def _list_masters(queue_routes: Iterable[QueueRoute]) -> tuple[str, ...]:
    """The masters; a broker that was renamed has two names with one address, which counts once."""
    return tuple(dict.fromkeys(route.master_addr for route in queue_routes if route.master_addr))


def _send_to_masters(
    caller: Caller, requests: Sequence[tuple[_TopicPlace, tuple[RequestCode, Header], ResponseDecoder[T]]]
) -> list[list[ServerResult[T]]]:
    """Send each request to the masters of its place; return the results per request."""
    calls = [
        (broker_addr, request_code, ext_fields, decode_response)
        for topic_place, (request_code, ext_fields), decode_response in requests
        for broker_addr in topic_place.master_addrs
    ]
    decoded_results: list[ServerResult[T]] = []
    for batch_start in range(0, len(calls), _REQUESTS_AT_ONCE):
        batch_calls = calls[batch_start : batch_start + _REQUESTS_AT_ONCE]
        answers = caller.send_requests(
            (addr, make_request(request_code, fields)) for addr, request_code, fields, _ in batch_calls
        )
        decoded_results += [
            decode_answer(accept_uncounted(a), r) for a, (*_, r) in zip(answers, batch_calls, strict=True)
        ]
    remaining_results = iter(decoded_results)
    return [list(islice(remaining_results, len(place.master_addrs))) for place, *_ in requests]


def accept_uncounted(answer: ServerResult[RemotingCommand]) -> ServerResult[RemotingCommand]:
    """Turn the refusal of a broker that never counted anything into an empty answer."""
    error = answer.error
    if isinstance(error, RequestError) and error.code == 1 and "not exist" in (error.remark or ""):
        return ServerResult(answer.addr, RemotingCommand(0), None)
    return answer


def _count_request(topic: str, group: str | None = None) -> tuple[RequestCode, Header]:
    if group is None:
        return _stats_request("TOPIC_PUT_NUMS", topic)
    return _stats_request("GROUP_GET_NUMS", f"{topic}@{group}")


def _stats_request(name: str, key: str) -> tuple[RequestCode, Header]:
    return RequestCode.VIEW_BROKER_STATS_DATA, broker_headers.ViewBrokerStats(name, key)


def _parse_count(response: RemotingCommand) -> MessageCount:
    json_body = parse_json_object(response)
    minute_span, hour_span, day_span = (json_body.child(f"stats{name}") for name in ("Minute", "Hour", "Day"))
    # The hour and the day are empty until their first sample, which takes ten minutes and one hour.
    span_sums = (stats_span.integer("sum", 0) for stats_span in (day_span, hour_span, minute_span))
    return MessageCount(minute_span.number("tps", 0.0), next(filter(None, span_sums), 0))


def _sum_counts(count_results: Sequence[ServerResult[MessageCount]]) -> MessageCount | None:
    known_counts = [count_result.result for count_result in count_results if count_result.result is not None]
    if not known_counts:
        return None
    return MessageCount(
        sum(count_result.messages_per_second for count_result in known_counts),
        sum(count_result.message_count for count_result in known_counts),
    )


def _find_error(topic_place: _TopicPlace, *result_lists: Iterable[ServerResult[Any]]) -> RocketMQError | None:
    errors = (r.error for result_list in result_lists for r in result_list if r.error is not None)
    return next(errors, topic_place.error)
