"""Causes between brokers and name servers: whether the topic exists and is registered. Pure."""

from collections.abc import Iterator, Sequence

from nsadmin.client.results import error_text, is_not_found
from nsadmin.client.topic_configs import DEFAULT_TOPIC
from nsadmin.client.topic_views import BrokerView, NameServerView
from nsadmin.likeness import like
from nsadmin.operations.explain.facts import Deed, Facts, groups, is_absent
from nsadmin.operations.explain.findings import Advice, Finding, Step, listed, ok, skipped, typed
from nsadmin.wording import to_the_second


def _not_registered(facts: Facts) -> Iterator[Finding]:
    if facts.holders():
        return
    silent = [
        broker.addr for broker in facts.brokers if broker.topic.result is None and not _told_none(broker)
    ]
    told_none = any(_told_none(broker) for broker in facts.brokers)
    for view in facts.lacking():
        parts = [
            "no route here",
            "no broker that told has it" if told_none else "no broker told whether it has it",
        ]
        if silent:
            parts.append(f"{listed(silent)} did not tell")
        parts += [_deleted(memory.deleted) for memory in facts.memories if memory.deleted is not None]
        near = alike(facts.topic, view)
        if near:
            parts.append(f"there is {listed(near)}: mind how it is written, and namespaces")
        is_gone = any(memory.gone for memory in facts.memories)
        step = _create(facts, view) if told_none and not is_gone else None
        yield Finding("cause" if told_none else "unknown", "; ".join(parts), step, view.addr)


def _told_none(broker: BrokerView) -> bool:
    """Whether a broker answered that it does not have the topic."""
    return is_not_found(broker.topic.error)


def _registered(facts: Facts) -> Finding:
    having = [view.addr for view, _ in facts.routed()]
    if having:
        return ok(f"there is a route on {listed(having)}")
    return ok(f"{listed(facts.holders())} has it") if facts.holders() else skipped("no name server tells")


def _create(facts: Facts, view: NameServerView) -> Advice:
    clusters = view.members.result.cluster_names if view.members.result else ()
    where = facts.question.cluster or (clusters[0] if len(clusters) == 1 else "CLUSTER")
    return typed("updateTopic", facts.topic, "-c", where, words="create it")


def _deleted(deed: Deed) -> str:
    return f"{told(deed)}: deleted"


def told(deed: Deed) -> str:
    """The source, time, cause and client of a change: "the journal of ns-1, 2026-…, WIPE… by 10.0.0.9:1"."""
    by = f" by {deed.client}" if deed.client else ""
    return f"the journal of {deed.server}, {to_the_second(deed.time)}, {deed.cause}{by}"


def alike(topic: str, view: NameServerView) -> list[str]:
    """Topics with a similar name, or with the same name in a namespace."""
    names = (view.names.result if view.names is not None else None) or ()
    spaced = [name for name in names if name.endswith(f"%{topic}") or topic.endswith(f"%{name}")]
    # Comparison is slow: with many names, compare only those of about the same length.
    close = like(topic, (name for name in names if abs(len(name) - len(topic)) <= 2), 0.8)
    return [name for name in dict.fromkeys((*spaced, *close)) if name != topic]


def _auto_create(facts: Facts) -> Iterator[Finding]:
    if facts.holders() or not any(True for _ in facts.lacking()):
        return
    for broker in _masters(facts):
        if broker.config.result and broker.config.result.get("autoCreateTopicEnable") == "false":
            yield Finding(
                "cause",
                f"{broker.broker_name} creates no topic by itself: autoCreateTopicEnable=false",
                typed("updateTopic", facts.topic, "-b", broker.addr, words="create it"),
                None,
                broker.broker_name,
                broker.addr,
            )
    if any(_creates(broker) for broker in _masters(facts)):
        for view in facts.lacking():
            if view.default_route.result is None:
                yield Finding(
                    "warning",
                    f"brokers create topics by themselves, but it has no route of {DEFAULT_TOPIC},"
                    " by which producers find them",
                    None,
                    view.addr,
                )


def _masters(facts: Facts) -> list[BrokerView]:
    return [
        broker
        for broker in facts.brokers
        if (broker.config.result or {}).get("brokerRole", "SLAVE") != "SLAVE"
    ]


def _creates(broker: BrokerView) -> bool:
    return (broker.config.result or {}).get("autoCreateTopicEnable") == "true"


def _auto_create_well(facts: Facts) -> Finding:
    if facts.holders() or not any(True for _ in facts.lacking()):
        return ok("there is nothing to create")
    creating = [broker.broker_name or broker.addr for broker in _masters(facts) if _creates(broker)]
    if not creating:
        return Finding("unknown", "no master told whether it creates topics by itself")
    return ok(f"{listed(creating)} would create it with a first message; till then consumers find nothing")


def _on_broker_only(facts: Facts) -> Iterator[Finding]:
    for view in facts.views:
        if view.route.result is None and not view.has_no_route:
            continue
        present = {queue.broker_name for queue in view.route.result.queues} if view.route.result else set()
        for name, brokers in facts.holders().items():
            if name not in present and name in groups(view):
                config = brokers[0].topic.result
                more = (config.read_queue_nums if config else 8) + 1
                yield Finding(
                    facts.severity(view),
                    f"{name} has it and is registered here, but not with this topic{_who_deleted(facts)}",
                    typed(
                        "updateTopic",
                        facts.topic,
                        "-b",
                        brokers[0].addr,
                        "-r",
                        str(more),
                        words="wait 30 s for its next registration; 4.x servers take it when it changes",
                    ),
                    view.addr,
                    name,
                    brokers[0].addr,
                )


def _who_deleted(facts: Facts) -> str:
    deeds = [memory.deleted for memory in facts.memories if memory.deleted is not None]
    return "".join(f"; {_deleted(deed)}" for deed in deeds)


def missing_somewhere(facts: Facts) -> list[str]:
    """The brokers that have the topic but are missing on a name server or in its route."""
    return [
        brokers[0].addr
        for name, brokers in facts.holders().items()
        if any(_lacks(view, name, brokers) for view in facts.views)
    ]


def _lacks(view: NameServerView, name: str, brokers: Sequence[BrokerView]) -> bool:
    route = view.route.result
    if route is None and not view.has_no_route:
        return False
    is_told = view.members.result is not None and is_absent(view, name, brokers)
    return is_told or route is None or name not in {queue.broker_name for queue in route.queues}


def _too_large(facts: Facts) -> Iterator[Finding]:
    names = {broker.addr: broker.broker_name for broker in facts.brokers}
    for addr, measured in facts.sizes.items():
        if measured.result is None:
            said = error_text(measured.error) if measured.error is not None else "nothing told"
            yield Finding("unknown", f"its topics cannot be read: {said}", None, None, names.get(addr), addr)
        elif measured.result.size > measured.result.limit:
            size, limit, topics = measured.result
            yield Finding(
                "cause",
                f"the registration of {topics} topics has {size} bytes, and name servers take {limit}:"
                " they close the connection",
                typed(
                    "registrationSize",
                    "-b",
                    addr,
                    "--removable",
                    words="set enableSplitRegistration (5.x) or compressedRegister, or delete topics",
                ),
                None,
                names.get(addr),
                addr,
            )


def _too_large_well(facts: Facts) -> Finding:
    if not facts.sizes:
        return skipped("nothing that a broker has is missing on a name server")
    largest = max(found.result.size for found in facts.sizes.values() if found.result is not None)
    return ok(f"the largest has {largest} bytes; name servers take 16777216")


STEPS = (
    Step("topicNotRegistered", _registered, _not_registered),
    Step("autoCreateOff", _auto_create_well, _auto_create),
    Step("topicOnBrokerOnly", "name servers have it from each broker that has it", _on_broker_only),
    Step("registrationTooLarge", _too_large_well, _too_large),
)
