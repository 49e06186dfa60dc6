"""ClusterRebalance, plans that level the load of brokers: `admin.rebalance.propose_plan(cluster)`."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from time import gmtime, strftime
from typing import Literal

from nsadmin.client.admin import AdminClient
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.rebalance import topic_figures
from nsadmin.operations.rebalance.load_state import LevelLimits
from nsadmin.operations.rebalance.plan_builder import (
    PlanRequest,
    ProposedPlan,
    build_plan,
    check_request,
    list_user_topics,
)
from nsadmin.operations.rebalance.rebalance_plan import save_rebalance_plan


class ClusterRebalance:
    """Plans that level the load of brokers (`admin.rebalance`).

    Args:
        admin: The client.
        pause: Waits for some seconds, and ends early when the client is closed.
    """

    def __init__(self, admin: AdminClient, pause: Callable[[float], None]) -> None:
        self._admin = admin
        self._pause = pause

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
            NotFound: The cluster or a broker does not exist.
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
        places = topic_figures.list_places(cluster_state, list_user_topics(cluster_state))
        offset_reading = topic_figures.read_offsets(self._admin, cluster_state, places)
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
        return build_plan(cluster_state, figures, offset_reading, request, source, created)

    def save_plan(self, proposed_plan: ProposedPlan, path: str | PathLike[str]) -> None:
        """Write a plan to a file that a person can edit. Needs PyYAML. Replaces the file.

        Args:
            proposed_plan: The plan.
            path: The file.

        Raises:
            OSError: The file cannot be written.
        """
        save_rebalance_plan(proposed_plan.plan, Path(path))
