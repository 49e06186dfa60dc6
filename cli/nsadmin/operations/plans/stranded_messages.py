"""Counts the messages that steps of a plan take away from consumers."""

from collections.abc import Mapping, Sequence
from typing import Any

from namesrv_core.protocol.codes import Perm
from nsadmin.client import AdminClient
from nsadmin.operations.plans.diff import PlanStep
from nsadmin.operations.plans.records import ClusterState
from nsadmin.operations.removed_queues import RemovedQueues, count_removed_messages


def count_stranded_messages(
    admin: AdminClient, cluster_state: ClusterState, steps: Sequence[PlanStep]
) -> dict[PlanStep, int | None]:
    """The messages that each step takes away from consumers; None if the number is unknown.

    A deleted topic loses all its messages, removed queues those that a group has not consumed. Steps that
    take no queues away are left out.
    """
    master_addrs = {state.broker_name: state.master_addr or "" for state in cluster_state.broker_states}
    removals = {
        step: RemovedQueues(master_addrs[step.server_name], step.item_name, queues)
        for step in steps
        if step.kind == "topic"
        and (queues := range(count_readable_queues(step.after), count_readable_queues(step.before)))
    }
    counted = count_removed_messages(admin, list(removals.values()))
    return {
        step: removed.stored if step.action == "delete" else removed.unconsumed_count
        for step, removed in zip(removals, counted, strict=True)
    }


def writes_unread_queues(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bool:
    """Whether the change of a topic makes producers write to queues that no consumer reads."""
    if after is None or count_readable_queues(after) >= after["writeQueueNums"]:
        return False
    return (
        before is None
        or count_readable_queues(after) < count_readable_queues(before)
        or after["writeQueueNums"] > before["writeQueueNums"]
    )


def count_readable_queues(topic_settings: Mapping[str, Any] | None) -> int:
    """The queues that consumers can read: none of a topic that is missing or lacks the read permission."""
    if topic_settings is None or not topic_settings["perm"] & Perm.READ:
        return 0
    return int(topic_settings["readQueueNums"])
