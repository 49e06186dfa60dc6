"""The consumer groups of topics, from all brokers of each topic."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object, texts
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.client.retry import decoded
from nsadmin.client.routes import TopicRoute

Groups = ServerResult[tuple[str, ...]]


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


def usage(caller: Caller, routes: Mapping[str, ServerResult[TopicRoute]]) -> list[TopicUsage]:
    """Read the consumer groups of topics from all their brokers (QUERY_TOPIC_CONSUME_BY_WHO, 300).

    Args:
        caller: The connections.
        routes_by_topic: Topic to the result of reading its route.

    Returns:
        One TopicUsage per topic and cluster, in order. Topics without a route are left out.
    """
    rows: list[TopicUsage] = []
    places: dict[tuple[str, str | None], list[str]] = {}
    for topic, (_, found, error) in routes.items():
        if found is not None:
            _add_places(places, topic, found)
        elif not is_not_found(error):
            rows.append(TopicUsage(None, topic, None, error))
    known = _groups_of(caller, {(topic, addr) for (topic, _), addrs in places.items() for addr in addrs})
    for (topic, cluster), addrs in places.items():
        rows.append(_merged(topic, cluster, [known[topic, addr] for addr in addrs]))
    return sorted(rows, key=lambda row: (row.topic, row.cluster_name or ""))


def readers(caller: Caller, addr: str, topics: Iterable[str]) -> ServerResult[dict[str, tuple[str, ...]]]:
    """Read the groups that one broker knows for each topic (QUERY_TOPIC_CONSUME_BY_WHO, 300).

    These are the groups that subscribe now, or have committed offsets.

    Returns:
        Topic to group names; the first error makes the whole result an error.
    """
    found = _groups_of(caller, ((topic, addr) for topic in topics))
    error = next((answer.error for answer in found.values() if answer.error is not None), None)
    if error is not None:
        return ServerResult(addr, None, error)
    return ServerResult(addr, {topic: answer.result or () for (topic, _), answer in found.items()}, None)


def _add_places(places: dict[tuple[str, str | None], list[str]], topic: str, found: TopicRoute) -> None:
    for queue in found.queues:
        addrs = places.setdefault((topic, queue.cluster_name), [])
        if queue.any_addr is not None:
            addrs.append(queue.any_addr)


def _groups_of(caller: Caller, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Groups]:
    places = list(places)
    code = RequestCode.QUERY_TOPIC_CONSUME_BY_WHO
    calls = [(addr, request(code, headers.write(headers.TopicName(topic)))) for topic, addr in places]
    answers = [decoded(answer, _group_names) for answer in caller.ask(calls)]
    return dict(zip(places, answers, strict=True))


def _group_names(command: Command) -> tuple[str, ...]:
    return tuple(texts(json_object(command).get("groupList")))


def _merged(topic: str, cluster: str | None, answers: list[Groups]) -> TopicUsage:
    failure = next((answer.error for answer in answers if answer.error is not None), None)
    known = [answer.result for answer in answers if answer.result is not None]
    groups = tuple(sorted({name for names in known for name in names}))
    return TopicUsage(cluster, topic, groups if known or not answers else None, failure)
