"""Executes mapping plans of static topics in an order that loses no message.

Rule: the mapping file holds the plan before any broker is changed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.client.topics.queue_mappings import BrokerQueueShare
from nsadmin.operations.static_topics.mapping_planner import (
    MappingPlan,
    SharesByBroker,
    adopt_known_offsets,
    find_undecided,
    next_block_offset,
    set_offsets,
)

AddrsByBroker = Mapping[str, str]
"""Addresses of masters by broker name."""


class StaticTopicPlacement(NamedTuple):
    """The brokers to use, the brokers that must know the topic, all masters, and their current shares."""

    target_brokers: tuple[str, ...]
    informed_brokers: tuple[str, ...]
    master_addrs: AddrsByBroker
    current_shares: SharesByBroker


def observe_placement(
    admin: AdminClient, topic: str, brokers: Sequence[str], cluster_names: Sequence[str]
) -> StaticTopicPlacement:
    """The current placement. Every master is asked, because each of them may have queues of the topic.

    Raises:
        NotFound: a broker or cluster does not exist.
        NotApplied: a broker has no master or does not answer, or a plain topic has this name.
    """
    cluster_info = admin.clusters.get_info()
    groups_by_name = {group.broker_name: group for group in cluster_info.broker_groups}
    unknown_names = [broker for broker in brokers if broker not in groups_by_name]
    if unknown_names:
        raise NotFound("no name server lists a broker " + " or ".join(f'"{name}"' for name in unknown_names))
    chosen_groups = [groups_by_name[broker] for broker in brokers]
    chosen_groups += [group for cluster in cluster_names for group in cluster_info.groups_in_cluster(cluster)]
    masterless_names = [group.broker_name for group in chosen_groups if group.master_addr is None]
    if masterless_names:
        verb = "has" if len(masterless_names) == 1 else "have"
        raise NotApplied(f"{', '.join(masterless_names)} {verb} no master now")
    master_addrs = {b: g.master_addr for b, g in groups_by_name.items() if g.master_addr is not None}
    results = dict(
        zip(master_addrs, admin.queue_mappings.get_each(topic, master_addrs.values()), strict=True)
    )
    for broker, share_result in results.items():
        if share_result.error is not None:
            raise NotApplied(f"broker {broker}: {share_result.error}")
    chosen_clusters = {group.cluster_name for group in chosen_groups}
    return StaticTopicPlacement(
        tuple(dict.fromkeys(group.broker_name for group in chosen_groups)),
        tuple(broker for broker in master_addrs if groups_by_name[broker].cluster_name in chosen_clusters),
        master_addrs,
        {broker: result.result for broker, result in results.items() if result.result is not None},
    )


class ExecutedPlan(NamedTuple):
    """The plan in its final form, the errors by broker, and the phase in which execution stopped early."""

    final_plan: MappingPlan
    errors_by_broker: Mapping[str, RocketMQError]
    last_phase: str | None = None


def execute_plan(
    admin: AdminClient,
    plan: MappingPlan,
    placement: StaticTopicPlacement,
    keep_plan: Callable[[MappingPlan], None],
    *,
    force: bool = False,
) -> ExecutedPlan:
    """Send the planned shares to the brokers and verify them; `keep_plan` saves the plan with its offsets.

    A move has these phases: prepare the receiving brokers, stop writes on the losing brokers, read the ends
    of their queues, send the final offsets, then update all others. The first failure ends the execution.
    Executing the same plan again is safe.
    """
    plan = adopt_known_offsets(plan, placement.current_shares)
    sender = _ShareSender(admin, placement, force)
    other_brokers = tuple(broker for broker in plan.shares if broker not in {*plan.map_in, *plan.map_out})
    first_phases = (("announcing the new queues", plan.map_in), ("stopping writes", plan.map_out))
    if find_undecided(plan):
        for phase, phase_brokers in first_phases:
            errors = sender.send_shares(plan, phase_brokers)
            if errors:
                return ExecutedPlan(plan, errors, phase)
        try:
            plan = sender.decide_offsets(plan)
        except RocketMQError as error:
            return ExecutedPlan(
                plan, {broker: error for broker in plan.map_out}, "reading the end of each queue"
            )
        keep_plan(plan)
    for phase, phase_brokers in (
        ("setting the start of each queue", plan.map_in),
        ("announcing the lost queues", plan.map_out),
        ("sending the mapping to the other brokers" if plan.map_in else "sending the mapping", other_brokers),
    ):
        errors = sender.send_shares(plan, phase_brokers)
        if errors:
            return ExecutedPlan(plan, errors, phase)
    return ExecutedPlan(plan, sender.verify_shares(plan))


class _ShareSender:
    """Sends shares to brokers and reads them back."""

    def __init__(self, admin: AdminClient, placement: StaticTopicPlacement, force: bool) -> None:
        self._admin, self._master_addrs, self._force = admin, placement.master_addrs, force

    def send_shares(self, plan: MappingPlan, brokers: Iterable[str]) -> dict[str, RocketMQError]:
        brokers = list(brokers)
        masterless_names = [broker for broker in brokers if broker not in self._master_addrs]
        if masterless_names:
            return {broker: NotApplied("the broker has no master now") for broker in masterless_names}
        addressed_shares = [(self._master_addrs[broker], broker, plan.shares[broker]) for broker in brokers]
        answers = self._admin.queue_mappings.put_shares(plan.topic, addressed_shares, force=self._force)
        return {broker: answer.error for broker, answer in zip(brokers, answers, strict=True) if answer.error}

    def decide_offsets(self, plan: MappingPlan) -> MappingPlan:
        """The plan with the start offsets of moved queues, computed from their ends on the old brokers."""
        ends: dict[str, Mapping[int, int]] = {}
        offsets = {}
        for queue, items in find_undecided(plan).items():
            previous = items[-2]
            if previous.bname not in ends:
                result = self._admin.queue_mappings.get_queue_ends(
                    plan.topic, self._master_addrs[previous.bname]
                )
                if result.error is not None or result.result is None:
                    raise result.error or NotApplied(
                        f"{previous.bname} did not return the ends of its queues"
                    )
                ends[previous.bname] = result.result
            if previous.queue_id not in ends[previous.bname]:
                raise NotApplied(f"{previous.bname} did not return the end of its queue {previous.queue_id}")
            offsets[queue] = next_block_offset(previous, ends[previous.bname][previous.queue_id])
        return set_offsets(plan, offsets)

    def verify_shares(self, plan: MappingPlan) -> dict[str, RocketMQError]:
        """The errors of brokers whose share differs from the planned one."""
        brokers = list(plan.shares)
        results = self._admin.queue_mappings.get_each(
            plan.topic, [self._master_addrs[broker] for broker in brokers]
        )
        return {
            broker: result.error or NotApplied("the broker reported success, but has another mapping")
            for broker, result in zip(brokers, results, strict=True)
            if result.error is not None or not _is_wanted_share(result.result, plan.shares[broker])
        }


def _is_wanted_share(found: BrokerQueueShare | None, wanted: BrokerQueueShare) -> bool:
    """Whether the share is the wanted one. A broker may have dropped queues that it no longer serves."""
    if found is None or (found.epoch, found.total_queues) != (wanted.epoch, wanted.total_queues):
        return False
    return all(wanted.hosted_queues.get(queue) == items for queue, items in found.hosted_queues.items())
