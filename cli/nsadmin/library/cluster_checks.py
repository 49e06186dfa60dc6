"""ClusterChecks, the checks of monitoring systems as methods: `admin.checks.check_brokers()`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from namesrv_core.errors import BadSettings
from nsadmin.library.service_checks import CheckLimits, ServiceChecks, make_scale
from nsadmin.operations.checks import check_suite
from nsadmin.operations.checks.check_suite import CheckScope
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.checks.thresholds import CheckScale


class ClusterCheckReport(NamedTuple):
    """The findings of all checks that apply.

    Attributes:
        overall: The worst state, and which checks are not OK. `details` names the checks that do not apply.
        findings: One finding per check.
    """

    overall: CheckFinding
    findings: tuple[CheckFinding, ...]


class ClusterChecks(ServiceChecks):
    """Checks of a cluster (`admin.checks`). Each returns a CheckFinding with a state of a monitoring plugin.

    If a check cannot find out, its state is UNKNOWN, and `summary` says why. `warning` and `critical` replace
    the default limits. They are ranges of the Monitoring Plugins Development Guidelines: "10" alerts above
    10, "5:" below 5, "@1:3" inside 1 to 3.
    """

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
        from nsadmin.operations.checks import heartbeat

        return self._run_check(
            "heartbeat",
            (warning, critical),
            lambda scale: heartbeat.judge_heartbeats(scale, heartbeat.observe_heartbeats(self._admin)),
        )

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
        from nsadmin.operations.checks import registration_size

        return self._run_check(
            "registrationSize",
            (warning, critical),
            lambda scale: registration_size.judge_registration_sizes(
                scale,
                registration_size.observe_registration_sizes(self._admin, cluster_name, broker_addr),
            ),
        )

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
        from nsadmin.operations.checks import replicas
        from nsadmin.operations.replicas.comparer import ReplicaComparer
        from nsadmin.operations.replicas.memory_store import open_replica_memory

        memory_store = open_replica_memory(self._tools.inventory)
        return self._run_check(
            "replicas",
            (warning, critical),
            lambda scale: replicas.judge_replicas(
                scale, ReplicaComparer(self._admin, memory_store, cluster_name).compare_replicas()
            ),
        )

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
        from nsadmin.operations.checks import certificates

        return self._run_check(
            "certificates",
            (warning, critical),
            lambda scale: certificates.judge_certificates(
                scale,
                certificates.observe_certificates(self._admin, self._admin.clock_ms / 1000, self._tools.tls),
            ),
        )

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
        from nsadmin.operations.checks import journal

        def judge_observation(scale: CheckScale) -> CheckFinding:
            now_ms = self._admin.clock_ms
            begin_ms = now_ms - int(since_seconds * 1000)
            inspected_folders = [
                journal.inspect_folder(Path(folder), begin_ms, verify_records) for folder in journal_folders
            ]
            return journal.judge_journals(
                scale,
                journal.JournalObservation(
                    now_ms, journal.read_server_statuses(self._admin), inspected_folders
                ),
            )

        return self._run_check("journal", (warning, critical), judge_observation)

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
        from nsadmin.operations.checks import drain
        from nsadmin.operations.state_folder import find_state_home

        return self._run_check(
            "drain",
            (warning, critical),
            lambda scale: drain.judge_drains(
                scale,
                drain.observe_drains(self._admin, self._admin.clock_ms, find_state_home()),
            ),
        )

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
            groups: Consumer groups whose lag is checked, too.
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
        known_checks = (*check_suite.CHECKS_BY_NAME, *check_suite.SUBJECT_CHECKS)
        for check_name in (*limits_by_check, *skipped_checks):
            if check_name not in known_checks:
                raise BadSettings(f"unknown check {check_name!r}: there are {', '.join(known_checks)}")
        for check_name, limits in limits_by_check.items():
            make_scale(check_name, limits)
        check_scope = CheckScope(
            topics,
            groups,
            [Path(folder) for folder in journal_folders],
            self._tools.tls,
            settle_seconds,
            limits_by_check,
            expected_count,
            self._tools.inventory,
            self._tools.pause_seconds,
        )
        overall, findings = check_suite.run_checks(
            self._tools.open_shared_client, check_scope, skipped_checks
        )
        return ClusterCheckReport(overall, tuple(findings))
