"""Expected rows of the reports about routes, computed from the truth. Only journals have them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from tests.truth.recorded_view import RecordedView, is_known_at, list_runs, pair_with_next
from tests.truth.true_facts import BrokerStay, KvChange, TopicQueues

_QUEUE_FIELDS = {
    "readQueueNums": "read_queues",
    "writeQueueNums": "write_queues",
    "perm": "perm",
    "topicSysFlag": "sys_flag",
}


PROOF_MS = 120_000
"""A name server counts as alive for this time after its last record."""


class ExpectedDifference(NamedTuple):
    topic: str | None
    broker_name: str | None
    key: str | None
    field: str
    values: Mapping[str, str | None]
    since: int
    until: int


class ExpectedRoute(NamedTuple):
    server: str
    topic: str
    broker_name: str
    numbers: tuple[int, ...]


class _Timeline(NamedTuple):
    """What a name server said about a key, from when to when."""

    server: str
    since: int
    until: int
    value: Any


def expect_differences(view: RecordedView) -> list[ExpectedDifference]:
    queue_lines: dict[tuple[str, str], list[_Timeline]] = {}
    for queues in view.facts_of(TopicQueues):
        queue_lines.setdefault((queues.topic, queues.broker_name), []).append(
            _Timeline(queues.server, queues.since, queues.until, queues)
        )
    differences = [
        difference
        for (topic, name), timelines in queue_lines.items()
        for field in ("route", *_QUEUE_FIELDS)
        for difference in _find_differences(
            view, timelines, partial(_compare_queues, field),
            (topic, name, None, field),
        )
    ]  # fmt: skip
    addr_lines: dict[tuple[str, int], list[_Timeline]] = {}
    for stay in view.facts_of(BrokerStay):
        addr_lines.setdefault((stay.broker_name, stay.broker_id), []).append(
            _Timeline(stay.server, stay.since, stay.until, stay.broker_addr)
        )
    for (broker_name, broker_id), timelines in addr_lines.items():
        key = (None, broker_name, str(broker_id), "brokerAddr")
        differences += _find_differences(view, timelines, dict, key)
    for kv_key, timelines in _list_kv_timelines(view).items():
        differences += _find_differences(view, timelines, dict, (None, None, kv_key, "kv"))
    return differences


def _compare_queues(field: str, values: Mapping[str, TopicQueues | None]) -> dict[str, str | None]:
    if field == "route":
        return {server: "absent" if queues is None else "present" for server, queues in values.items()}
    return {s: str(getattr(q, _QUEUE_FIELDS[field])) for s, q in values.items() if q is not None}


def _list_kv_timelines(view: RecordedView) -> dict[str, list[_Timeline]]:
    changes: dict[tuple[str, str], list[KvChange]] = {}
    for change in view.facts_of(KvChange):
        changes.setdefault((f"{change.namespace}/{change.key}", change.server), []).append(change)
    timelines: dict[str, list[_Timeline]] = {}
    for (kv_key, server), server_changes in changes.items():
        for change, after in pair_with_next(server_changes):
            until = view.end_ms if after is None else after.at
            if change.after is not None:
                timelines.setdefault(kv_key, []).append(_Timeline(server, change.at, until, change.after))
    return timelines


def _find_differences(
    view: RecordedView,
    timelines: Sequence[_Timeline],
    describe_values: Callable[[Mapping[str, Any]], Mapping[str, str | None]],
    key: tuple[str | None, str | None, str | None, str],
) -> Iterator[ExpectedDifference]:
    """Find the spans in which known name servers with different values exist."""
    moments = sorted(
        {moment for timeline in timelines for moment in (timeline.since, timeline.until)}
        | {moment for spans in view.known_spans.values() for span in spans for moment in span}
    )
    open_difference: ExpectedDifference | None = None
    for since, until in pairwise(moments):
        values = {
            s: next((t.value for t in timelines if t.server == s and t.since <= since < t.until), None)
            for s in view.servers
            if is_known_at(view, s, since)
        }
        described = describe_values(values)
        differs = len(set(described.values())) > 1
        if open_difference is not None and differs and described == open_difference.values:
            open_difference = open_difference._replace(until=until)
            continue
        if open_difference is not None:
            yield open_difference
        open_difference = ExpectedDifference(*key, described, since, until) if differs else None
    if open_difference is not None:
        yield open_difference


def list_running_servers(view: RecordedView) -> set[str]:
    """The name servers that run at the end."""
    return {server for server in view.servers if any(run.end == "running" for run in list_runs(view, server))}


def list_final_servers(view: RecordedView) -> set[str]:
    """The name servers that run at the end, and are not silent for long."""
    return {s for s in list_running_servers(view) if view.end_ms - view.words[s][-1] < PROOF_MS}


def expect_final_routes(view: RecordedView) -> list[ExpectedRoute]:
    """The routes at the end, on the name servers that are known then."""
    final_servers = list_final_servers(view)
    return [
        ExpectedRoute(
            queues.server, queues.topic, queues.broker_name,
            (queues.read_queues, queues.write_queues, queues.perm, queues.sys_flag),
        )
        for queues in view.facts_of(TopicQueues)
        if queues.server in final_servers and queues.until >= view.end_ms
    ]  # fmt: skip


def parse_values(values_json: str) -> dict[str, str | None]:
    values: dict[str, str | None] = json.loads(values_json)
    return values
