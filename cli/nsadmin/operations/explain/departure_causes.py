"""Causes outside a route: brokers that left all name servers and took their part of the topic along. Pure."""

from collections.abc import Iterator

from nsadmin.operations.explain.facts import RouteFacts, groups_by_name
from nsadmin.operations.explain.findings import CauseFinding, FindingResult, advise_command, join_names
from nsadmin.operations.explain.registration_causes import describe_change
from nsadmin.operations.inventory.records import RETENTION_MS


def find_departed_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    """Findings from inventory, journals and topic lists about brokers that took routes with them."""
    yield from _find_missing_brokers(facts)
    for view in facts.views_without_route():
        if facts.topic in ((view.topic_names.result if view.topic_names else None) or ()):
            yield CauseFinding(
                "cause",
                "the name server lists the topic, but none of the topic's brokers is registered",
                advise_command(
                    "clusterList",
                    instruction="start the brokers of the topic again; to see which brokers are registered",
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
                advise_command(
                    "updateTopic",
                    facts.topic,
                    "-c",
                    "CLUSTER",
                    instruction=f"start {broker_name} again, or create the topic on another broker",
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
                advise_command("clusterList", instruction=f"start {lost.broker_name}, or stop expecting it"),
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
                advise_command(
                    "inventory",
                    "forget",
                    broker_name,
                    instruction=f"start {broker_name} again, or, if you removed it on purpose, forget it",
                ),
                None,
                broker_name,
                last_addrs[0] if last_addrs else None,
            )


def _severity_of_departure(facts: RouteFacts) -> FindingResult:
    """The severity of a broker that left with its queues: "warning" if clients find others everywhere."""
    answering_views = [view for view in facts.server_views if not view.is_silent]
    return "warning" if all(facts.has_writable_queue(view) for view in answering_views) else "cause"
