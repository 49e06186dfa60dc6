"""ServiceChecks, the checks whether clients can use a cluster: name servers, brokers, topics, lag."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import BadSettings, RocketMQError
from nsadmin.client.admin import AdminClient
from nsadmin.client.connection.access_options import Tls
from nsadmin.client.results import ClientClosed, error_text
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.checks.ranges import InvalidRangeError
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.inventory.keeper import InventoryKeeper

CheckLimits = tuple[str | None, str | None]
"""The warning and the critical range of a check, such as ("10", "100"); None for the default."""


class CheckTools(NamedTuple):
    """The other objects that checks need beside the client.

    `open_shared_client` returns the client for another thread. `pause_seconds` can be interrupted.
    """

    inventory: InventoryKeeper
    tls: Tls | None
    pause_seconds: Callable[[float], None]
    open_shared_client: Callable[[], AbstractContextManager[AdminClient]]


class ServiceChecks:
    """Checks whether clients can use the cluster. ClusterChecks has them and others.

    Args:
        admin: The client.
        tools: The other objects that checks need.
    """

    def __init__(self, admin: AdminClient, tools: CheckTools) -> None:
        self._admin = admin
        self._tools = tools

    def check_name_servers(self, *, warning: str | None = None, critical: str | None = None) -> CheckFinding:
        """Check whether every name server answers and serves routes.

        Args:
            warning: Range of the number of name servers that do not serve. Default: "0".
            critical: Range of the number of name servers that serve. Default: "1:".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        from nsadmin.operations.checks import namesrv

        return self._run_check(
            "namesrv",
            (warning, critical),
            lambda scale: namesrv.judge_name_servers(scale, namesrv.observe_name_servers(self._admin)),
        )

    def check_brokers(
        self,
        cluster_name: str | None = None,
        *,
        expected_count: int | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check whether every registered broker answers, each name has a master, and no broker is missing.

        The inventory of nsadmin knows which brokers should be registered.

        Args:
            cluster_name: Only the brokers of this cluster. Default: all.
            expected_count: The number of brokers that must answer. Default: any number.
            warning: Range of the number of failing or missing brokers. Default: "0".
            critical: Range of the number of broker names without a master. Default: "0".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        from nsadmin.operations.checks import brokers

        return self._run_check(
            "brokers",
            (warning, critical),
            lambda scale: brokers.judge_brokers(
                scale,
                brokers.observe_brokers(self._admin, cluster_name, self._tools.inventory),
                expected_count,
                cluster_name,
            ),
        )

    def check_divergence(
        self, *, settle_seconds: float = 50.0, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check whether all name servers have the same state.

        Args:
            settle_seconds: How long name servers with differences may take to become equal.
            warning: Range of the number of differences. Default: "0".
            critical: Range of the number of different brokers and queues. Default: "0".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        from nsadmin.operations.checks import divergence
        from nsadmin.operations.divergence.observer import DivergenceObserver, find_missing_brokers

        def judge_observation(scale: CheckScale) -> CheckFinding:
            divergence_observer = DivergenceObserver(
                self._admin, lambda: int(monotonic() * 1000), settle_ms=int(settle_seconds * 1000)
            )
            observation = divergence_observer.observe_until_settled(
                self._tools.pause_seconds, lambda observation, seconds: None
            )
            missing_brokers = find_missing_brokers(observation, self._tools.inventory)
            return divergence.judge_divergence(
                scale, observation, missing_brokers, self._tools.inventory.problem
            )

        return self._run_check("divergence", (warning, critical), judge_observation)

    def check_topic(
        self, topic: str, *, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check whether clients of every name server can write to a topic.

        Args:
            topic: The topic.
            warning: Range of the number of its brokers that accept no messages. Default: "0".
            critical: Range of the number of its brokers that accept messages. Default: "1:".

        Returns:
            The finding; `about` is the topic.

        Raises:
            BadSettings: A range is invalid.
        """
        from nsadmin.operations.checks import topic as topic_check

        return self._run_check(
            "topic",
            (warning, critical),
            lambda scale: topic_check.judge_topic(
                scale, topic_check.observe_topic(self._admin, topic, self._tools.inventory)
            ),
            topic,
        )

    def check_writable_topics(
        self,
        cluster_name: str | None = None,
        *,
        exclude_pattern: str | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check whether clients of every name server can write to all topics.

        Args:
            cluster_name: Only the topics of this cluster. Default: all.
            exclude_pattern: A regular expression; topics in which it is found are left out. Default: none.
            warning: Range of the number of topics that some brokers do not accept. Default: "0".
            critical: Range of the number of topics that no broker accepts. Default: "0".

        Returns:
            The finding.

        Raises:
            BadSettings: A range or the pattern is invalid.
        """
        from nsadmin.operations.checks import writable_topics, writable_topics_observation

        try:
            excluded_topics = None if exclude_pattern is None else re.compile(exclude_pattern)
        except re.error as error:
            raise BadSettings(f"{exclude_pattern!r} is not a regular expression: {error}") from None
        return self._run_check(
            "writable",
            (warning, critical),
            lambda scale: writable_topics.judge_writable_topics(
                scale,
                writable_topics_observation.observe_writable_topics(self._admin, self._tools.inventory),
                cluster_name,
                excluded_topics,
            ),
        )

    def check_lag(
        self,
        group: str,
        *,
        topic: str | None = None,
        cluster_name: str | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check how many messages a consumer group has not consumed yet.

        Args:
            group: The consumer group.
            topic: Only the lag on this topic. Default: on all.
            cluster_name: Only the brokers of this cluster. Default: all.
            warning: Range of the number of messages. Default: "10000".
            critical: Range of the number of messages. Default: "100000".

        Returns:
            The finding; `about` is the group.

        Raises:
            BadSettings: A range is invalid.
        """
        from nsadmin.operations.checks import lag

        return self._run_check(
            "lag",
            (warning, critical),
            lambda scale: lag.judge_lag(
                scale,
                lag.observe_lag(self._admin, self._admin.clock_ms, group, topic, cluster_name),
            ),
            group,
        )

    def _run_check(
        self,
        check_name: str,
        limits: CheckLimits,
        judge_observation: Callable[[CheckScale], CheckFinding],
        about: str | None = None,
    ) -> CheckFinding:
        scale = make_scale(check_name, limits)
        try:
            return judge_observation(scale)
        except (BadSettings, ClientClosed):
            raise
        except RocketMQError as error:
            return scale.make_unknown_finding(error_text(error), about=about)


def make_scale(check_name: str, limits: CheckLimits) -> CheckScale:
    """Return the measures of a check with these limits. Raises BadSettings for an invalid range."""
    try:
        return CheckScale(check_name, *limits)
    except InvalidRangeError as error:
        raise BadSettings(f"check {check_name}: {error}") from None
