"""Runs every applicable check concurrently, so that an unreachable server delays one check only."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Tls
from nsadmin.client.results import ClientClosed, error_text
from nsadmin.operations.checks.findings import (
    CheckFinding,
    CheckState,
    UncheckedPart,
    count_groups,
    state_weight,
    worst_state,
)
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.topic_kinds import find_groups_with_retries

if TYPE_CHECKING:
    from nsadmin.operations.replicas.records import ReplicaComparison

# Each check function imports its own modules, so that nothing is loaded for checks that do not apply.

_MAX_THREADS = 32
_OTHER_COMMANDS = {
    "clients": "nsadmin check clients",
    "backup": "nsadmin check backup PATH",
    "security": "nsadmin securityAudit",
}
"""Checks that are no part of a run of all checks, with their commands."""


class CheckScope(NamedTuple):
    """What to check beside the cluster itself: topics, consumer groups, journal folders, this client's TLS.

    Name servers get `settle_seconds` to agree. `limits_by_check` has the warning and critical ranges that
    replace the defaults, as texts. `expected_brokers` is the number of brokers that should be registered,
    `inventory` knows which. `report_folder` has the tables of reports. These are called in the thread of a
    check: `report_replicas` with the comparison of slaves with their masters, `report_finding` with each
    finding, `report_groups` with the groups that a check saw, and `report_wait` once if name servers differ,
    with the longest wait in seconds.
    """

    topics: Sequence[str] = ()
    groups: Sequence[str] = ()
    journal_folders: Sequence[Path] = ()
    tls: Tls | None = None
    settle_seconds: float = 50.0
    limits_by_check: Mapping[str, tuple[str | None, str | None]] = {}
    expected_brokers: int | None = None
    inventory: InventoryKeeper | None = None
    pause_seconds: Callable[[float], object] = sleep
    report_folder: Path | None = None
    report_replicas: Callable[["ReplicaComparison"], object] = lambda comparison: None
    report_finding: Callable[[CheckFinding], object] = lambda finding: None
    report_groups: Callable[[Collection[str]], object] = lambda groups: None
    report_wait: Callable[[float], object] = lambda seconds: None

    def make_scale(self, check_name: str) -> CheckScale:
        """Return the measures of a check with their limits. Raises InvalidRangeError."""
        return CheckScale(check_name, *self.limits_by_check.get(check_name, (None, None)))


class CheckNotApplicable(Exception):
    """The check has nothing to check. The message gives the reason."""


CheckFunction = Callable[[AdminClient, CheckScope], CheckFinding]


def _check_namesrv(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import namesrv

    return namesrv.judge_name_servers(check_scope.make_scale("namesrv"), namesrv.observe_name_servers(admin))


def _check_brokers(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import brokers

    return brokers.judge_brokers(
        check_scope.make_scale("brokers"),
        brokers.observe_brokers(admin, inventory=check_scope.inventory),
        check_scope.expected_brokers,
    )


def _check_divergence(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import divergence
    from nsadmin.operations.divergence.observer import DivergenceObserver, find_missing_brokers

    if len(admin.addresses.addrs) < 2:
        raise CheckNotApplicable("only one name server")
    divergence_observer = DivergenceObserver(
        admin, lambda: int(monotonic() * 1000), settle_ms=int(check_scope.settle_seconds * 1000)
    )
    observation = divergence_observer.observe_until_settled(
        check_scope.pause_seconds,
        lambda first_observation, waiting_seconds: check_scope.report_wait(waiting_seconds),
    )
    inventory = check_scope.inventory
    missing_brokers = () if inventory is None else find_missing_brokers(observation, inventory)
    return divergence.judge_divergence(
        check_scope.make_scale("divergence"),
        observation,
        missing_brokers,
        None if inventory is None else inventory.problem,
    )


def _check_writable(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import writable_topics, writable_topics_observation

    observation = writable_topics_observation.observe_writable_topics(admin, check_scope.inventory)
    topics = {
        topic for _, snapshot, _ in observation.snapshot_results if snapshot for topic in snapshot.topics
    }
    check_scope.report_groups(find_groups_with_retries(topics))
    return writable_topics.judge_writable_topics(check_scope.make_scale("writable"), observation)


def _check_heartbeat(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import heartbeat

    return heartbeat.judge_heartbeats(
        check_scope.make_scale("heartbeat"), heartbeat.observe_heartbeats(admin)
    )


def _check_registration_size(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import registration_size

    return registration_size.judge_registration_sizes(
        check_scope.make_scale("registrationSize"), registration_size.observe_registration_sizes(admin)
    )


def _check_certificates(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    if check_scope.tls is None:
        raise CheckNotApplicable("TLS is not in use")
    from nsadmin.operations.checks import certificates

    return certificates.judge_certificates(
        check_scope.make_scale("certificates"),
        certificates.observe_certificates(admin, admin.clock_ms / 1000, check_scope.tls),
    )


def _check_journal(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import journal

    now_ms = admin.clock_ms
    server_statuses = journal.read_server_statuses(admin)
    if not check_scope.journal_folders and all(
        journal_status is None for _, journal_status, _ in server_statuses
    ):
        raise CheckNotApplicable("no journal is configured")
    inspected_folders = [
        journal.inspect_folder(journal_folder, now_ms - journal.DAY_MS, False)
        for journal_folder in check_scope.journal_folders
    ]
    return journal.judge_journals(
        check_scope.make_scale("journal"),
        journal.JournalObservation(now_ms, server_statuses, inspected_folders),
    )


def _check_drain(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import drain
    from nsadmin.operations.state_folder import find_state_home

    observation = drain.observe_drains(admin, admin.clock_ms, find_state_home())
    if not observation.observed_drains and not observation.unreadable_states:
        raise CheckNotApplicable("this machine has no drain of a broker of this cluster")
    return drain.judge_drains(check_scope.make_scale("drain"), observation)


def _check_replicas(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    from nsadmin.operations.checks import replicas
    from nsadmin.operations.replicas.comparer import ReplicaComparer
    from nsadmin.operations.replicas.memory_store import open_replica_memory

    comparison = ReplicaComparer(admin, open_replica_memory(check_scope.inventory)).compare_replicas()
    check_scope.report_replicas(comparison)
    if not comparison.slave_count:
        raise CheckNotApplicable("no broker has a slave")
    return replicas.judge_replicas(check_scope.make_scale("replicas"), comparison)


def _check_reports(admin: AdminClient, check_scope: CheckScope) -> CheckFinding:
    if check_scope.report_folder is None:
        raise CheckNotApplicable("pass --reports DIR")
    from nsadmin.operations.checks import reports

    return reports.judge_reports(check_scope.make_scale("reports"), check_scope.report_folder, admin.clock_ms)


CHECKS_BY_NAME: Mapping[str, CheckFunction] = {
    "namesrv": _check_namesrv,
    "brokers": _check_brokers,
    "divergence": _check_divergence,
    "writable": _check_writable,
    "heartbeat": _check_heartbeat,
    "replicas": _check_replicas,
    "registrationSize": _check_registration_size,
    "certificates": _check_certificates,
    "journal": _check_journal,
    "drain": _check_drain,
    "reports": _check_reports,
}
"""The checks of a whole cluster by name. The checks in SUBJECT_CHECKS need the name of a topic or group."""


def _check_topic(admin: AdminClient, check_scope: CheckScope, topic_name: str) -> CheckFinding:
    from nsadmin.operations.checks import topic

    return topic.judge_topic(
        check_scope.make_scale("topic"), topic.observe_topic(admin, topic_name, check_scope.inventory)
    )


def _check_lag(admin: AdminClient, check_scope: CheckScope, group_name: str) -> CheckFinding:
    from nsadmin.operations.checks import lag

    return lag.judge_lag(check_scope.make_scale("lag"), lag.observe_lag(admin, admin.clock_ms, group_name))


SUBJECT_CHECKS: Mapping[str, Callable[[AdminClient, CheckScope, str], CheckFinding]] = {
    "topic": _check_topic,
    "lag": _check_lag,
}


def run_checks(
    connect_client: Callable[[], AbstractContextManager[AdminClient]],
    check_scope: CheckScope,
    skipped_checks: Collection[str] = (),
) -> tuple[CheckFinding, list[CheckFinding]]:
    """Return the combined finding and all findings.

    Calls `connect_client` in this thread, once per check. The thread of the check enters and leaves its
    result.
    """
    # This import takes 10 ms, which other commands need not pay.
    from concurrent.futures import ThreadPoolExecutor

    check_steps: list[tuple[str, str | None]] = [
        (check_name, None) for check_name in CHECKS_BY_NAME if check_name not in skipped_checks
    ]
    check_steps += [("topic", topic) for topic in check_scope.topics]
    check_steps += [("lag", group) for group in check_scope.groups]
    seen_groups: set[str] = set()
    check_scope = check_scope._replace(report_groups=seen_groups.update)
    admin_clients = [connect_client() for _ in check_steps]
    with ThreadPoolExecutor(min(len(check_steps), _MAX_THREADS) or 1) as thread_pool:
        check_results = list(
            thread_pool.map(
                lambda check_step, admin: _run_check(admin, check_scope, *check_step),
                check_steps,
                admin_clients,
            )
        )
    findings = [check_result for check_result in check_results if isinstance(check_result, CheckFinding)]
    unchecked = [check_result for check_result in check_results if isinstance(check_result, UncheckedPart)]
    unchecked += [UncheckedPart(check_name, "left out") for check_name in skipped_checks]
    unchecked += _list_unasked(check_scope, len(seen_groups.difference(check_scope.groups)))
    return _combine_findings(findings, unchecked), findings


def _run_check(
    open_client: AbstractContextManager[AdminClient],
    check_scope: CheckScope,
    check_name: str,
    about: str | None,
) -> CheckFinding | UncheckedPart:
    """Return the finding of a check, UNKNOWN if it failed; or the reason why it does not apply."""
    try:
        with open_client as admin:
            finding = (
                CHECKS_BY_NAME[check_name](admin, check_scope)
                if about is None
                else SUBJECT_CHECKS[check_name](admin, check_scope, about)
            )
    except CheckNotApplicable as not_applicable:
        return UncheckedPart(check_name, str(not_applicable))
    except ClientClosed:
        raise
    except RocketMQError as error:
        finding = CheckScale(check_name).make_unknown_finding(error_text(error), about=about)
    check_scope.report_finding(finding)
    return finding


def _list_unasked(check_scope: CheckScope, group_count: int) -> list[UncheckedPart]:
    """The checks that need the name of a topic or group, or that `check all` does not contain.

    At least `group_count` groups were not examined: others have no retry topic.
    """
    lag_advice = f"pass -g GROUP to check {'other groups' if check_scope.groups else 'a group'}"
    return [
        *([] if check_scope.topics else [UncheckedPart("topic", "pass -t TOPIC to check one topic")]),
        UncheckedPart("lag", f"{count_groups(group_count)} with a retry topic: {lag_advice}", group_count)
        if group_count
        else UncheckedPart("lag", lag_advice),
        *(UncheckedPart(check_name, f"run {command}") for check_name, command in _OTHER_COMMANDS.items()),
    ]


def _combine_findings(findings: Sequence[CheckFinding], unchecked: Sequence[UncheckedPart]) -> CheckFinding:
    bad_findings = [finding for finding in findings if finding.state is not CheckState.OK]
    bad_findings.sort(key=lambda finding: -state_weight(finding.state))
    summary = f"{len(findings)} checks"
    if bad_findings:
        bad_titles = [
            f"{finding.check}{f' {finding.about}' if finding.about else ''} {finding.state.name}"
            for finding in bad_findings
        ]
        summary = f"{len(bad_findings)} of {len(findings)} checks are not OK: {', '.join(bad_titles)}"
    if unchecked:
        summary += f". Not checked: {', '.join(part.title for part in unchecked)}"
    return CheckFinding(
        "all",
        worst_state([finding.state for finding in findings]),
        summary,
        details=tuple(f"not checked: {part.check}: {part.reason}" for part in unchecked),
        unchecked=tuple(unchecked),
    )
