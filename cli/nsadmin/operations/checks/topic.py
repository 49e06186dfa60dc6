"""Checks that clients of every name server can write to and read from a topic, and that somebody writes."""

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.client.results import is_not_found
from nsadmin.client.topic_routes import TopicRoute
from nsadmin.client.topics.topic_stats import TopicStats
from nsadmin.console.phrases import count_noun, format_utc_second
from nsadmin.operations.checks import listed_brokers, masters
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope, IdleLimits
from nsadmin.operations.checks.findings import (
    CheckFinding,
    CheckMeasure,
    CheckState,
    list_failures,
    worst_state,
)
from nsadmin.operations.checks.masters import MasterAnswers
from nsadmin.operations.inventory.keeper import NO_LOST_TOPICS
from nsadmin.operations.slave_reads import find_refusing_slaves


class TopicObservation(NamedTuple):
    """The topic's route at each name server, and what its masters answered.

    `missing_reasons` has the expected brokers that no name server lists, with a description, if they had the
    topic. `unknown_reasons` has those whose topics are not known. `refusing_slaves` do not serve consumers.
    `inventory_problem` says why missing brokers are unknown. `stats_results` is empty without `idle_limits`.
    `name_hint` helps with a name that no name server has.
    """

    topic: str
    route_results: Sequence[ServerResult[TopicRoute]]
    master_answers: MasterAnswers
    missing_reasons: Mapping[str, str] = {}
    unknown_reasons: Mapping[str, str] = {}
    refusing_slaves: Set[str] = frozenset()
    inventory_problem: str | None = None
    idle_limits: IdleLimits | None = None
    stats_results: Sequence[ServerResult[TopicStats]] = ()
    now_ms: int = 0
    name_hint: str = ""


def observe(admin: AdminClient, scope: CheckScope) -> TopicObservation:
    """Read the topic's routes, ask every master in them, and look for missing brokers."""
    assert scope.topic is not None
    topic, inventory = scope.topic, scope.inventory
    route_results = admin.topics.get_route_each(topic)
    queues = [queue for _, route, _ in route_results if route for queue in route.queues]
    answers = masters.ask_masters(admin, [queue.master_addr for queue in queues])
    silent_addrs = answers.silence_reasons.keys()
    # A slave counts only where no master serves consumers.
    slave_addrs = {
        addr
        for queue in queues
        if queue.master_addr in (None, *silent_addrs)
        for addr in queue.broker_addrs.values()
        if addr not in silent_addrs
    }
    lost_topics = NO_LOST_TOPICS
    if inventory is not None and (listing := listed_brokers.observe_listing(admin)).groups_by_server:
        perms = {queue.broker_name: queue.perm or 0 for queue in queues}
        is_known = any(error is None or is_not_found(error) for _, _, error in route_results)
        lost_topics = inventory.observe_topics(listing.broker_groups, {topic: perms} if is_known else {})
    reasons_by_known: dict[bool | None, dict[str, str]] = {True: {}, None: {}, False: {}}
    for name, reason in lost_topics.reasons_by_name.items():
        reasons_by_known[lost_topics.had_topic(name, topic)][name] = reason
    return TopicObservation(
        topic,
        route_results,
        answers,
        reasons_by_known[True],
        reasons_by_known[None],
        find_refusing_slaves(admin, slave_addrs).keys(),
        None if inventory is None else inventory.problem,
        scope.idle_limits,
        admin.topics.get_stats_at(
            [(addr, topic) for addr in sorted({q.master_addr for q in queues if q.master_addr})]
        )
        if scope.idle_limits
        else (),
        admin.clock_ms,
        _hint_at_topics(admin, topic) if all(is_not_found(error) for _, _, error in route_results) else "",
    )


def _hint_at_topics(admin: AdminClient, topic: str) -> str:
    with suppress(RocketMQError):
        if near_names := find_similar_names(topic, admin.topics.list_user_names()):
            return f"; {did_you_mean(near_names)}"
    return f"; `{quote_command('topicList')}` lists the topics"


class _TopicAvailability(NamedTuple):
    """The topic as clients of one name server can use it.

    `lost_brokers` has the brokers that take no messages, with the reason for each.
    """

    namesrv_addr: str
    writable_count: int
    readable_count: int
    write_queue_count: int
    lost_brokers: Mapping[str, str]


def judge(scale: CheckScale, seen: TopicObservation) -> CheckFinding:
    """Judge by the name server with the fewest writable brokers, because clients may ask any of them."""
    known = [result for result in seen.route_results if result.error is None or is_not_found(result.error)]
    failed = [result for result in seen.route_results if not is_not_found(result.error)]
    failure_lines = list_failures(failed, kind="name server")
    if not known:
        return scale.make_unknown_finding(
            f"no name server returned the route of {seen.topic}", failure_lines, seen.topic
        )
    views = [_assess_route(result, seen.master_answers, seen.refusing_slaves) for result in known]
    names = {queue.broker_name for _, route, _ in known if route for queue in route.queues}
    names |= seen.missing_reasons.keys()
    writable_count = min(view.writable_count for view in views)
    best_count = max(view.writable_count for view in views)
    behind_addrs = [view.namesrv_addr for view in views if view.writable_count == writable_count]
    idle = _judge_idle_time(seen)
    figures: dict[str, float | None] = {
        "unwritable": len(names) - writable_count,
        "writable": writable_count,
        "readable": min(view.readable_count for view in views),
        "writeQueues": min(view.write_queue_count for view in views),
        **({} if idle is None else {"idle": idle.seconds}),
    }
    unknown_lines = [
        *(
            f"{name}: {reason}; nsadmin does not know its topics"
            for name, reason in sorted(seen.unknown_reasons.items())
        ),
        *seen.master_answers.unknown_lines,
    ]
    missing_lines = [f"{name}: {reason}" for name, reason in sorted(seen.missing_reasons.items())]
    summary = f"no name server has the topic {seen.topic}{seen.name_hint}"
    if names:
        shortage = f", of which clients of name server {', '.join(behind_addrs)} find {writable_count}"
        summary = (
            f"{best_count} of {len(names)} brokers of {seen.topic} accept messages"
            f"{shortage if writable_count < best_count else ''} {masters.LOOKED_AT}"
            f"{f'; {idle.text}' if idle else ''}"
        )
    return scale.make_finding(
        summary,
        figures,
        [
            *_format_losses(views),
            *missing_lines,
            *unknown_lines,
            *failure_lines,
            *(idle.failure_lines if idle else ()),
        ],
        minimum_state=worst_state(
            [
                CheckState.WARNING if failure_lines or unknown_lines else CheckState.OK,
                idle.state if idle else CheckState.OK,
            ]
        ),
        about=seen.topic,
    ).with_inventory_problem(seen.inventory_problem)


class _IdleTime(NamedTuple):
    """How long no message has arrived; `seconds` is None if it is unknown or no message is left."""

    seconds: float | None
    text: str
    state: CheckState
    failure_lines: Sequence[str]


def _judge_idle_time(seen: TopicObservation) -> _IdleTime | None:
    """Judge the age of the newest message. A master that does not answer may have a newer one."""
    if seen.idle_limits is None:
        return None
    failure_lines = list_failures(seen.stats_results)
    times = [q.last_update_timestamp for r in seen.stats_results if r.result for q in r.result.queues]
    newest_ms = max(times, default=0)
    seconds = max(0.0, (seen.now_ms - newest_ms) / 1000) if newest_ms else None
    warning_seconds, critical_seconds = seen.idle_limits
    if seconds is None or seconds > critical_seconds:
        state = CheckState.CRITICAL
    elif warning_seconds is not None and seconds > warning_seconds:
        state = CheckState.WARNING
    else:
        state = CheckState.OK
    if failure_lines and state is not CheckState.OK:
        state = CheckState.UNKNOWN
    text = "it has no message"
    if seconds is not None:
        text = f"its newest message arrived at {format_utc_second(newest_ms)}"
        if state is not CheckState.OK:
            text = f"no message for {seconds:.0f} s: {text}"
    if failure_lines:
        text += f", without {count_noun(len(failure_lines), 'master')} that did not answer"
    return _IdleTime(seconds, text, state, failure_lines)


def _assess_route(
    route_result: ServerResult[TopicRoute], answers: MasterAnswers, refusing_slaves: Set[str]
) -> _TopicAvailability:
    if route_result.result is None:
        return _TopicAvailability(route_result.addr, 0, 0, 0, {"": "does not have the topic"})
    queues = route_result.result.queues
    lost_brokers = {}
    for queue in queues:
        write_count = len(queue.write_queue_ids)
        if reason := masters.explain_unwritable(queue.perm, write_count, queue.master_addr, answers):
            lost_brokers[queue.broker_name] = reason
    writable = [queue for queue in queues if queue.broker_name not in lost_brokers]
    readable = [
        queue
        for queue in queues
        if (queue.perm or 0) & Perm.READ
        and queue.read_queue_ids
        and set(queue.broker_addrs.values()) - answers.silence_reasons.keys() - refusing_slaves
    ]
    write_queue_count = sum(len(queue.write_queue_ids) for queue in writable)
    return _TopicAvailability(
        route_result.addr, len(writable), len(readable), write_queue_count, lost_brokers
    )


def _format_losses(views: Sequence[_TopicAvailability]) -> list[str]:
    """Format the losses. A loss that all name servers share gets one line."""
    common = set.intersection(*(set(view.lost_brokers.items()) for view in views))
    lines = [f"{name}: {reason}" for name, reason in sorted(common) if name]
    for view in views:
        lines += [
            f"name server {view.namesrv_addr}{f': {name}: ' if name else ' '}{reason}"
            for name, reason in sorted(set(view.lost_brokers.items()) - common)
        ]
    return lines


CHECK = Check(
    "topic",
    (
        CheckMeasure("unwritable", "brokers of the topic that accept no messages for it", warning="0"),
        CheckMeasure("writable", "brokers that accept messages for it", critical="1:"),
        CheckMeasure("readable", "brokers that consumers can read it from"),
        CheckMeasure("writeQueues", "writable queues"),
        CheckMeasure("idle", "with --idle: age of the newest message", "s"),
    ),
    observe,
    judge,
    warning_when="a broker with the topic accepts no messages for it, or is missing",
    critical_when="no broker accepts messages, or none has arrived for longer than --idle",
    remedy="nsadmin route explain {about}",
)
