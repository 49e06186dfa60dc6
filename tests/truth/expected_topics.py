"""Expected rows of the reports about topics of brokers, computed from the truth. Only journals have them."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from tests.truth.expected_routes import list_final_servers
from tests.truth.recorded_view import RecordedView, list_runs
from tests.truth.true_facts import BrokerStay, TopicQueues


class ExpectedGrowth(NamedTuple):
    """The topics of a broker at the end, and the size of their part of a registration."""

    broker_name: str
    topic_count: int
    byte_count: int


class ExpectedOrphan(NamedTuple):
    topic: str
    broker_names: frozenset[str]


def expect_growth(view: RecordedView) -> list[ExpectedGrowth]:
    """The largest number of topics on the known name servers; without any, on the others."""
    final_queues = _list_final_queues(view)
    rows = []
    for broker_name in sorted({queues.broker_name for queues in final_queues}):
        own_queues = [queues for queues in final_queues if queues.broker_name == broker_name]
        known_servers = list_final_servers(view) & {queues.server for queues in own_queues}
        topics_by_server = {
            server: [queues for queues in own_queues if queues.server == server]
            for server in known_servers or {queues.server for queues in own_queues}
        }
        rows.append(
            ExpectedGrowth(
                broker_name,
                max(map(len, topics_by_server.values())),
                max(map(_measure_topics, topics_by_server.values())),
            )
        )
    return rows


def _list_final_queues(view: RecordedView) -> list[TopicQueues]:
    """The queues at the end, or at the end of the last run of a name server."""
    last_ends = {server: list_runs(view, server)[-1].until for server in view.servers}
    return [queues for queues in view.facts_of(TopicQueues) if queues.until >= last_ends[queues.server]]


def _measure_topics(queues_of_topics: Iterable[TopicQueues]) -> int:
    """The bytes of these topics in the body of a registration, as Java writes it."""
    table = {
        queues.topic: {
            "attributes": {},
            "order": False,
            "perm": queues.perm,
            "readQueueNums": queues.read_queues,
            "topicFilterType": "SINGLE_TAG",
            "topicName": queues.topic,
            "topicSysFlag": queues.sys_flag,
            "writeQueueNums": queues.write_queues,
        }
        for queues in queues_of_topics
    }
    return len(json.dumps(table, separators=(",", ":")))


def expect_orphans(view: RecordedView) -> list[ExpectedOrphan]:
    """The topics of brokers that no name server has any more. Nothing is known about their traffic."""
    registered_names = {
        stay.broker_name
        for stay in view.facts_of(BrokerStay)
        if stay.until >= view.end_ms and stay.server in list_final_servers(view)
    }
    broker_names: dict[str, set[str]] = {}
    for queues in _list_final_queues(view):
        broker_names.setdefault(queues.topic, set()).add(queues.broker_name)
    return [
        ExpectedOrphan(topic, frozenset(names))
        for topic, names in broker_names.items()
        if registered_names and not names & registered_names
    ]
