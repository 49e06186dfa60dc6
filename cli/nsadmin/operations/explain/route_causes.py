"""Why clients find no route: causes inside a route, and all causes in their order. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE, format_order_conf, parse_order_conf
from nsadmin.client.results import error_text, is_not_found
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topic_views import NameServerTopicView
from nsadmin.console.phrases import count_noun
from nsadmin.operations.explain.facts import (
    RouteFacts,
    groups_by_name,
    has_registered_master,
    is_broker_silent,
)
from nsadmin.operations.explain.findings import (
    SERVERS_PLACEHOLDER,
    Advice,
    CauseCheck,
    CauseExplanation,
    CauseFinding,
    FindingResult,
    advise_on_missing,
    explain_causes,
    join_names,
    ok_finding,
    skipped_finding,
)
from nsadmin.operations.explain.name_server_causes import NAME_SERVER_CHECKS
from nsadmin.operations.explain.registration_causes import REGISTRATION_CHECKS, describe_change
from nsadmin.operations.inventory.records import RETENTION_MS, explain_silence
from nsadmin.operations.slave_reads import refuses_reads


def find_dead_order_confs(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        if not route.order_topic_conf:
            continue
        try:
            queues_by_broker = parse_order_conf(route.order_topic_conf)
        except ValueError as error:
            writable = {
                q.broker_name: q.write_queue_nums
                for q in route.queues
                if q.write_queue_nums
                and q.perm
                and q.perm & Perm.WRITE
                and has_registered_master(view, q.broker_name)
            }
            evidence = f'clients cannot parse the order configuration "{route.order_topic_conf}": {error}'
            advice = _advise_order_conf(facts, writable, "send to the queues of the route")
            yield CauseFinding("cause", evidence, advice, view.addr)
            continue
        dead_names = [name for name in queues_by_broker if not has_registered_master(view, name)]
        dead_names += [
            queue.broker_name
            for queue in route.queues
            if queue.broker_name in queues_by_broker and facts.silence_error(queue.master_addr)
        ]
        if dead_names:
            dead_text = join_names(dict.fromkeys(dead_names))
            kept = {name: count for name, count in queues_by_broker.items() if name not in dead_names}
            ordered_queues = sum(queues_by_broker.values())
            evidence = (
                f"the order configuration names brokers without a master: {dead_text}; sends to "
                f"{ordered_queues - sum(kept.values())} of {ordered_queues} queues fail"
            )
            instruction = f"start {dead_text} again; only if that takes long, send to the other brokers"
            advice = _advise_order_conf(facts, kept, instruction) or Advice(f"start {dead_text} again")
            yield CauseFinding("warning" if any(kept.values()) else "cause", evidence, advice, view.addr)


def _advise_order_conf(facts: RouteFacts, queues: Mapping[str, int], instruction: str) -> Advice | None:
    """Advice to write this order configuration; None if it would be empty."""
    if not queues:
        return None
    return Advice(instruction, ("updateOrderConf", facts.topic, "put", format_order_conf(queues)))


def valid_order_conf(facts: RouteFacts) -> CauseFinding:
    if any(route.order_topic_conf for _, route in facts.views_with_route()):
        return ok_finding("every broker of the order configuration has a master")
    ignoring_addrs = [view.addr for view in facts.server_views if view.order_conf.result]
    if ignoring_addrs:
        return ok_finding(
            f"clients do not get the configuration in {ORDER_CONF_NAMESPACE}: orderMessageEnable is false "
            f"on {join_names(ignoring_addrs)}"
        )
    return ok_finding("the topic has no order configuration")


def find_departed_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    """Findings from inventory, journals and topic lists about brokers that took routes with them."""
    yield from _find_missing_brokers(facts)
    for view in facts.views_without_route():
        if facts.topic in ((view.topic_names.result if view.topic_names else None) or ()):
            evidence = "the name server lists the topic, but none of the topic's brokers is registered"
            instruction = "start the brokers of the topic again; to see which brokers are registered"
            yield CauseFinding("cause", evidence, Advice(instruction, ("clusterList",)), view.addr)
    present_names = {
        *facts.brokers_with_topic(),
        *facts.removed_brokers,
        *(broker.broker_name for broker in facts.lost_brokers()),
        *(name for view in facts.server_views for name in groups_by_name(view)),
    }
    severity = _severity_of_departure(facts)
    for memory in facts.memories:
        for broker_name, journaled_change in sorted(memory.gone_brokers.items()):
            is_old = facts.now_ms - journaled_change.time_ms > RETENTION_MS
            if broker_name in present_names or (severity == "warning" and is_old):
                continue
            advice = Advice(
                f"either start {broker_name} again, or create the topic on another broker",
                ("updateTopic", facts.topic, "-c", facts.cluster_name),
            )
            last_addrs = memory.last_addrs.get(broker_name, ())
            departure = f"left: {describe_change(journaled_change)}"
            yield _finding_about_departed(severity, broker_name, last_addrs, departure, advice)


def _finding_about_departed(
    result: FindingResult, broker_name: str, last_addrs: Sequence[str], departure: str, advice: Advice
) -> CauseFinding:
    addr_remark = f" ({join_names(last_addrs)})" if last_addrs else ""
    evidence = f"the topic was on {broker_name}{addr_remark}, which {departure}"
    return CauseFinding(result, evidence, advice, None, broker_name, next(iter(last_addrs), None))


def _find_missing_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    """Findings about expected brokers that no name server lists, unless they never had the topic."""
    for name, description, last_addrs, had_topic in facts.lost_brokers():
        advice = advise_on_missing(name)
        if had_topic is None:
            evidence = f"{name} is {description}; nsadmin does not know its topics"
            yield CauseFinding("unknown", evidence, advice, None, name, next(iter(last_addrs), None))
        else:
            severity = _severity_of_departure(facts)
            yield _finding_about_departed(severity, name, last_addrs, f"is {description}", advice)


def _severity_of_departure(facts: RouteFacts) -> FindingResult:
    """The severity of a broker that left with its queues: "warning" if clients find others everywhere."""
    answering_views = [view for view in facts.server_views if not view.is_silent]
    return "warning" if all(facts.has_writable_queue(view) for view in answering_views) else "cause"


def _find_gone_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, queue in facts.routed_queues():
        if not queue.broker_addrs:
            evidence = f"{queue.broker_name} has queues in the route, but is not registered: it left"
            yield _finding_about_queue(facts, view, queue, evidence, Advice("", ("clusterList",)))
        elif (error := facts.silence_error(queue.master_addr)) is not None:
            former_addr = facts.former_addrs.get(queue.master_addr or "")
            evidence = (
                f"{queue.broker_name} is registered, but its master does not "
                f"answer: {explain_silence(error, former_addr)}"
            )
            instruction = (
                "start the broker again; if it runs, check the network to it, and pass --addressMap if "
                "only nsadmin cannot reach it"
            )
            advice = Advice(instruction, ("brokerStatus", "-b", former_addr or queue.master_addr or ""))
            yield _finding_about_queue(facts, view, queue, evidence, advice)
    yield from find_departed_brokers(facts)


def _finding_about_queue(
    facts: RouteFacts,
    view: NameServerTopicView,
    queue: QueueRoute,
    evidence: str,
    advice: Advice | None,
    result: FindingResult | None = None,
) -> CauseFinding:
    severity = result or facts.problem_severity(view)
    return CauseFinding(severity, evidence, advice, view.addr, queue.broker_name, queue.master_addr)


def _find_masterless_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, queue in facts.routed_queues():
        if queue.broker_addrs and not has_registered_master(view, queue.broker_name):
            addr_group = groups_by_name(view).get(queue.broker_name)
            addrs_by_id = addr_group.broker_addrs if addr_group else queue.broker_addrs
            slave_list = join_names(f"{broker_id}={addr}" for broker_id, addr in addrs_by_id.items())
            evidence = (
                f"{queue.broker_name} has no master, only {slave_list}: clients "
                f"{_describe_slave_reads(facts, addrs_by_id.values())}"
            )
            advice = _advise_master_start(facts, queue.broker_name)
            yield _finding_about_queue(facts, view, queue, evidence, advice)
    for view in facts.views_without_route():
        for name in facts.brokers_with_topic():
            if name in groups_by_name(view) and not has_registered_master(view, name):
                evidence = f"{name} has no master here, and older name servers accept no topics from slaves"
                yield CauseFinding("cause", evidence, _advise_master_start(facts, name), view.addr, name)


def _describe_slave_reads(facts: RouteFacts, slave_addrs: Iterable[str]) -> str:
    slave_views = [facts.broker_view_at(addr) for addr in slave_addrs]
    configs = [
        view.config.result for view in slave_views if view is not None and view.config.result is not None
    ]
    if any(not refuses_reads(config) for config in configs):
        return "can read from it but not write"
    if configs and len(configs) == len(slave_views):
        return "can neither read nor write, because slaveReadEnable=false"
    return "cannot write; whether they can read is unknown, because no slave told its slaveReadEnable"


def _advise_master_start(facts: RouteFacts, broker_name: str) -> Advice:
    instruction = f"start the master of {broker_name} again; if it runs, find out why it does not register"
    master_addr = facts.last_master_addrs.get(broker_name)
    if master_addr is None:
        return Advice(f"{instruction}: repeat this command with its address in -b")
    return Advice(instruction, ("routeExplain", facts.topic, "-b", master_addr))


def _unwritable_queues(facts: RouteFacts) -> Iterator[tuple[NameServerTopicView, QueueRoute]]:
    """The queues without write permission on brokers that have a master."""
    for view, queue in facts.routed_queues():
        is_closed = queue.perm is not None and not queue.perm & Perm.WRITE
        if is_closed and has_registered_master(view, queue.broker_name):
            yield view, queue


def _broker_permission(facts: RouteFacts, queue: QueueRoute) -> int | None:
    broker = facts.master_of_queue(queue)
    permission_text = (broker.config.result or {}).get("brokerPermission", "") if broker else ""
    return int(permission_text) if permission_text.isdecimal() else None


def _topic_permission(facts: RouteFacts, queue: QueueRoute) -> int | None:
    broker = facts.master_of_queue(queue)
    return broker.topic_config.result.perm if broker and broker.topic_config.result else None


def _find_wiped_permissions(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, queue in _unwritable_queues(facts):
        broker_permission = _broker_permission(facts, queue)
        topic_permission = _topic_permission(facts, queue)
        shown_permission = f"{queue.broker_name} has permission {perm_text(queue.perm or 0)} here"
        broker = facts.master_of_queue(queue)
        if broker_permission is None or topic_permission is None:
            if broker is not None and is_not_found(broker.topic_config.error):
                evidence = f"{shown_permission}; the broker does not have the topic any more"
                yield _finding_about_queue(facts, view, queue, evidence, None)
            else:
                evidence = f"{shown_permission}; the broker did not return its own permission"
                yield _finding_about_queue(facts, view, queue, evidence, None, "unknown")
        elif topic_permission & broker_permission & Perm.WRITE:
            journaled_changes = [
                journal.closed_brokers[queue.broker_name]
                for journal in facts.memories
                if queue.broker_name in journal.closed_brokers
            ]
            journal_remark = "".join(f"; {describe_change(change)}" for change in journaled_changes) or (
                "; no journal records the change"
                if facts.memories
                else "; pass --journal DIR to search for the change"
            )
            evidence = (
                f"{shown_permission} and {perm_text(topic_permission)} on the broker: the write permission "
                f"was removed on this name server{journal_remark}"
            )
            advice = Advice(
                "if another user or machine drained the broker, undrain it there; otherwise restore the "
                "broker's own permissions",
                ("repair", "wipe", queue.broker_name, "-n", SERVERS_PLACEHOLDER),
            )
            if queue.broker_name in facts.drained_brokers:
                advice = Advice("this account drained the broker", ("undrain", queue.broker_name))
            yield _finding_about_queue(facts, view, queue, evidence, advice)


def _find_full_disks(facts: RouteFacts) -> Iterator[CauseFinding]:
    instruction = "free space on this disk; the broker accepts messages again within 10 s"
    for view, queue in facts.routed_queues():
        name, addr = queue.broker_name, queue.master_addr or ""
        if refusal := facts.disks.refusals.get(addr):
            advice = Advice(instruction, ("brokerStatus", "-b", addr))
            yield _finding_about_queue(facts, view, queue, f"{name} {refusal}", advice)
        elif unknown := facts.disks.unknown.get(addr):
            yield _finding_about_queue(facts, view, queue, f"{name} {unknown}", None, "unknown")


def _find_read_only_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, queue in _unwritable_queues(facts):
        broker_permission = _broker_permission(facts, queue)
        if broker_permission is not None and not broker_permission & Perm.WRITE:
            evidence = f"{queue.broker_name} has no write permission: brokerPermission={broker_permission}"
            broker = queue.master_addr or queue.broker_name
            advice = Advice("", ("updateBrokerConfig", "brokerPermission", "6", "-b", broker))
            yield _finding_about_queue(facts, view, queue, evidence, advice)


def _find_closed_topics(facts: RouteFacts) -> Iterator[CauseFinding]:
    closed = defaultdict[tuple[str, int], list[tuple[NameServerTopicView, QueueRoute]]](list)
    for view, queue in _unwritable_queues(facts):
        topic_permission = _topic_permission(facts, queue)
        if topic_permission is not None and not topic_permission & Perm.WRITE:
            closed[view.addr, topic_permission].append((view, queue))
    for (namesrv_addr, permission), places in closed.items():
        view, first = places[0]
        state = f"{'read-only' if permission & Perm.READ else 'closed'} ({perm_text(permission)})"
        evidence = f"{facts.topic} is {state} on {join_names(q.broker_name for _, q in places)}"
        clusters = {queue.cluster_name or "" for _, queue in places}
        routed = [
            q for v, q in facts.routed_queues() if v.addr == namesrv_addr and q.cluster_name in clusters
        ]
        target = ("-b", ",".join(queue.master_addr or queue.broker_name for _, queue in places))
        if len(places) == len(routed) > 1:
            target = ("-c", ",".join(sorted(clusters)))
        advice = Advice("", ("updateTopicPerm", facts.topic, str(permission | Perm.WRITE), *target))
        finding = _finding_about_queue(facts, view, first, evidence, advice)
        yield finding if len(places) == 1 else finding._replace(broker_name=None, broker_addr=None)
    for view, route in facts.views_with_route():
        if route.queues and not any((queue.perm or 0) & Perm.READ for queue in route.queues):
            shown_permissions = join_names(f"{q.broker_name} {perm_text(q.perm or 0)}" for q in route.queues)
            evidence = f"no queue has read permission: {shown_permissions}"
            advice = Advice("", ("updateTopicPerm", facts.topic, "6", "-c", facts.cluster_name))
            yield CauseFinding("cause", evidence, advice, view.addr)


def _find_missing_queues(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        is_readable = any((queue.perm or 0) & Perm.READ and queue.read_queue_ids for queue in route.queues)
        for queue in route.queues:
            if queue.perm is None:
                evidence = f"{queue.broker_name} is in the route without queues"
                advice = Advice("", ("topicRoute", facts.topic))
                yield _finding_about_queue(facts, view, queue, evidence, advice)
            elif not queue.write_queue_ids or not queue.read_queue_ids:
                evidence = (
                    f"{queue.broker_name} has {count_noun(len(queue.write_queue_ids), 'write queue')} and "
                    f"{count_noun(len(queue.read_queue_ids), 'read queue')}"
                )
                broker = queue.master_addr or queue.broker_name
                advice = Advice("", ("updateTopic", facts.topic, "-b", broker, "-r", "8", "-w", "8"))
                severity: FindingResult | None = "warning" if is_readable else "cause"
                if not queue.write_queue_ids:
                    severity = None
                yield _finding_about_queue(facts, view, queue, evidence, advice, severity)


def _find_empty_zones(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        if view.zone_route is None:
            continue
        if view.zone_route.error is not None:
            yield CauseFinding("unknown", f"no answer: {error_text(view.zone_route.error)}", None, view.addr)
        elif not (view.zone_route.result and view.zone_route.result.queues):
            broker_names = join_names(queue.broker_name for queue in route.queues)
            evidence = (
                f"no master of {broker_names} is in zone {facts.question.zone_name}: clients of the "
                "zone get an empty route"
            )
            advice = Advice(
                "remove rocketmq.zone.mode from the client's configuration, or start brokers in its zone"
            )
            yield CauseFinding("cause", evidence, advice, view.addr)


def _served_zone(facts: RouteFacts) -> CauseFinding:
    if facts.question.zone_name is None:
        return skipped_finding("not asked: pass --zone NAME to ask like a client of that zone")
    return ok_finding(f"clients of zone {facts.question.zone_name} get queues")


def _with_route(ok_text: str) -> Callable[[RouteFacts], CauseFinding]:
    return lambda facts: (
        ok_finding(ok_text) if facts.views_with_route() else skipped_finding("no name server has a route")
    )


def _find_proxy_differences(facts: RouteFacts) -> Iterator[CauseFinding]:
    """Clients of a proxy get its route, not that of a name server."""
    advice = Advice(
        "wait 20 seconds, until the proxy reads routes again; then compare namesrvAddr in its rmq-proxy.json "
        "with the name servers"
    )
    routed_brokers = {queue.broker_name for _, queue in facts.routed_queues()}
    for proxy_addr, broker_names, error in facts.proxy_routes:
        if isinstance(error, TopicNotExist):
            if routed_brokers:
                evidence = f"proxy {proxy_addr} has no route of the topic, but name servers have one"
                yield CauseFinding("cause", evidence, advice)
        elif error is not None:
            evidence = f"proxy {proxy_addr} gives its clients no route: {error_text(error)}"
            yield CauseFinding("warning", evidence)
        elif missing_names := sorted(routed_brokers.difference(broker_names or ())):
            evidence = f"the route of proxy {proxy_addr} lacks {join_names(missing_names)}"
            yield CauseFinding("warning", evidence, advice)


def _equal_proxy_routes(facts: RouteFacts) -> CauseFinding:
    count = len(facts.proxy_routes)
    proxies_text = {1: "the proxy has", 2: "both proxies have"}.get(count, f"all {count} proxies have")
    return ok_finding(f"{proxies_text} the brokers that name servers have")


def _answering_brokers(facts: RouteFacts) -> CauseFinding:
    if not facts.views_with_route():
        return skipped_finding("no name server has a route, and no journal names brokers that left")
    answering_addrs = [view.addr for view in facts.broker_views if not is_broker_silent(view)]
    return ok_finding(f"{len(answering_addrs)} brokers answer: {join_names(answering_addrs)}")


ROUTE_CHECKS = (
    CauseCheck("brokersGone", _answering_brokers, _find_gone_brokers),
    CauseCheck(
        "masterMissing", _with_route("each broker of the route has a master"), _find_masterless_brokers
    ),
    CauseCheck(
        "wiped",
        _with_route("no name server lacks a permission that the brokers grant"),
        _find_wiped_permissions,
    ),
    CauseCheck(
        "brokerPermission",
        _with_route("the brokers of the route have the write permission"),
        _find_read_only_brokers,
    ),
    CauseCheck(
        "diskFull",
        _with_route("no answering broker of the route refuses messages because of its disk"),
        _find_full_disks,
    ),
    CauseCheck("topicPermission", _with_route("the topic is readable and writable"), _find_closed_topics),
    CauseCheck(
        "noQueues",
        _with_route("every broker of the route has read queues and write queues"),
        _find_missing_queues,
    ),
    CauseCheck("orderConf", valid_order_conf, find_dead_order_confs),
    CauseCheck("zone", _served_zone, _find_empty_zones),
    CauseCheck[RouteFacts](
        "proxyRoute", _equal_proxy_routes, _find_proxy_differences, applies=lambda f: bool(f.proxy_routes)
    ),
)
ALL_CAUSE_CHECKS: tuple[CauseCheck[RouteFacts], ...] = (
    *NAME_SERVER_CHECKS,
    *REGISTRATION_CHECKS,
    *ROUTE_CHECKS,
)
"""All checks in their order: an earlier cause can hide later ones."""


def explain_route(facts: RouteFacts) -> list[CauseExplanation]:
    """At least one explanation for each cause that applies."""
    is_silent = all(view.is_silent for view in facts.server_views)
    return explain_causes(ALL_CAUSE_CHECKS, facts, "no name server answered" if is_silent else None)
