"""ClusterChecks, the checks of monitoring systems as methods: `admin.checks.check_brokers()`."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import BadSettings, RocketMQError
from nsadmin.client.admin import AdminClient
from nsadmin.client.connection.access_options import Tls
from nsadmin.client.results import ClientClosed, error_text
from nsadmin.operations.checks.check import WHOLE_CLUSTER, Check, CheckLimits, CheckScale, CheckScope
from nsadmin.operations.checks.check_suite import CHECKS_WITH_LIMITS, CLUSTER_CHECKS, CheckPlan, run_checks
from nsadmin.operations.checks.check_table import find_check
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.checks.ranges import InvalidRangeError
from nsadmin.operations.inventory.keeper import InventoryKeeper


class CheckTools(NamedTuple):
    """The other objects that checks need beside the client.

    `open_shared_client` returns the client for another thread. `pause_seconds` can be interrupted.
    """

    inventory: InventoryKeeper
    tls: Tls | None
    pause_seconds: Callable[[float], None]
    open_shared_client: Callable[[], AbstractContextManager[AdminClient]]


class ClusterCheckReport(NamedTuple):
    """The findings of all checks that apply.

    Attributes:
        overall: The worst state, and which checks are not OK. `details` names the checks that do not apply.
        findings: One finding per check.
    """

    overall: CheckFinding
    findings: tuple[CheckFinding, ...]


class ClusterChecks:
    """Checks of a cluster (`admin.checks`). Each returns a CheckFinding with a state of a monitoring plugin.

    If a check cannot find out, its state is UNKNOWN, and `summary` says why. `warning` and `critical` replace
    the default limits. They are ranges of the Monitoring Plugins Development Guidelines: "10" alerts above
    10, "5:" below 5, "@1:3" inside 1 to 3.

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
        return self._run("namesrv", warning, critical)

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
        scope = CheckScope(cluster_name=cluster_name, expected_count=expected_count)
        return self._run("brokers", warning, critical, scope)

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
        return self._run("divergence", warning, critical, CheckScope(settle_seconds=settle_seconds))

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
        return self._run("topic", warning, critical, CheckScope(topic=topic))

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
            critical: Range of the number of topics that clients of some name server cannot write to. Default:
                "0".

        Returns:
            The finding.

        Raises:
            BadSettings: A range or the pattern is invalid.
        """
        scope = CheckScope(cluster_name=cluster_name, excluded=_compile_pattern(exclude_pattern))
        return self._run("writable", warning, critical, scope)

    def check_lag(
        self,
        group: str | None = None,
        *,
        topic: str | None = None,
        cluster_name: str | None = None,
        exclude_pattern: str | None = None,
        min_clients: int = 0,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check how many messages a consumer group has not consumed yet.

        Args:
            group: The consumer group. Default: all, each against the ranges.
            topic: Only the lag of the group on this topic. Default: on all.
            cluster_name: Only the brokers of this cluster. Default: all.
            exclude_pattern: A regular expression; groups in which it is found are left out. Default: none.
            min_clients: The group is critical with fewer connected clients.
            warning: Range of the number of messages. Default: "10000".
            critical: Range of the number of messages. Default: "100000".

        Returns:
            The finding; `about` is the group.

        Raises:
            BadSettings: A range or the pattern is invalid, or a topic or `min_clients` needs a group.
        """
        if (topic or min_clients) and not group:
            raise BadSettings("topic and min_clients need a group")
        scope = CheckScope(
            group=group,
            topic=topic,
            cluster_name=cluster_name,
            excluded=_compile_pattern(exclude_pattern),
            min_clients=min_clients,
        )
        return self._run("lag", warning, critical, scope)

    def check_heartbeats(self, *, warning: str | None = None, critical: str | None = None) -> CheckFinding:
        """Check how long ago name servers received the last heartbeat of each broker.

        Args:
            warning: Range in percent of the time after which a broker expires. Default: "50".
            critical: Range in percent of the same time. Default: "75".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        return self._run("heartbeat", warning, critical)

    def check_registration_sizes(
        self,
        cluster_name: str | None = None,
        *,
        broker_addr: str | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check how close brokers are to the largest registration that a name server reads, 16 MiB.

        Args:
            cluster_name: Only the brokers of this cluster. Default: all.
            broker_addr: Only this broker, which may be registered nowhere. Default: all registered ones.
            warning: Range in percent of 16 MiB. Default: "50".
            critical: Range in percent of 16 MiB. Default: "80".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        scope = CheckScope(cluster_name=cluster_name, broker_addr=broker_addr)
        return self._run("registrationSize", warning, critical, scope)

    def check_replicas(
        self, cluster_name: str | None = None, *, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check whether slaves have the topics, groups, offsets and settings of their master.

        Args:
            cluster_name: Only the brokers of this cluster. Default: all.
            warning: Range of the number of differences that slaves do not remove. Default: "0".
            critical: Range of the number of items that slaves lack. Default: "0".

        Returns:
            The finding. UNKNOWN if no broker has a slave.

        Raises:
            BadSettings: A range is invalid.
        """
        return self._run("replicas", warning, critical, CheckScope(cluster_name=cluster_name))

    def check_certificates(self, *, warning: str | None = None, critical: str | None = None) -> CheckFinding:
        """Check how many days the certificates of servers and of this client are still valid.

        Args:
            warning: Range of the number of days. Default: "30:".
            critical: Range of the number of days. Default: "7:".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        return self._run("certificates", warning, critical)

    def check_journals(
        self,
        journal_folders: Iterable[str | PathLike[str]] = (),
        *,
        since_seconds: float = 86_400.0,
        verify_records: bool = False,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check whether journals are written and complete.

        Args:
            journal_folders: Folders of journals on this machine. Default: only ask the name servers.
            since_seconds: Count lost events of this time, in seconds before now.
            verify_records: Read each journal completely.
            warning: Range of the age of the last record, in seconds. Default: "120".
            critical: Range of the same age, in seconds. Default: "600".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        scope = CheckScope(
            journal_folders=[Path(folder) for folder in journal_folders],
            journal_since=lambda now_ms: now_ms - int(since_seconds * 1000),
            verifies_records=verify_records,
        )
        return self._run("journal", warning, critical, scope)

    def check_drains(self, *, warning: str | None = None, critical: str | None = None) -> CheckFinding:
        """Check whether the drained brokers of this machine still are drained.

        Args:
            warning: Range of the age of the oldest drain, in seconds. Default: "86400".
            critical: Range of the number of writable topics on drained brokers. Default: "0".

        Returns:
            The finding.

        Raises:
            BadSettings: A range is invalid.
        """
        return self._run("drain", warning, critical)

    def run_check(
        self,
        check_name: str,
        cluster_name: str | None = None,
        *,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Run a check by its name, such as "disk", "dlq", "sends", "timer", "proxies" or "transactions".

        Args:
            check_name: A check of a whole cluster.
            cluster_name: Only this cluster, for checks that can be limited to one. Default: all.
            warning: The warning range. Default: that of the check.
            critical: The critical range. Default: that of the check.

        Returns:
            The finding.

        Raises:
            BadSettings: The name or a range is invalid.
        """
        if check_name not in CLUSTER_CHECKS:
            raise BadSettings(f"unknown check {check_name!r}: there are {', '.join(CLUSTER_CHECKS)}")
        return self._run(check_name, warning, critical, CheckScope(cluster_name=cluster_name))

    def run_all(
        self,
        *,
        topics: Sequence[str] = (),
        groups: Sequence[str] = (),
        journal_folders: Iterable[str | PathLike[str]] = (),
        settle_seconds: float = 50.0,
        limits_by_check: Mapping[str, CheckLimits] | None = None,
        expected_count: int | None = None,
        skipped_checks: Collection[str] = (),
    ) -> ClusterCheckReport:
        """Run all checks that apply, at the same time.

        Args:
            topics: Topics to check one by one, too.
            groups: Check the lag of these groups only. Default: of all groups.
            journal_folders: Folders of journals on this machine.
            settle_seconds: How long name servers with differences may take to become equal.
            limits_by_check: Check name, such as "lag", to its warning and critical ranges. Default: the
                default limits.
            expected_count: The number of brokers that must answer. Default: any number.
            skipped_checks: Names of checks to leave out, such as "certificates".

        Returns:
            The report.

        Raises:
            BadSettings: A range or a name of a check is invalid.
        """
        limits_by_check = limits_by_check or {}
        for name in (*limits_by_check, *skipped_checks):
            if name not in CHECKS_WITH_LIMITS:
                raise BadSettings(f"unknown check {name!r}: there are {', '.join(CHECKS_WITH_LIMITS)}")
        for name, limits in limits_by_check.items():
            _make_scale(find_check(name), limits)
        scope = CheckScope(
            expected_count=expected_count,
            inventory=self._tools.inventory,
            tls=self._tools.tls,
            journal_folders=[Path(folder) for folder in journal_folders],
            settle_seconds=settle_seconds,
            pause_seconds=self._tools.pause_seconds,
        )
        plan = CheckPlan(scope, topics, groups, limits_by_check, skipped_checks)
        overall, findings = run_checks(self._tools.open_shared_client, plan)
        return ClusterCheckReport(overall, tuple(findings))

    def _run(
        self, check_name: str, warning: str | None, critical: str | None, scope: CheckScope = WHOLE_CLUSTER
    ) -> CheckFinding:
        check = find_check(check_name)
        scale = _make_scale(check, (warning, critical))
        scope = scope._replace(
            inventory=self._tools.inventory, tls=self._tools.tls, pause_seconds=self._tools.pause_seconds
        )
        try:
            return check.judge(scale, check.observe(self._admin, scope))
        except (BadSettings, ClientClosed):
            raise
        except RocketMQError as error:
            return scale.make_unknown_finding(error_text(error), about=scope.group or scope.topic)


def _make_scale(check: Check[Any], limits: CheckLimits) -> CheckScale:
    try:
        return check.make_scale(limits)
    except InvalidRangeError as error:
        raise BadSettings(f"check {check.name}: {error}") from None


def _compile_pattern(pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise BadSettings(f"{pattern!r} is not a regular expression: {error}") from None
