"""Causes inside a route: gone brokers, queues without write permission, dead order configurations. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm, perm_text
from nsadmin.client.advised_command import quote_command
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
    CauseFinding,
    FindingResult,
    advise_on_missing,
    join_names,
    ok_finding,
    skipped_finding,
)
from nsadmin.operations.explain.registration_causes import describe_change
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
            yield CauseFinding(
                "cause",
                f'clients cannot parse the order configuration "{route.order_topic_conf}": {error}',
                _advise_order_conf(facts, writable, "send to the queues of the route"),
                view.addr,
            )
            continue
        dead_names = [name for name in queues_by_broker if not has_registered_master(view, name)]
        dead_names += [
            queue.broker_name
            for queue in route.queues
            if queue.broker_name in queues_by_broker
            and facts.silence_error(queue.broker_addrs.get(MASTER_BROKER_ID))
        ]
        if dead_names:
            lost_queues, ordered_queues = (
                sum(queues_by_broker[name] for name in set(dead_names)),
                sum(queues_by_broker.values()),
            )
            evidence = (
                "the order configuration names brokers without a master: "
                f"{join_names(dict.fromkeys(dead_names))}; sends to {lost_queues} of {ordered_queues} "
                "queues fail"
            )
            kept = {name: count for name, count in queues_by_broker.items() if name not in dead_names}
            start = f"start {join_names(dict.fromkeys(dead_names))} again"
            advice = _advise_order_conf(
                facts, kept, f"{start}; only if that takes long, send to the other brokers"
            )
            yield CauseFinding(
                "cause" if lost_queues == ordered_queues else "warning",
                evidence,
                advice or Advice(start),
                view.addr,
            )


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
            yield CauseFinding(
                "cause",
                "the name server lists the topic, but none of the topic's brokers is registered",
                Advice(
                    "start the brokers of the topic again; to see which brokers are registered",
                    ("clusterList",),
                ),
                view.addr,
            )
    present_names = {
        *facts.brokers_with_topic(),
        *facts.removed_brokers,
        *(broker.broker_name for broker in facts.lost_brokers()),
        *(name for view in facts.server_views for name in groups_by_name(view)),
    }
    severity = _severity_of_departure(facts)
    for evidence in facts.memories:
        for broker_name, journaled_change in sorted(evidence.gone_brokers.items()):
            is_old = facts.now_ms - journaled_change.time_ms > RETENTION_MS
            if broker_name in present_names or (severity == "warning" and is_old):
                continue
            last_addrs = evidence.last_addrs.get(broker_name, ())
            addr_remark = f" ({join_names(last_addrs)})" if last_addrs else ""
            yield CauseFinding(
                severity,
                f"the topic was on {broker_name}{addr_remark}, which left: "
                f"{describe_change(journaled_change)}",
                Advice(
                    f"start {broker_name} again, or create the topic on another broker",
                    ("updateTopic", facts.topic, "-c", facts.cluster_name),
                ),
                None,
                broker_name,
                last_addrs[0] if last_addrs else None,
            )


def _find_missing_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    """Findings about expected brokers that no name server lists, unless they never had the topic."""
    for lost in facts.lost_brokers():
        if lost.had_topic is None:
            yield CauseFinding(
                "unknown",
                f"{lost.broker_name} is {lost.description}; nsadmin does not know its topics",
                advise_on_missing(lost.broker_name),
                None,
                lost.broker_name,
                lost.last_addrs[0] if lost.last_addrs else None,
            )
        else:
            broker_name, last_addrs = lost.broker_name, lost.last_addrs
            addr_remark = f" ({join_names(last_addrs)})" if last_addrs else ""
            yield CauseFinding(
                _severity_of_departure(facts),
                f"the topic was on {broker_name}{addr_remark}, which is {lost.description}",
                advise_on_missing(broker_name),
                None,
                broker_name,
                last_addrs[0] if last_addrs else None,
            )


def _severity_of_departure(facts: RouteFacts) -> FindingResult:
    """The severity of a broker that left with its queues: "warning" if clients find others everywhere."""
    answering_views = [view for view in facts.server_views if not view.is_silent]
    return "warning" if all(facts.has_writable_queue(view) for view in answering_views) else "cause"


def _find_gone_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        for queue in route.queues:
            master_addr = queue.broker_addrs.get(MASTER_BROKER_ID)
            if not queue.broker_addrs:
                evidence = f"{queue.broker_name} has queues in the route, but is not registered: it left"
                yield _finding_about_queue(facts, view, queue, evidence, Advice("", ("clusterList",)))
            elif (error := facts.silence_error(master_addr)) is not None:
                former_addr = facts.former_addrs.get(master_addr or "")
                evidence = (
                    f"{queue.broker_name} is registered, but its master does not "
                    f"answer: {explain_silence(error, former_addr)}"
                )
                instruction = (
                    "start the broker again; if it runs, check the network to it, and pass --addressMap if "
                    "only nsadmin cannot reach it"
                )
                advice = Advice(instruction, ("brokerStatus", "-b", former_addr or master_addr or ""))
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
    return CauseFinding(
        result or facts.problem_severity(view),
        evidence,
        advice,
        view.addr,
        queue.broker_name,
        queue.broker_addrs.get(MASTER_BROKER_ID),
    )


def _find_masterless_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        for queue in route.queues:
            if queue.broker_addrs and not has_registered_master(view, queue.broker_name):
                addr_group = groups_by_name(view).get(queue.broker_name)
                addrs_by_id = addr_group.broker_addrs if addr_group else queue.broker_addrs
                slave_list = join_names(f"{broker_id}={addr}" for broker_id, addr in addrs_by_id.items())
                evidence = (
                    f"{queue.broker_name} has no master, only {slave_list}: clients "
                    f"{_describe_slave_reads(facts, addrs_by_id.values())}"
                )
                yield _finding_about_queue(
                    facts, view, queue, evidence, _advise_master_start(facts, queue.broker_name)
                )
    for view in facts.views_without_route():
        for broker_name in facts.brokers_with_topic():
            if broker_name in groups_by_name(view) and not has_registered_master(view, broker_name):
                evidence = (
                    f"{broker_name} has no master here, and older name servers accept no topics from slaves"
                )
                yield CauseFinding(
                    "cause", evidence, _advise_master_start(facts, broker_name), view.addr, broker_name
                )


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
    for view, route in facts.views_with_route():
        for queue in route.queues:
            if (
                queue.perm is not None
                and has_registered_master(view, queue.broker_name)
                and not queue.perm & Perm.WRITE
            ):
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
        broker_permission, topic_permission = (
            _broker_permission(facts, queue),
            _topic_permission(facts, queue),
        )
        shown_permission = f"{queue.broker_name} has permission {perm_text(queue.perm or 0)} here"
        broker = facts.master_of_queue(queue)
        if broker_permission is None or topic_permission is None:
            is_deleted = broker is not None and is_not_found(broker.topic_config.error)
            evidence = (
                "the broker does not have the topic any more"
                if is_deleted
                else "the broker did not return its own permission"
            )
            yield _finding_about_queue(
                facts, view, queue, f"{shown_permission}; {evidence}", None, None if is_deleted else "unknown"
            )
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
                f"if the broker was drained, run `{quote_command('undrain', queue.broker_name)}`; "
                "otherwise restore the broker's own permissions",
                ("repair", "wipe", queue.broker_name, "-n", SERVERS_PLACEHOLDER),
            )
            yield _finding_about_queue(facts, view, queue, evidence, advice)


def _find_full_disks(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        for queue in route.queues:
            master_addr = queue.broker_addrs.get(MASTER_BROKER_ID, "")
            refusal, unknown = (
                states.get(master_addr) for states in (facts.disks.refusals, facts.disks.unknown)
            )
            if refusal is not None:
                advice = Advice(
                    "free space on this disk; the broker accepts messages again within 10 s",
                    ("brokerStatus", "-b", master_addr),
                )
                evidence = f"{queue.broker_name} {refusal}"
                yield _finding_about_queue(facts, view, queue, evidence, advice)
            elif unknown is not None:
                evidence = f"{queue.broker_name} {unknown}"
                yield _finding_about_queue(facts, view, queue, evidence, None, "unknown")


def _find_read_only_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, queue in _unwritable_queues(facts):
        broker_permission = _broker_permission(facts, queue)
        if broker_permission is not None and not broker_permission & Perm.WRITE:
            master_addr = queue.broker_addrs.get(MASTER_BROKER_ID)
            evidence = f"{queue.broker_name} has no write permission: brokerPermission={broker_permission}"
            advice = Advice(
                "", ("updateBrokerConfig", "brokerPermission", "6", "-b", master_addr or queue.broker_name)
            )
            yield _finding_about_queue(facts, view, queue, evidence, advice)


def _find_closed_topics(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, queue in _unwritable_queues(facts):
        topic_permission = _topic_permission(facts, queue)
        if topic_permission is not None and not topic_permission & Perm.WRITE:
            master_addr = queue.broker_addrs.get(MASTER_BROKER_ID)
            evidence = f"{queue.broker_name} has the topic with permission {perm_text(topic_permission)}"
            advice = Advice(
                "",
                (
                    "updateTopicPerm",
                    facts.topic,
                    str(topic_permission | int(Perm.WRITE)),
                    "-b",
                    master_addr or queue.broker_name,
                ),
            )
            yield _finding_about_queue(facts, view, queue, evidence, advice)
    for view, route in facts.views_with_route():
        readable_queues = [queue for queue in route.queues if (queue.perm or 0) & Perm.READ]
        if not readable_queues and route.queues:
            shown_permissions = join_names(
                f"{queue.broker_name} {perm_text(queue.perm or 0)}" for queue in route.queues
            )
            advice = Advice("", ("updateTopicPerm", facts.topic, "6", "-c", facts.cluster_name))
            yield CauseFinding(
                "cause", f"no queue has read permission: {shown_permissions}", advice, view.addr
            )


def _find_missing_queues(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        for queue in route.queues:
            if queue.perm is None:
                evidence = f"{queue.broker_name} is in the route without queues"
                yield _finding_about_queue(
                    facts, view, queue, evidence, Advice("", ("topicRoute", facts.topic))
                )
            elif not queue.write_queue_ids or not queue.read_queue_ids:
                evidence = (
                    f"{queue.broker_name} has {count_noun(len(queue.write_queue_ids), 'write queue')} and "
                    f"{count_noun(len(queue.read_queue_ids), 'read queue')}"
                )
                master_addr = queue.broker_addrs.get(MASTER_BROKER_ID)
                advice = Advice(
                    "",
                    (
                        "updateTopic",
                        facts.topic,
                        "-b",
                        master_addr or queue.broker_name,
                        "-r",
                        "8",
                        "-w",
                        "8",
                    ),
                )
                result: FindingResult | None = (
                    None if not queue.write_queue_ids else _severity_of_unreadable(view)
                )
                yield _finding_about_queue(facts, view, queue, evidence, advice, result)


def _severity_of_unreadable(view: NameServerTopicView) -> FindingResult:
    """The severity of unreadable queues: "warning" while other queues of the route can be read."""
    queue_routes = view.route.result.queues if view.route.result else ()
    return (
        "warning"
        if any((route.perm or 0) & Perm.READ and route.read_queue_ids for route in queue_routes)
        else "cause"
    )


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


def _all_clear_with_route(ok_text: str) -> Callable[[RouteFacts], CauseFinding]:
    def all_clear(facts: RouteFacts) -> CauseFinding:
        return (
            ok_finding(ok_text)
            if any(True for _ in facts.views_with_route())
            else skipped_finding("no name server has a route")
        )

    return all_clear


def _answering_brokers(facts: RouteFacts) -> CauseFinding:
    if not any(True for _ in facts.views_with_route()):
        return skipped_finding("no name server has a route, and no journal names brokers that left")
    answering_addrs = [view.addr for view in facts.broker_views if not is_broker_silent(view)]
    return ok_finding(f"{len(answering_addrs)} brokers answer: {join_names(answering_addrs)}")


ROUTE_CHECKS = (
    CauseCheck("brokersGone", _answering_brokers, _find_gone_brokers),
    CauseCheck(
        "masterMissing",
        _all_clear_with_route("each broker of the route has a master"),
        _find_masterless_brokers,
    ),
    CauseCheck(
        "wiped",
        _all_clear_with_route("no name server lacks a permission that the brokers grant"),
        _find_wiped_permissions,
    ),
    CauseCheck(
        "brokerPermission",
        _all_clear_with_route("the brokers of the route have the write permission"),
        _find_read_only_brokers,
    ),
    CauseCheck(
        "diskFull",
        _all_clear_with_route("no answering broker of the route refuses messages because of its disk"),
        _find_full_disks,
    ),
    CauseCheck(
        "topicPermission", _all_clear_with_route("the topic is readable and writable"), _find_closed_topics
    ),
    CauseCheck(
        "noQueues",
        _all_clear_with_route("every broker of the route has read queues and write queues"),
        _find_missing_queues,
    ),
    CauseCheck("orderConf", valid_order_conf, find_dead_order_confs),
    CauseCheck("zone", _served_zone, _find_empty_zones),
)
