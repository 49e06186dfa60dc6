"""The consumer groups of topics, from all brokers of each topic."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.client.topic_routes import TopicRoute

GroupNames = ServerResult[tuple[str, ...]]


class TopicUsage(NamedTuple):
    """The consumer groups of a topic in one cluster.

    Attributes:
        cluster_name: The cluster; None if it is unknown.
        topic: The topic.
        consumer_groups: The groups in order; None if no broker answered.
        error: The first error of a broker; None if all answered.
    """

    cluster_name: str | None
    topic: str
    consumer_groups: tuple[str, ...] | None
    error: RocketMQError | None


def read_usage(caller: Caller, routes_by_topic: Mapping[str, ServerResult[TopicRoute]]) -> list[TopicUsage]:
    """Read the consumer groups of topics from all their brokers (QUERY_TOPIC_CONSUME_BY_WHO, 300)."""
    usage_rows: list[TopicUsage] = []
    addrs_by_place: dict[tuple[str, str | None], list[str]] = {}
    for topic, (_, topic_route, error) in routes_by_topic.items():
        if topic_route is not None:
            for queue_route in topic_route.queues:
                broker_addrs = addrs_by_place.setdefault((topic, queue_route.cluster_name), [])
                if queue_route.any_addr is not None:
                    broker_addrs.append(queue_route.any_addr)
        elif not is_not_found(error):
            usage_rows.append(TopicUsage(None, topic, None, error))
    groups_by_place = _read_groups(caller, {(t, addr) for (t, _), a in addrs_by_place.items() for addr in a})
    for (topic, cluster_name), addrs in addrs_by_place.items():
        usage_rows.append(
            _merge_groups(topic, cluster_name, [groups_by_place[topic, broker_addr] for broker_addr in addrs])
        )
    return sorted(usage_rows, key=lambda usage_row: (usage_row.topic, usage_row.cluster_name or ""))


def read_consumer_groups(
    caller: Caller, broker_addr: str, topics: Iterable[str]
) -> ServerResult[dict[str, tuple[str, ...]]]:
    """Read the groups of each topic from a broker (QUERY_TOPIC_CONSUME_BY_WHO, 300).

    These are the groups that subscribe now, or have consumer offsets.
    """
    groups_by_place = _read_groups(caller, ((topic, broker_addr) for topic in topics))
    error = next((answer.error for answer in groups_by_place.values() if answer.error is not None), None)
    if error is not None:
        return ServerResult(broker_addr, None, error)
    return ServerResult(broker_addr, {t: a.result or () for (t, _), a in groups_by_place.items()}, None)


def _read_groups(caller: Caller, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], GroupNames]:
    places = list(places)
    request_code = RequestCode.QUERY_TOPIC_CONSUME_BY_WHO
    calls = [(a, make_request(request_code, headers.TopicName(t))) for t, a in places]
    answers = [decode_answer(answer, _parse_group_names) for answer in caller.send_requests(calls)]
    return dict(zip(places, answers, strict=True))


def _parse_group_names(response: RemotingCommand) -> tuple[str, ...]:
    return tuple(parse_json_object(response).texts("groupList"))


def _merge_groups(topic: str, cluster_name: str | None, answers: list[GroupNames]) -> TopicUsage:
    first_error = next((answer.error for answer in answers if answer.error is not None), None)
    known_names = [answer.result for answer in answers if answer.result is not None]
    group_names = tuple(sorted({name for known_group_names in known_names for name in known_group_names}))
    return TopicUsage(cluster_name, topic, group_names if known_names or not answers else None, first_error)
