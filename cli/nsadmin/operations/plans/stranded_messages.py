"""Counts the messages in queues that steps take away: consumers can no longer read them."""

from collections.abc import Mapping, Sequence
from typing import Any

from namesrv_core.protocol.codes import Perm
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
        if step.kind == "topic" and count_readable_queues(step.after) < count_readable_queues(step.before)
    ]
    count_results = admin.bulk.count_messages(
        (master_addrs[step.server_name], step.item_name) for step in shrinking_steps
    )
    stranded: dict[PlanStep, int | None] = {}
    for step, count_result in zip(shrinking_steps, count_results, strict=True):
        # 4.9 tells nothing of queues beyond the write queues.
        queues = range(count_readable_queues(step.after), count_readable_queues(step.before))
        counts = [(count_result.result or {}).get(queue) for queue in queues]
        stranded[step] = None if None in counts else sum(n or 0 for n in counts)
    return stranded


def count_readable_queues(topic_settings: Mapping[str, Any] | None) -> int:
    """The queues that consumers can read: none of a topic that is missing or lacks the read permission."""
    if topic_settings is None or not topic_settings["perm"] & Perm.READ:
        return 0
    return int(topic_settings["readQueueNums"])
