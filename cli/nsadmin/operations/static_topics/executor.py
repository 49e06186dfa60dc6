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
    admin: AdminClient, topic: str, broker_names: Sequence[str], cluster_names: Sequence[str]
) -> StaticTopicPlacement:
    """The current placement. Every master is asked, because each of them may have queues of the topic.

    Raises:
        NotFound: a broker or cluster does not exist.
        NotApplied: a broker has no master or does not answer, or a plain topic has this name.
    """
    cluster_info = admin.clusters.get_info()
    groups_by_name = {group.broker_name: group for group in cluster_info.broker_groups}
    unknown_names = [broker for broker in broker_names if broker not in groups_by_name]
    if unknown_names:
        raise NotFound(f"the brokers {', '.join(unknown_names)} are not registered")
    chosen_groups = [groups_by_name[broker] for broker in broker_names]
    chosen_groups += [group for cluster in cluster_names for group in cluster_info.groups_in_cluster(cluster)]
    masterless_names = [group.broker_name for group in chosen_groups if group.master_addr is None]
    if masterless_names:
        raise NotApplied(f"no master now for {', '.join(masterless_names)}")
    master_addrs = {
        broker: group.master_addr for broker, group in groups_by_name.items() if group.master_addr is not None
    }
    results_by_broker = dict(
        zip(master_addrs, admin.queue_mappings.get_each(topic, master_addrs.values()), strict=True)
    )
    for broker_name, share_result in results_by_broker.items():
        if share_result.error is not None:
            raise NotApplied(f"broker {broker_name}: {share_result.error}")
    chosen_clusters = {group.cluster_name for group in chosen_groups}
    return StaticTopicPlacement(
        tuple(dict.fromkeys(group.broker_name for group in chosen_groups)),
        tuple(broker for broker in master_addrs if groups_by_name[broker].cluster_name in chosen_clusters),
        master_addrs,
        {broker: result.result for broker, result in results_by_broker.items() if result.result is not None},
    )


class ExecutedPlan(NamedTuple):
    """The plan in its final form, the errors by broker, and the phase in which execution stopped early."""

    final_plan: MappingPlan
    errors_by_broker: Mapping[str, RocketMQError]
    last_phase: str | None = None


def execute_plan(
    admin: AdminClient,
    mapping_plan: MappingPlan,
    topic_placement: StaticTopicPlacement,
    keep_plan: Callable[[MappingPlan], None],
    *,
    force: bool = False,
) -> ExecutedPlan:
    """Send the planned shares to the brokers and verify them; `keep_plan` saves the plan with its offsets.

    A move has these phases: prepare the receiving brokers, stop writes on the losing brokers, read the ends
    of their queues, send the final offsets, then update all others. The first failure ends the execution.
    Executing the same plan again is safe.
    """
    mapping_plan = adopt_known_offsets(mapping_plan, topic_placement.current_shares)
    share_sender = _ShareSender(admin, topic_placement, force)
    other_brokers = [
        broker
        for broker in mapping_plan.shares
        if broker not in {*mapping_plan.map_in, *mapping_plan.map_out}
    ]
    first_phases = (
        ("announcing the new queues", mapping_plan.map_in),
        ("stopping writes", mapping_plan.map_out),
    )
    if find_undecided(mapping_plan):
        for phase, phase_brokers in first_phases:
            errors_by_broker = share_sender.send_shares(mapping_plan, phase_brokers)
            if errors_by_broker:
                return ExecutedPlan(mapping_plan, errors_by_broker, phase)
        try:
            mapping_plan = share_sender.decide_offsets(mapping_plan)
        except RocketMQError as error:
            return ExecutedPlan(
                mapping_plan,
                {broker: error for broker in mapping_plan.map_out},
                "reading the end of each queue",
            )
        keep_plan(mapping_plan)
    for phase, phase_brokers in (
        ("setting the start of each queue", mapping_plan.map_in),
        ("announcing the lost queues", mapping_plan.map_out),
        ("informing the other brokers", tuple(other_brokers)),
    ):
        errors_by_broker = share_sender.send_shares(mapping_plan, phase_brokers)
        if errors_by_broker:
            return ExecutedPlan(mapping_plan, errors_by_broker, phase)
    return ExecutedPlan(mapping_plan, share_sender.verify_shares(mapping_plan))


class _ShareSender:
    """Sends shares to brokers and reads them back."""

    def __init__(self, admin: AdminClient, topic_placement: StaticTopicPlacement, force: bool) -> None:
        self._admin, self._master_addrs, self._force = admin, topic_placement.master_addrs, force

    def send_shares(self, mapping_plan: MappingPlan, broker_names: Iterable[str]) -> dict[str, RocketMQError]:
        broker_names = list(broker_names)
        masterless_names = [broker for broker in broker_names if broker not in self._master_addrs]
        if masterless_names:
            return {broker: NotApplied("the broker has no master now") for broker in masterless_names}
        addressed_shares = [
            (self._master_addrs[broker], broker, mapping_plan.shares[broker]) for broker in broker_names
        ]
        answers = self._admin.queue_mappings.put_shares(
            mapping_plan.topic, addressed_shares, force=self._force
        )
        return {
            broker: answer.error for broker, answer in zip(broker_names, answers, strict=True) if answer.error
        }

    def decide_offsets(self, mapping_plan: MappingPlan) -> MappingPlan:
        """The plan with the start offsets of moved queues, computed from their ends on the old brokers."""
        ends_by_broker: dict[str, Mapping[int, int]] = {}
        logic_offsets = {}
        for logical_queue, mapping_items in find_undecided(mapping_plan).items():
            previous_item = mapping_items[-2]
            if previous_item.bname not in ends_by_broker:
                ends_result = self._admin.queue_mappings.get_queue_ends(
                    mapping_plan.topic, self._master_addrs[previous_item.bname]
                )
                if ends_result.error is not None or ends_result.result is None:
                    raise ends_result.error or NotApplied(
                        f"{previous_item.bname} did not return the ends of its queues"
                    )
                ends_by_broker[previous_item.bname] = ends_result.result
            if previous_item.queue_id not in ends_by_broker[previous_item.bname]:
                raise NotApplied(
                    f"{previous_item.bname} did not return the end of its queue {previous_item.queue_id}"
                )
            logic_offsets[logical_queue] = next_block_offset(
                previous_item, ends_by_broker[previous_item.bname][previous_item.queue_id]
            )
        return set_offsets(mapping_plan, logic_offsets)

    def verify_shares(self, mapping_plan: MappingPlan) -> dict[str, RocketMQError]:
        """The errors of brokers whose share differs from the planned one."""
        broker_names = list(mapping_plan.shares)
        share_results = self._admin.queue_mappings.get_each(
            mapping_plan.topic, [self._master_addrs[broker] for broker in broker_names]
        )
        return {
            broker: result.error or NotApplied("the broker reported success, but has another mapping")
            for broker, result in zip(broker_names, share_results, strict=True)
            if result.error is not None or not _is_wanted_share(result.result, mapping_plan.shares[broker])
        }


def _is_wanted_share(found_share: BrokerQueueShare | None, wanted_share: BrokerQueueShare) -> bool:
    """Whether the share is the wanted one. A broker may have dropped queues that it no longer serves."""
    if found_share is None or (found_share.epoch, found_share.total_queues) != (
        wanted_share.epoch,
        wanted_share.total_queues,
    ):
        return False
    return all(
        wanted_share.hosted_queues.get(queue) == items for queue, items in found_share.hosted_queues.items()
    )
