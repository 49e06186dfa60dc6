"""Checks that clients of every name server can write to and read from a topic."""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.results import error_text, is_not_found
from nsadmin.client.topic_routes import QueueRoute, TopicRoute
from nsadmin.operations.checks import listed_brokers, masters
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.masters import MasterAnswers
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.inventory.keeper import NO_LOST_TOPICS, InventoryKeeper, LostTopics
from nsadmin.operations.slave_reads import find_refusing_slaves


class TopicObservation(NamedTuple):
    """The topic's route at each name server, and what its masters answered.

    `missing_reasons` has the expected brokers that no name server lists, with a description, if they had the
    topic. `unknown_reasons` has those whose topics are not known. `refusing_slaves` do not serve consumers.
    `inventory_problem` says why missing brokers are unknown.
    """

    topic: str
    route_results: Sequence[ServerResult[TopicRoute]]
    master_answers: MasterAnswers
    missing_reasons: Mapping[str, str] = {}
    unknown_reasons: Mapping[str, str] = {}
    refusing_slaves: Set[str] = frozenset()
    inventory_problem: str | None = None


def observe_topic(
    admin: AdminClient, topic: str, inventory: InventoryKeeper | None = None
) -> TopicObservation:
    """Read the topic's routes, ask every master in them, and look for missing brokers."""
    route_results = admin.topics.get_route_each(topic)
    master_addrs = [
        queue_route.broker_addrs.get(MASTER_BROKER_ID)
        for _, topic_route, _ in route_results
        if topic_route
        for queue_route in topic_route.queues
    ]
    master_answers = masters.ask_masters(admin, master_addrs)
    silent_addrs = master_answers.silence_reasons.keys()
    # A slave counts only where no master serves consumers.
    slave_addrs = {
        broker_addr
        for _, topic_route, _ in route_results
        for queue_route in (topic_route.queues if topic_route else ())
        if queue_route.broker_addrs.get(MASTER_BROKER_ID) in (None, *silent_addrs)
        for broker_addr in queue_route.broker_addrs.values()
        if broker_addr not in silent_addrs
    }
    observation = TopicObservation(
        topic, route_results, master_answers, refusing_slaves=find_refusing_slaves(admin, slave_addrs).keys()
    )
    if inventory is None:
        return observation
    lost_topics = _find_lost_topics(admin, topic, route_results, inventory)
    reasons_by_known: dict[bool | None, dict[str, str]] = {True: {}, None: {}, False: {}}
    for broker_name, reason in lost_topics.reasons_by_name.items():
        reasons_by_known[lost_topics.had_topic(broker_name, topic)][broker_name] = reason
    return observation._replace(
        missing_reasons=reasons_by_known[True],
        unknown_reasons=reasons_by_known[None],
        inventory_problem=inventory.problem,
    )


def _find_lost_topics(
    admin: AdminClient,
    topic: str,
    route_results: Sequence[ServerResult[TopicRoute]],
    inventory: InventoryKeeper,
) -> LostTopics:
    broker_listing = listed_brokers.observe_listing(admin)
    if not broker_listing.groups_by_server:
        return NO_LOST_TOPICS
    perms_by_broker = {
        queue_route.broker_name: queue_route.perm or 0
        for route_result in route_results
        for queue_route in (route_result.result.queues if route_result.result else ())
    }
    is_known = any(result.error is None or is_not_found(result.error) for result in route_results)
    seen_placements = {topic: perms_by_broker} if is_known else {}
    return inventory.observe_topics(broker_listing.broker_groups, seen_placements)


class _TopicAvailability(NamedTuple):
    """The topic as clients of one name server can use it.

    `lost_brokers` has the brokers that take no messages, with the reason for each.
    """

    namesrv_addr: str
    writable_count: int
    readable_count: int
    write_queue_count: int
    lost_brokers: Mapping[str, str]


def judge_topic(scale: CheckScale, observation: TopicObservation) -> CheckFinding:
    """Judge by the name server with the fewest writable brokers, because clients may ask any of them."""
    known_results = [
        route_result
        for route_result in observation.route_results
        if route_result.error is None or is_not_found(route_result.error)
    ]
    failure_lines = [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in observation.route_results
        if error is not None and not is_not_found(error)
    ]
    if not known_results:
        return scale.make_unknown_finding(
            "no name server returned its route", failure_lines, observation.topic
        )
    server_views = [
        _assess_route(route_result, observation.master_answers, observation.refusing_slaves)
        for route_result in known_results
    ]
    broker_names = {
        queue_route.broker_name
        for route_result in known_results
        if route_result.result
        for queue_route in route_result.result.queues
    } | observation.missing_reasons.keys()
    worst_view = min(server_views, key=lambda view: view.writable_count)
    samples = [
        scale.make_sample("unwritable", len(broker_names) - worst_view.writable_count),
        scale.make_sample("writable", worst_view.writable_count),
        scale.make_sample("readable", min(view.readable_count for view in server_views)),
        scale.make_sample("writeQueues", min(view.write_queue_count for view in server_views)),
    ]
    unknown_lines = [
        f"{broker_name}: {reason}; nsadmin does not know its topics"
        for broker_name, reason in sorted(observation.unknown_reasons.items())
    ] + observation.master_answers.unknown_lines
    missing_lines = [
        f"{broker_name}: {reason}" for broker_name, reason in sorted(observation.missing_reasons.items())
    ]
    minimum_state = CheckState.WARNING if failure_lines or unknown_lines else CheckState.OK
    return scale.make_finding(
        _format_summary(observation.topic, broker_names, worst_view),
        samples,
        [*_format_losses(server_views), *missing_lines, *unknown_lines, *failure_lines],
        minimum_state=minimum_state,
        about=observation.topic,
    ).with_inventory_problem(observation.inventory_problem)


def _format_summary(topic: str, broker_names: set[str], worst_view: _TopicAvailability) -> str:
    if not broker_names:
        return f"no name server has the topic {topic}"
    return (
        f"{worst_view.writable_count} of {len(broker_names)} brokers of {topic} accept messages "
        f"{masters.LOOKED_AT}"
    )


def _assess_route(
    route_result: ServerResult[TopicRoute], master_answers: MasterAnswers, refusing_slaves: Set[str]
) -> _TopicAvailability:
    queue_routes = route_result.result.queues if route_result.result else ()
    lost_brokers = {
        queue_route.broker_name: loss_reason
        for queue_route in queue_routes
        if (loss_reason := _explain_loss(queue_route, master_answers))
    }
    writable_queues = [
        queue_route for queue_route in queue_routes if queue_route.broker_name not in lost_brokers
    ]
    readable_queues = [
        queue_route
        for queue_route in queue_routes
        if (queue_route.perm or 0) & Perm.READ
        and queue_route.read_queue_ids
        and set(queue_route.broker_addrs.values()) - master_answers.silence_reasons.keys() - refusing_slaves
    ]
    if route_result.result is None:
        lost_brokers = {"": "does not have the topic"}
    return _TopicAvailability(
        route_result.addr,
        len(writable_queues),
        len(readable_queues),
        sum(len(queue_route.write_queue_ids) for queue_route in writable_queues),
        lost_brokers,
    )


def _explain_loss(queue_route: QueueRoute, master_answers: MasterAnswers) -> str | None:
    return masters.explain_unwritable(
        queue_route.perm,
        len(queue_route.write_queue_ids),
        queue_route.broker_addrs.get(MASTER_BROKER_ID),
        master_answers,
    )


def _format_losses(server_views: Sequence[_TopicAvailability]) -> list[str]:
    """Format the losses. A loss that all name servers share gets one line."""
    common_losses = set.intersection(*(set(view.lost_brokers.items()) for view in server_views))
    loss_lines = [
        f"{broker_name}: {loss_reason}" for broker_name, loss_reason in sorted(common_losses) if broker_name
    ]
    for view in server_views:
        own_losses = sorted(set(view.lost_brokers.items()) - common_losses)
        loss_lines += [
            f"name server {view.namesrv_addr}{f': {broker_name}: ' if broker_name else ' '}{loss_reason}"
            for broker_name, loss_reason in own_losses
        ]
    return loss_lines
