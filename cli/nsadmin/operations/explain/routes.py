"""Causes inside a route: gone brokers, queues without write permission, dead order configurations. Pure."""

from collections.abc import Callable, Iterator

from namesrv_core.protocol.codes import MASTER_ID, Perm, perm_text
from nsadmin.client.order_conf import NAMESPACE, parse
from nsadmin.client.results import error_text, is_not_found
from nsadmin.client.routes import QueueRoute
from nsadmin.client.topic_views import NameServerView
from nsadmin.operations.explain.facts import Facts, groups, has_master, is_silent
from nsadmin.operations.explain.findings import (
    SERVERS,
    Advice,
    Finding,
    Result,
    Step,
    listed,
    ok,
    skipped,
    typed,
)
from nsadmin.operations.explain.registration import told


def _gone(facts: Facts) -> Iterator[Finding]:
    for view, route in facts.routed():
        for queue in route.queues:
            addr = queue.broker_addrs.get(MASTER_ID)
            if not queue.broker_addrs:
                seen = f"{queue.broker_name} has queues here and is not registered: it has left"
                yield _about(facts, view, queue, seen, typed("clusterList"))
            elif (error := facts.silence_of(addr)) is not None:
                seen = (
                    f"{queue.broker_name} is registered, but its master does not answer: {error_text(error)}"
                )
                words = "start it again; if it runs, learn who reaches it (--addressMap, if you do not)"
                step = typed("brokerStatus", "-b", addr or "", words=words)
                yield _about(facts, view, queue, seen, step)
    yield from _left(facts)


def _left(facts: Facts) -> Iterator[Finding]:
    """Findings from journals and topic lists about departed brokers that took the route with them."""
    for view in facts.lacking():
        if facts.topic in ((view.names.result if view.names else None) or ()):
            yield Finding(
                "cause",
                "it lists the topic, but none of the topic's brokers is registered",
                typed("clusterList", words="start them again; who is there?"),
                view.addr,
            )
    if facts.holders() or not any(True for _ in facts.lacking()):
        return
    for memory in facts.memories:
        for name, deed in sorted(memory.gone.items()):
            addrs = memory.addrs.get(name, ())
            at = f" ({listed(addrs)})" if addrs else ""
            yield Finding(
                "cause",
                f"it was on {name}{at}, which left: {told(deed)}",
                typed(
                    "updateTopic", facts.topic, "-c", "CLUSTER", words=f"start {name}, or create it elsewhere"
                ),
                None,
                name,
                addrs[0] if addrs else None,
            )


def _about(
    facts: Facts,
    view: NameServerView,
    queue: QueueRoute,
    seen: str,
    step: Advice | None,
    result: Result | None = None,
) -> Finding:
    return Finding(
        result or facts.severity(view),
        seen,
        step,
        view.addr,
        queue.broker_name,
        queue.broker_addrs.get(MASTER_ID),
    )


def _masterless(facts: Facts) -> Iterator[Finding]:
    for view, route in facts.routed():
        for queue in route.queues:
            if queue.broker_addrs and not has_master(view, queue.broker_name):
                group = groups(view).get(queue.broker_name)
                addrs = group.broker_addrs if group else queue.broker_addrs
                slaves = listed(f"{number}={addr}" for number, addr in addrs.items())
                seen = f"{queue.broker_name} has no master, only {slaves}: it can be read, not written"
                yield _about(facts, view, queue, seen, _start_master(facts, queue.broker_name))
    for view in facts.lacking():
        for name in facts.holders():
            if name in groups(view) and not has_master(view, name):
                seen = f"{name} has no master here, and older name servers take no topics from slaves"
                yield Finding("cause", seen, _start_master(facts, name), view.addr, name)


def _start_master(facts: Facts, name: str) -> Advice:
    words = f"start the master of {name} again; if it runs, learn why it does not register"
    return typed("routeExplain", facts.topic, "-b", "HOST:PORT", words=words)


def _closed(facts: Facts) -> Iterator[tuple[NameServerView, QueueRoute]]:
    """The queues without write permission on brokers that have a master."""
    for view, route in facts.routed():
        for queue in route.queues:
            if queue.perm is not None and has_master(view, queue.broker_name) and not queue.perm & Perm.WRITE:
                yield view, queue


def _broker_permission(facts: Facts, queue: QueueRoute) -> int | None:
    broker = facts.master_of(queue)
    text = (broker.config.result or {}).get("brokerPermission", "") if broker else ""
    return int(text) if text.isdecimal() else None


def _topic_permission(facts: Facts, queue: QueueRoute) -> int | None:
    broker = facts.master_of(queue)
    return broker.topic.result.perm if broker and broker.topic.result else None


def _wiped(facts: Facts) -> Iterator[Finding]:
    for view, queue in _closed(facts):
        permission, own = _broker_permission(facts, queue), _topic_permission(facts, queue)
        shown = f"{queue.broker_name} has perm {perm_text(queue.perm or 0)} here"
        broker = facts.master_of(queue)
        if permission is None or own is None:
            has_not = broker is not None and is_not_found(broker.topic.error)
            seen = "the broker has no such topic any more" if has_not else "the broker does not tell its own"
            yield _about(facts, view, queue, f"{shown}; {seen}", None, None if has_not else "unknown")
        elif own & permission & Perm.WRITE:
            deeds = [
                memory.closed[queue.broker_name]
                for memory in facts.memories
                if queue.broker_name in memory.closed
            ]
            who = "".join(f"; {told(deed)}" for deed in deeds) or (
                "; no journal says who did it" if facts.memories else "; --journal DIR may say who did it"
            )
            seen = f"{shown} and {perm_text(own)} on the broker: it was wiped on this name server{who}"
            words = "if it was drained, undrain it; else (it makes all topics of the broker rw-)"
            step = typed("addWritePerm", queue.broker_name, "-n", SERVERS, words=words)
            yield _about(facts, view, queue, seen, step)


def _forbidden(facts: Facts) -> Iterator[Finding]:
    for view, queue in _closed(facts):
        permission = _broker_permission(facts, queue)
        if permission is not None and not permission & Perm.WRITE:
            addr = queue.broker_addrs.get(MASTER_ID)
            seen = f"{queue.broker_name} may not be written to: brokerPermission={permission}"
            step = typed("updateBrokerConfig", "brokerPermission", "6", "-b", addr or "ADDR")
            yield _about(facts, view, queue, seen, step)


def _topic_closed(facts: Facts) -> Iterator[Finding]:
    for view, queue in _closed(facts):
        own = _topic_permission(facts, queue)
        if own is not None and not own & Perm.WRITE:
            addr = queue.broker_addrs.get(MASTER_ID)
            seen = f"{queue.broker_name} has the topic with perm {perm_text(own)}"
            step = typed("updateTopicPerm", facts.topic, str(own | int(Perm.WRITE)), "-b", addr or "ADDR")
            yield _about(facts, view, queue, seen, step)
    for view, route in facts.routed():
        readable = [queue for queue in route.queues if (queue.perm or 0) & Perm.READ]
        if not readable and route.queues:
            perms = listed(f"{queue.broker_name} {perm_text(queue.perm or 0)}" for queue in route.queues)
            step = typed("updateTopicPerm", facts.topic, "6", "-c", "CLUSTER")
            yield Finding("cause", f"consumers may read none of its queues: {perms}", step, view.addr)


def _queueless(facts: Facts) -> Iterator[Finding]:
    for view, route in facts.routed():
        for queue in route.queues:
            if queue.perm is None:
                seen = f"{queue.broker_name} stands in the route without queues"
                yield _about(facts, view, queue, seen, typed("topicRoute", facts.topic))
            elif not queue.write_ids or not queue.read_ids:
                seen = (
                    f"{queue.broker_name} has {len(queue.write_ids)} queues to write"
                    f" and {len(queue.read_ids)} to read"
                )
                addr = queue.broker_addrs.get(MASTER_ID)
                step = typed("updateTopic", facts.topic, "-b", addr or "ADDR", "-r", "8", "-w", "8")
                result: Result | None = None if not queue.write_ids else _unread(view)
                yield _about(facts, view, queue, seen, step, result)


def _unread(view: NameServerView) -> Result:
    """The severity of unreadable queues: "warning" while other queues of the route can be read."""
    queues = view.route.result.queues if view.route.result else ()
    return "warning" if any((queue.perm or 0) & Perm.READ and queue.read_ids for queue in queues) else "cause"


def _order(facts: Facts) -> Iterator[Finding]:
    for view, route in facts.routed():
        if not route.order_topic_conf:
            continue
        put = typed("updateOrderConf", facts.topic, "put", "BROKER:QUEUES;BROKER:QUEUES")
        try:
            conf = parse(route.order_topic_conf)
        except ValueError as error:
            yield Finding("cause", f"clients cannot read {route.order_topic_conf!r}: {error}", put, view.addr)
            continue
        dead = [name for name in conf if not has_master(view, name)]
        dead += [
            queue.broker_name
            for queue in route.queues
            if queue.broker_name in conf and facts.silence_of(queue.broker_addrs.get(MASTER_ID))
        ]
        if dead:
            lost, all_of_them = sum(conf[name] for name in set(dead)), sum(conf.values())
            seen = (
                f"it names {listed(dict.fromkeys(dead))}, whose masters are gone: sends to"
                f" {lost} of {all_of_them} queues fail, whatever the route says"
            )
            yield Finding("cause" if lost == all_of_them else "warning", seen, put, view.addr)


def _order_well(facts: Facts) -> Finding:
    if any(route.order_topic_conf for _, route in facts.routed()):
        return ok("every broker of the order configuration has a master")
    unused = [view.addr for view in facts.views if view.order_conf.result]
    if unused:
        return ok(
            f"clients do not get the one in {NAMESPACE}: orderMessageEnable is false on {listed(unused)}"
        )
    return ok("there is none")


def _zone(facts: Facts) -> Iterator[Finding]:
    for view, route in facts.routed():
        if view.zone_route is None:
            continue
        if view.zone_route.error is not None:
            yield Finding("unknown", f"no answer: {error_text(view.zone_route.error)}", None, view.addr)
        elif not (view.zone_route.result and view.zone_route.result.queues):
            names = listed(queue.broker_name for queue in route.queues)
            seen = f"no master of {names} is in zone {facts.question.zone}: its clients get an empty route"
            step = Advice("take rocketmq.zone.mode from the client, or start brokers in its zone")
            yield Finding("cause", seen, step, view.addr)


def _zone_well(facts: Facts) -> Finding:
    if facts.question.zone is None:
        return skipped("--zone NAME asks as a client of that zone")
    return ok(f"clients of zone {facts.question.zone} get queues")


def _with_route(text: str) -> Callable[[Facts], Finding]:
    def well(facts: Facts) -> Finding:
        return ok(text) if any(True for _ in facts.routed()) else skipped("no name server has a route")

    return well


def _gone_well(facts: Facts) -> Finding:
    if not any(True for _ in facts.routed()):
        return skipped("no name server has a route, and nothing tells of brokers that left")
    answering = [broker.addr for broker in facts.brokers if not is_silent(broker)]
    return ok(f"{len(answering)} brokers answer: {listed(answering)}")


STEPS = (
    Step("brokersGone", _gone_well, _gone),
    Step("masterMissing", _with_route("each broker of the route has a master"), _masterless),
    Step("wiped", _with_route("no name server took a permission that the brokers give"), _wiped),
    Step("brokerPermission", _with_route("the brokers of the route take messages"), _forbidden),
    Step("topicPermission", _with_route("the topic may be written and read"), _topic_closed),
    Step("noQueues", _with_route("each broker of the route has queues to write and to read"), _queueless),
    Step("orderConf", _order_well, _order),
    Step("zone", _zone_well, _zone),
)
