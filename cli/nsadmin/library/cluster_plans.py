"""ClusterPlans, the desired state of a cluster as code: `admin.plans.plan_changes(path)`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from namesrv_core import operator_files
from nsadmin.client.admin import AdminClient
from nsadmin.client.results import NotApplied, ReadOnlyAccess
from nsadmin.console.phrases import count_noun
from nsadmin.operations.plans import plan_file
from nsadmin.operations.plans.cluster_export import describe_cluster
from nsadmin.operations.plans.diff import ClusterDiff, PlanStep, PlanTrouble, compute_diff
from nsadmin.operations.plans.executor import StepOutcome, execute_steps
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.plan_file import SavedPlan
from nsadmin.operations.plans.records import ClusterState, DesiredCluster
from nsadmin.operations.plans.stranded_messages import count_stranded_messages
from nsadmin.operations.plans.yaml_reader import read_desired_cluster
from nsadmin.operations.plans.yaml_writer import format_cluster

_MAX_REASONS = 10


class ClusterPlan(NamedTuple):
    """The changes that make a cluster match a file.

    Attributes:
        saved_plan: The desired cluster, the servers, and the steps.
        troubles: The errors that hide or prevent changes, such as a server that did not answer.
        stranded_messages: Step to the messages that a group has not consumed in the queues that it removes;
            for a deleted topic, all its messages. None if unknown.
    """

    saved_plan: SavedPlan
    troubles: tuple[PlanTrouble, ...]
    stranded_messages: Mapping[PlanStep, int | None]

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """The changes, in the order in which they are made."""
        return self.saved_plan.plan_steps


class StrandedMessagesError(NotApplied):
    """A step removes queues with messages that a group has not consumed, or may not have consumed."""


class ClusterPlans:
    """The desired state of a cluster as a file (`admin.plans`): export, plan, apply.

    Args:
        admin: The client.
    """

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin

    def export_cluster(self, cluster_name: str, namespaces: Sequence[str] = ()) -> str:
        """Return topics, groups, order configurations and KV config of a cluster as YAML. Needs PyYAML.

        Args:
            cluster_name: The cluster.
            namespaces: KV namespaces to include, because name servers do not list them.

        Returns:
            The text of a file for `plan_changes`.

        Raises:
            NotFound: No such cluster.
            RocketMQError: A broker or name server did not answer. An incomplete file would be misleading.
        """
        cluster_state = observe_cluster(self._admin, cluster_name, tuple(namespaces))
        errors = [state.error for state in cluster_state.broker_states]
        errors += [state.error for state in cluster_state.server_states]
        for error in filter(None, errors):
            raise error
        desired_cluster, remarks = describe_cluster(cluster_state, tuple(namespaces))
        return format_cluster(desired_cluster, remarks)

    def plan_changes(self, file: str | PathLike[str], *, prune: bool = False) -> ClusterPlan:
        """Compare a cluster with a file, and return the steps that make it so. Changes nothing.

        Args:
            file: The path of a file of `export_cluster`, or of a plan of `save_plan`.
            prune: Delete the items that the file does not have, in the sections that it has. A saved plan
                has its own setting.

        Returns:
            The plan.

        Raises:
            InvalidPlanFileError: The file is invalid.
            NotFound: No such cluster.
            NotApplied: The cluster is not as it was when the plan was saved.
            OSError: The file cannot be read.
        """
        file_name, file_text = str(file), operator_files.read_text(Path(file))
        saved_plan = plan_file.parse_plan(file_text, file_name)
        if saved_plan is not None:
            return self._compare_saved(saved_plan).plan
        return self._compare_cluster(read_desired_cluster(file_text, file_name), prune).plan

    def apply_plan(
        self, plan: ClusterPlan, *, max_deletes: int = 10, allow_stranded: bool = False
    ) -> list[StepOutcome]:
        """Carry out a plan as far as possible. Safe to interrupt: plan again to go on.

        The servers are read first; the plan is refused if they have changed. They are read again afterwards:
        their state then decides each outcome.

        Args:
            plan: The plan.
            max_deletes: Refuse to delete more items.
            allow_stranded: Remove queues although consumers have not read the messages in them.

        Returns:
            One outcome per step. A failure is an outcome, not an exception.

        Raises:
            NotApplied: The cluster is not as it was, or the plan deletes too much. Nothing was changed.
            StrandedMessagesError: A step removes queues with unconsumed messages. Nothing was changed.
            ReadOnlyAccess: The client is read-only. Nothing was changed.
        """
        if self._admin.is_read_only:
            raise ReadOnlyAccess("the plan was not applied: this client is read-only")
        comparison = self._compare_saved(plan.saved_plan)
        delete_count = len(comparison.cluster_diff.deleted_items)
        if delete_count > max_deletes:
            raise NotApplied(
                f"the plan deletes {count_noun(delete_count, 'item')}, more than {max_deletes} (max_deletes)"
            )
        if not allow_stranded and is_stranding(comparison.plan.stranded_messages):
            raise StrandedMessagesError(
                "the plan takes queues from consumers that may have unread messages there: let them read the "
                "messages first, or pass allow_stranded=True to lose them"
            )
        return execute_steps(self._admin, comparison.cluster_state, comparison.plan.steps)

    def save_plan(self, plan: ClusterPlan, path: str | PathLike[str]) -> None:
        """Save a plan, for `plan_changes` or `nsadmin apply`. Only the owner can read the file.

        Args:
            plan: The plan.
            path: The file, which is replaced.

        Raises:
            OSError: The file cannot be written.
        """
        plan_file.save_plan(Path(path), plan.saved_plan)

    def _compare_saved(self, saved_plan: SavedPlan) -> "_PlannedComparison":
        comparison = self._compare_cluster(saved_plan.desired_cluster, saved_plan.prune)
        reasons = plan_file.explain_changes(saved_plan, comparison.cluster_state, comparison.cluster_diff)
        if reasons:
            error = NotApplied("the cluster is not as it was when the plan was made: plan again")
            for reason in reasons[:_MAX_REASONS]:
                error.add_note(reason)
            raise error
        return comparison

    def _compare_cluster(self, desired_cluster: DesiredCluster, prune: bool) -> "_PlannedComparison":
        cluster_state, cluster_diff = compare_cluster(self._admin, desired_cluster, prune)
        plan = ClusterPlan(
            plan_file.make_saved_plan(desired_cluster, prune, cluster_state, cluster_diff),
            cluster_diff.troubles,
            count_stranded_messages(self._admin, cluster_state, cluster_diff.steps),
        )
        return _PlannedComparison(plan, cluster_state, cluster_diff)


class _PlannedComparison(NamedTuple):
    plan: ClusterPlan
    cluster_state: ClusterState
    cluster_diff: ClusterDiff


def compare_cluster(
    admin: AdminClient, desired_cluster: DesiredCluster, prune: bool
) -> tuple[ClusterState, ClusterDiff]:
    """Read a cluster, and compare it with the desired one."""
    partial_topics = desired_cluster.partial_topics if prune else ()
    cluster_state = observe_cluster(
        admin, desired_cluster.cluster_name, desired_cluster.kv_tables or (), partial_topics
    )
    return cluster_state, compute_diff(desired_cluster, cluster_state, prune=prune)


def is_stranding(stranded_messages: Mapping[PlanStep, int | None]) -> bool:
    """Whether a topic loses queues with messages, or with an unknown number. Deletions have other limits."""
    return any(step.action == "update" and count != 0 for step, count in stranded_messages.items())
