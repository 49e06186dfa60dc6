"""ClusterRebalance, which levels the load of brokers: `admin.rebalance.propose_plan(cluster)`."""

from collections.abc import Callable, Collection, Sequence
from os import PathLike
from pathlib import Path
from time import gmtime, strftime
from typing import Literal, NamedTuple

from nsadmin.client.admin import AdminClient
from nsadmin.client.results import ReadOnlyAccess
from nsadmin.operations.broker_identity import observe_twins
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.procedure_clock import ProcedureClock, read_system_ms
from nsadmin.operations.rebalance import topic_figures
from nsadmin.operations.rebalance.load_state import LevelLimits
from nsadmin.operations.rebalance.plan_builder import (
    PlanRequest,
    ProposedPlan,
    build_plan,
    check_request,
    list_user_topics,
)
from nsadmin.operations.rebalance.rebalance_plan import (
    RebalancePlan,
    load_rebalance_plan,
    save_rebalance_plan,
)
from nsadmin.operations.rebalance.rebalance_runner import RunOrder
from nsadmin.operations.rebalance.run_preparation import PendingRun, open_run
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.run_folder import EventRecord
from nsadmin.operations.state_folder import find_state_home


class RebalanceResult(NamedTuple):
    """The end of a run.

    Attributes:
        is_done: Whether all topics moved, or are back after a rollback. False after a dry run.
        pause_reason: Why the run paused; None if it did not pause.
        risks: The risks that were found before the run.
    """

    is_done: bool
    pause_reason: str | None
    risks: tuple[str, ...]


class ClusterRebalance:
    """Plans that level the load of brokers, and their runs (`admin.rebalance`).

    Args:
        admin: The client.
        pause: Waits for some seconds, and ends early when the client is closed.
        inventory: The addresses that brokers had before.
    """

    def __init__(
        self, admin: AdminClient, pause: Callable[[float], None], inventory: InventoryKeeper
    ) -> None:
        self._admin = admin
        self._pause = pause
        self._inventory = inventory

    def propose_plan(
        self,
        cluster_name: str,
        *,
        added: Sequence[str] = (),
        removed: Sequence[str] = (),
        goal: Literal["load", "queues", "disk"] = "load",
        topic_patterns: Sequence[str] | None = None,
        sample_seconds: float | None = None,
        journal: str | PathLike[str] | None = None,
        queue_counts: Sequence[int] = (4, 8, 16),
        max_topics: int | None = None,
        max_share: float | None = None,
    ) -> ProposedPlan:
        """Propose queue counts for the topics of a cluster that level the load of its brokers.

        Changes nothing. `save_plan` writes the plan to a file, for `nsadmin rebalance run`.

        Args:
            cluster_name: The cluster.
            added: Brokers that get a full part of the load.
            removed: Brokers that lose all queues.
            goal: What to level: messages sent and received ("load"), bytes sent ("disk"), or "queues".
            topic_patterns: Shell patterns of the topics that may move. Default: None for all.
            sample_seconds: Measure the traffic for so long. Default: None for the statistics of the brokers,
                which cover up to 24 hours.
            journal: Folder of the brokers' journal of `nsadmin collect --lag`, instead of a measurement.
            queue_counts: The numbers of queues that a changed topic may have on a broker.
            max_topics: Limit of topics that change. Default: None for no limit.
            max_share: Limit of the load that moves, in percent of the cluster's load. Default: None for no
                limit.

        Returns:
            The plan, the largest load that remains, and its lower bound.

        Raises:
            NotFound: The cluster or a broker does not exist, or no topic matches a pattern.
            NotApplied: No broker would remain, or a broker did not answer.
            RocketMQError: A server did not answer.
        """
        limits = LevelLimits(tuple(queue_counts), max_topics, None if max_share is None else max_share / 100)
        request = PlanRequest(
            goal,
            tuple(added),
            tuple(removed),
            None if topic_patterns is None else tuple(topic_patterns),
            limits,
        )
        cluster_state = observe_cluster(self._admin, cluster_name)
        check_request(cluster_state, request)
        broker_topics = topic_figures.list_broker_topics(cluster_state, list_user_topics(cluster_state))
        offset_reading = topic_figures.read_offsets(self._admin, cluster_state, broker_topics)
        if journal is not None:
            figures, covered_seconds = topic_figures.read_journal_figures(Path(journal), cluster_name)
            source = f"journal {round(covered_seconds)} s"
        elif sample_seconds is not None:
            figures = topic_figures.sample_figures(
                self._admin, cluster_state, offset_reading, sample_seconds, self._pause
            )
            source = f"sample {sample_seconds:g} s"
        else:
            figures = topic_figures.read_statistics(self._admin, cluster_state, offset_reading)
            source = "statistics of the brokers"
        created = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
        plan, level_result = build_plan(cluster_state, figures, offset_reading, request, source, created)
        names = [broker.broker_name for broker in cluster_state.broker_states]
        twin_lines = observe_twins(self._admin, self._inventory, names)
        return ProposedPlan(plan._replace(risks=(*plan.risks, *twin_lines)), level_result)

    def save_plan(self, proposed_plan: ProposedPlan, path: str | PathLike[str]) -> None:
        """Write a plan to a file that a person can edit. Needs PyYAML. Replaces the file.

        Args:
            proposed_plan: The plan.
            path: The file.

        Raises:
            OSError: The file cannot be written.
        """
        save_rebalance_plan(proposed_plan.plan, Path(path))

    def load_plan(self, path: str | PathLike[str]) -> RebalancePlan:
        """Read a plan of `save_plan` or of `nsadmin rebalance plan`. Needs PyYAML.

        Args:
            path: The file.

        Returns:
            The plan.

        Raises:
            OSError: The file cannot be read.
            InvalidPlanFileError: The file is not a plan; `problem_lines` has one line for each problem.
        """
        return load_rebalance_plan(Path(path))

    def run_plan(
        self,
        plan: RebalancePlan,
        *,
        on_event: Callable[[EventRecord], object] | None = None,
        dry_run: bool = False,
        rollback: bool = False,
        allow_ordered: bool = False,
        ignored_groups: Collection[str] = (),
        max_topics: int = 10,
        max_share: float = 20,
        max_lag: int | None = None,
        max_disk: float = 85,
        max_send_errors: int = 60,
        timeout_seconds: float | None = None,
        settle_seconds: float = 60,
        interval_seconds: float = 5,
    ) -> RebalanceResult:
        """Move queues as a plan says, like `nsadmin rebalance run`. Returns when it is done or paused.

        The state is saved before each change, in the state folder of nsadmin. Call it again to resume.

        Args:
            plan: The plan.
            on_event: Called with each event of the run.
            dry_run: Check the plan, and change nothing. Default: False.
            rollback: Move the topics back to the queues before this plan. Default: False.
            allow_ordered: Also move ordered topics, and keep the sequence of every key. Default: False.
            ignored_groups: Groups that lose their unconsumed messages. Default: none.
            max_topics: Topics that move at once.
            max_share: Percent of the cluster's write queues whose topics move at once.
            max_lag: Pause if a group has more unconsumed messages of a moving topic. Default: None, no limit.
            max_disk: Pause if a broker that gets queues uses more of its disk, in percent.
            max_send_errors: Pause if a broker fails to store more messages per minute.
            timeout_seconds: Pause if a step takes longer. Default: None, no limit.
            settle_seconds: How long clients need to refresh their routes and to share out queues.
            interval_seconds: Seconds between two checks.

        Returns:
            Whether all topics moved, the reason of a pause, and the risks.

        Raises:
            ReadOnlyAccess: The client is read-only.
            NotFound: A broker of the plan is not in the cluster, or there is no run to roll back.
            NotApplied: Several broker names are one process, or a broker is two processes.
            DrainRefused: The cluster is not as the plan expects, or the plan was run already.
            RocketMQError: A server did not answer.
        """
        # Imported late: it loads modules that only a change needs.
        from nsadmin.console.audit import describe_user

        if self._admin.is_read_only and not dry_run:
            raise ReadOnlyAccess(f"{plan.cluster} was not rebalanced: this client is read-only")
        rules = RunRules(
            settle_ms=round(settle_seconds * 1000),
            max_topics=max_topics,
            max_share=max_share / 100,
            timeout_ms=None if timeout_seconds is None else round(timeout_seconds * 1000),
            ignored_groups=frozenset(ignored_groups),
            allow_ordered=allow_ordered,
            max_lag=max_lag,
            max_disk=max_disk / 100,
            max_failed_puts=max_send_errors,
        )
        run_order = RunOrder(plan, rules, interval_seconds, rollback, describe_user())
        pending_run = open_run(self._admin, run_order, find_state_home(), read_system_ms(), self._inventory)
        if dry_run:
            return RebalanceResult(False, None, pending_run.risks)
        return self._follow_run(pending_run, on_event)

    def _follow_run(
        self, pending_run: PendingRun, on_event: Callable[[EventRecord], object] | None
    ) -> RebalanceResult:
        pause_reason: str | None = None
        for event_record in pending_run.run_events(ProcedureClock(read_system_ms, self._pause)):
            if event_record["event"] == "paused":
                pause_reason = event_record["reason"]
            if on_event is not None:
                on_event(event_record)
        return RebalanceResult(pause_reason is None, pause_reason, pending_run.risks)
