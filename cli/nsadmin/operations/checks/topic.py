"""A topic: whether it can be written and read, whichever name server a client asks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_ID, Perm
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.results import error_text, is_not_found
from nsadmin.client.routes import QueueRoute, TopicRoute
from nsadmin.operations.checks import masters
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.thresholds import Scale


class Seen(NamedTuple):
    """Its route on each name server, and the masters that do not answer."""

    topic: str
    routes: Sequence[ServerResult[TopicRoute]]
    silent: Mapping[str, str]


def look(admin: AdminClient, topic: str) -> Seen:
    """At its routes, and at every master that they name."""
    routes = admin.topics.route_each(topic)
    addrs = [queue.broker_addrs.get(MASTER_ID) for _, route, _ in routes if route for queue in route.queues]
    return Seen(topic, routes, masters.silent(admin, addrs))


class _View(NamedTuple):
    """What a client of one name server meets; `lost` are brokers that take no messages, and why."""

    addr: str
    writable: int
    readable: int
    write_queues: int
    lost: Mapping[str, str]


def judge(scale: Scale, seen: Seen) -> Finding:
    """By the name server with the fewest: clients ask any of them."""
    told = [result for result in seen.routes if result.error is None or is_not_found(result.error)]
    away = [
        f"name server {addr}: {error_text(error)}"
        for addr, _, error in seen.routes
        if error is not None and not is_not_found(error)
    ]
    if not told:
        return scale.unknown("no name server tells its route", away, seen.topic)
    views = [_view(result, seen.silent) for result in told]
    names = {queue.broker_name for result in told if result.result for queue in result.result.queues}
    fewest = min(views, key=lambda view: view.writable)
    samples = [
        scale.sample("unwritable", len(names) - fewest.writable),
        scale.sample("writable", fewest.writable),
        scale.sample("readable", min(view.readable for view in views)),
        scale.sample("writeQueues", min(view.write_queues for view in views)),
    ]
    least = State.WARNING if away else State.OK
    return scale.finding(
        _summary(seen.topic, names, fewest), samples, [*_lines(views), *away], least=least, about=seen.topic
    )


def _summary(topic: str, names: set[str], fewest: _View) -> str:
    if not names:
        return f"no name server knows {topic}"
    return f"{fewest.writable} of {len(names)} brokers of {topic} take messages"


def _view(result: ServerResult[TopicRoute], silent: Mapping[str, str]) -> _View:
    queues = result.result.queues if result.result else ()
    lost = {queue.broker_name: why for queue in queues if (why := _lost(queue, silent))}
    kept = [queue for queue in queues if queue.broker_name not in lost]
    readable = [
        queue
        for queue in queues
        if (queue.perm or 0) & Perm.READ
        and queue.read_ids
        and set(queue.broker_addrs.values()) - silent.keys()
    ]
    if result.result is None:
        lost = {"": "does not know the topic"}
    return _View(result.addr, len(kept), len(readable), sum(len(queue.write_ids) for queue in kept), lost)


def _lost(queue: QueueRoute, silent: Mapping[str, str]) -> str | None:
    return masters.why_not(queue.perm, len(queue.write_ids), queue.broker_addrs.get(MASTER_ID), silent)


def _lines(views: Sequence[_View]) -> list[str]:
    """What is alike on all name servers is said once."""
    common = set.intersection(*(set(view.lost.items()) for view in views))
    lines = [f"{name}: {why}" for name, why in sorted(common) if name]
    for view in views:
        own = sorted(set(view.lost.items()) - common)
        lines += [f"name server {view.addr}{f': {name}: ' if name else ' '}{why}" for name, why in own]
    return lines
