"""Counts the messages in queues that steps take away: consumers can no longer read them."""

from collections.abc import Sequence

from nsadmin.client import AdminClient
from nsadmin.operations.plans.diff import PlanStep
from nsadmin.operations.plans.records import ClusterState


def count_stranded_messages(
    admin: AdminClient, cluster_state: ClusterState, steps: Sequence[PlanStep]
) -> dict[PlanStep, int | None]:
    """The messages in the queues that each step takes away from consumers; None if the broker did not answer.

    Steps that take no queues away are left out.
    """
    master_addrs = {state.broker_name: state.master_addr or "" for state in cluster_state.broker_states}
    shrinking_steps = [
        step
        for step in steps
        if step.kind == "topic" and _read_queues_after(step) < _read_queues_before(step)
    ]
    count_results = admin.bulk.count_messages(
        (master_addrs[step.server_name], step.item_name) for step in shrinking_steps
    )
    return {
        step: None
        if count_result.result is None
        else sum(
            message_count
            for queue_id, message_count in count_result.result.items()
            if queue_id >= _read_queues_after(step)
        )
        for step, count_result in zip(shrinking_steps, count_results, strict=True)
    }


def _read_queues_before(step: PlanStep) -> int:
    return 0 if step.before is None else int(step.before["readQueueNums"])


def _read_queues_after(step: PlanStep) -> int:
    return 0 if step.after is None else int(step.after["readQueueNums"])
