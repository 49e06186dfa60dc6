"""Causes between brokers and name servers: whether the topic exists and is registered. Pure."""

from collections.abc import Iterator, Sequence

from nsadmin.client.did_you_mean import find_similar_names
from nsadmin.client.results import error_text, is_not_found
from nsadmin.client.topics.topic_configs import DEFAULT_TOPIC
from nsadmin.client.topics.topic_views import BrokerTopicView, NameServerTopicView
from nsadmin.console.phrases import format_utc_second
from nsadmin.operations.explain.facts import JournaledChange, RouteFacts, groups_by_name, is_broker_absent
from nsadmin.operations.explain.findings import (
    Advice,
    CauseCheck,
    CauseFinding,
    FindingResult,
    join_names,
    ok_finding,
    skipped_finding,
)


def _find_unregistered_topic(facts: RouteFacts) -> Iterator[CauseFinding]:
    if facts.brokers_with_topic():
        return
    silent_addrs = [
        view.addr
        for view in facts.broker_views
        if view.topic_config.result is None and not _denies_topic(view)
    ]
    lost_brokers = facts.lost_brokers()
    if any(broker.had_topic for broker in lost_brokers):
        return
    topic_is_denied = any(_denies_topic(view) for view in facts.broker_views)
    left_over_addrs = [] if silent_addrs or lost_brokers else _find_left_over(facts)
    for view in facts.views_without_route():
        parts = ["no route for the topic", "no broker answered whether it has the topic"]
        if view.default_route.result and any(_auto_creates_topics(b) for b in _master_views(facts)):
            # For producers it is no cause: see autoCreateOff.
            parts[0] = "consumers find no route for the topic"
        if topic_is_denied:
            parts[1] = "the brokers that answered do not have the topic"
        if silent_addrs:
            parts.append(f"{join_names(silent_addrs)} did not answer")
        parts += [f"{b.broker_name} possibly had the topic and is {b.description}" for b in lost_brokers]
        parts += _describe_deletions(facts)
        if left_over_addrs:
            parts.append(f"the topic was deleted, but not on {join_names(left_over_addrs)}")
        if similar := find_similar_topics(facts.topic, view):
            parts.append(f"similar topics exist: {join_names(similar)}; check the spelling and the namespace")
        broker_is_gone = lost_brokers or any(evidence.gone_brokers for evidence in facts.memories)
        advice: Advice | None = None
        if left_over_addrs:
            advice = _advise_deletion(facts)
        elif topic_is_denied and not broker_is_gone:
            advice = _advise_creation(facts, view)
            if similar:
                advice = advice._replace(instruction=f"if the name is right, {advice.instruction}")
        result: FindingResult = "cause" if topic_is_denied and not lost_brokers else "unknown"
        yield CauseFinding(result, "; ".join(parts), advice, view.addr)


def _denies_topic(broker: BrokerTopicView) -> bool:
    """Whether a broker answered that it does not have the topic."""
    return is_not_found(broker.topic_config.error)


def _registered_topic(facts: RouteFacts) -> CauseFinding:
    addrs_with_route = [view.addr for view, _ in facts.views_with_route()]
    if addrs_with_route:
        return ok_finding(f"a route exists on {join_names(addrs_with_route)}")
    lost_names = [broker.broker_name for broker in facts.lost_brokers()]
    if lost_names:
        return skipped_finding(f"{join_names(lost_names)} had the topic and is missing")
    if broker_names := facts.brokers_with_topic().keys():
        return ok_finding(f"{join_names(broker_names)} has the topic")
    return skipped_finding("no name server answered")


def _advise_creation(facts: RouteFacts, view: NameServerTopicView) -> Advice:
    names = view.cluster_info.result.cluster_names if view.cluster_info.result else ()
    is_open = facts.question.cluster_name is None or facts.unknown_cluster
    choice = f" in one of {join_names(names)}" if len(names) > 1 and is_open else ""
    return Advice(f"create the topic{choice}", ("updateTopic", facts.topic, "-c", facts.cluster_name))


def _find_left_over(facts: RouteFacts) -> list[str]:
    """The name servers with a route of a topic that no broker has, as `divergence` finds it."""
    if not facts.broker_views or not all(map(_denies_topic, facts.broker_views)):
        return []
    return [view.addr for view, _ in facts.views_with_route()]


def _advise_deletion(facts: RouteFacts) -> Advice:
    return Advice(
        "either create it again, or delete the rest of it on every name server",
        ("deleteTopic", facts.topic, facts.cluster_name),
    )


def _describe_deletions(facts: RouteFacts) -> list[str]:
    deletions = [evidence.topic_deletion for evidence in facts.memories]
    return [f"{describe_change(deletion)}: deleted" for deletion in deletions if deletion is not None]


def describe_change(change: JournaledChange) -> str:
    """The source, time, cause and client of a change: "the journal of ns-1, 2026-…, WIPE… by 10.0.0.9:1"."""
    client_remark = f" by {change.client_addr}" if change.client_addr else ""
    return (
        f"the journal of {change.namesrv_name}, {format_utc_second(change.time_ms)}, "
        f"{change.event_cause}{client_remark}"
    )


def find_similar_topics(topic: str, view: NameServerTopicView) -> list[str]:
    """Topics with a similar name, or with the same name in a namespace."""
    topic_names = (view.topic_names.result if view.topic_names is not None else None) or ()
    namespaced_names = [
        name for name in topic_names if name.endswith(f"%{topic}") or topic.endswith(f"%{name}")
    ]
    # Comparison is slow: with many names, compare only those of about the same length.
    similar_names = find_similar_names(
        topic, (name for name in topic_names if abs(len(name) - len(topic)) <= 2), 0.8
    )
    return [name for name in dict.fromkeys((*namespaced_names, *similar_names)) if name != topic]


def _find_disabled_auto_create(facts: RouteFacts) -> Iterator[CauseFinding]:
    if _is_known_somewhere(facts) or not facts.views_without_route():
        return
    for broker in _master_views(facts):
        if broker.config.result and broker.config.result.get("autoCreateTopicEnable") == "false":
            name = broker.broker_name
            evidence = f"{name} does not create topics automatically: autoCreateTopicEnable=false"
            advice = Advice("create the topic", ("updateTopic", facts.topic, "-b", broker.addr))
            if _find_left_over(facts):
                advice = _advise_deletion(facts)
            yield CauseFinding("cause", evidence, advice, None, name, broker.addr)
    if any(_auto_creates_topics(view) for view in _master_views(facts)):
        for view in facts.views_without_route():
            if view.default_route.result is None:
                evidence = (
                    "brokers create topics automatically, but this name server has no route of "
                    f"{DEFAULT_TOPIC}, which producers need for it"
                )
                yield CauseFinding("warning", evidence, None, view.addr)


def _is_known_somewhere(facts: RouteFacts) -> bool:
    """Whether a broker has the topic, or a missing broker had it or may have had it."""
    return bool(facts.brokers_with_topic() or facts.lost_brokers())


def _master_views(facts: RouteFacts) -> list[BrokerTopicView]:
    return [
        view
        for view in facts.broker_views
        if (view.config.result or {}).get("brokerRole", "SLAVE") != "SLAVE"
    ]


def _auto_creates_topics(broker: BrokerTopicView) -> bool:
    return (broker.config.result or {}).get("autoCreateTopicEnable") == "true"


def _auto_creation_state(facts: RouteFacts) -> CauseFinding:
    if _is_known_somewhere(facts) or not facts.views_without_route():
        if facts.views_without_route() and not facts.brokers_with_topic():
            names = join_names(broker.broker_name for broker in facts.lost_brokers())
            return skipped_finding(f"the topic may be on {names}, which is missing")
        return ok_finding("the topic exists: brokers need not create it")
    creating_names = [
        view.broker_name or view.addr for view in _master_views(facts) if _auto_creates_topics(view)
    ]
    if not creating_names:
        return CauseFinding("unknown", "no master reported whether it creates topics automatically")
    return ok_finding(
        f"producers can send: {join_names(creating_names)} will create the topic with the first message; "
        "consumers find no route until then"
    )


def _find_topics_on_broker_only(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view in facts.server_views:
        if view.route.result is None and not view.has_no_route:
            continue
        routed_names = {q.broker_name for q in view.route.result.queues} if view.route.result else set()
        for name, broker_views in facts.brokers_with_topic().items():
            if name not in routed_names and name in groups_by_name(view):
                deletions = "".join(f"; {deletion}" for deletion in _describe_deletions(facts))
                evidence = f"{name} has the topic and is registered here, but without this topic{deletions}"
                advice = Advice(
                    "wait 30 s for its next registration; 4.x name servers accept the "
                    "topic only with a full registration",
                    ("repair", "register", name),
                )
                severity = facts.problem_severity(view)
                yield CauseFinding(severity, evidence, advice, view.addr, name, broker_views[0].addr)


def find_missing_brokers(facts: RouteFacts) -> list[str]:
    """The brokers that have the topic but are missing on a name server or in its route."""
    return [
        views[0].addr
        for name, views in facts.brokers_with_topic().items()
        if any(_lacks_topic_of_broker(view, name, views) for view in facts.server_views)
    ]


def _lacks_topic_of_broker(
    view: NameServerTopicView, broker_name: str, broker_views: Sequence[BrokerTopicView]
) -> bool:
    route = view.route.result
    if route is None:
        return view.has_no_route
    if view.cluster_info.result is not None and is_broker_absent(view, broker_name, broker_views):
        return True
    return broker_name not in {queue.broker_name for queue in route.queues}


def _find_large_registrations(facts: RouteFacts) -> Iterator[CauseFinding]:
    names_by_addr = {view.addr: view.broker_name for view in facts.broker_views}
    for broker_addr, size in facts.sizes.items():
        name = names_by_addr.get(broker_addr)
        if size.result is None:
            error_remark = error_text(size.error) if size.error is not None else "no answer"
            evidence = f"its topics could not be read: {error_remark}"
            yield CauseFinding("unknown", evidence, None, None, name, broker_addr)
        elif size.result.size_bytes > size.result.limit_bytes:
            size_bytes, limit_bytes, topic_count = size.result
            evidence = (
                f"the registration of {topic_count} topics has {size_bytes} bytes, but name servers accept "
                f"{limit_bytes} at most: they close the connection"
            )
            advice = Advice(
                "set enableSplitRegistration (5.x) or compressedRegister, or delete topics",
                ("registrationSize", "-b", broker_addr, "--removable"),
            )
            yield CauseFinding("cause", evidence, advice, None, name, broker_addr)


def _largest_registration(facts: RouteFacts) -> CauseFinding:
    if not facts.sizes:
        return skipped_finding("every broker is registered everywhere with its topics")
    largest_bytes = max(size.result.size_bytes for size in facts.sizes.values() if size.result is not None)
    return ok_finding(f"the largest registration has {largest_bytes} bytes; name servers accept 16777216")


REGISTRATION_CHECKS = (
    CauseCheck("topicNotRegistered", _registered_topic, _find_unregistered_topic),
    CauseCheck("autoCreateOff", _auto_creation_state, _find_disabled_auto_create),
    CauseCheck(
        "topicOnBrokerOnly",
        "name servers have the topic from each broker that has it",
        _find_topics_on_broker_only,
    ),
    CauseCheck("registrationTooLarge", _largest_registration, _find_large_registrations),
)
