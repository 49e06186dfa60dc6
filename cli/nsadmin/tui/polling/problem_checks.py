"""The checks of `nsadmin check all`, as a poll of their problems."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.results import error_text
from nsadmin.operations.checks import divergence
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.check_suite import CheckPlan, run_checks
from nsadmin.operations.checks.check_table import find_check
from nsadmin.operations.checks.divergence import ServerComparison
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.divergence.observer import DivergenceObserver
from nsadmin.tui.polling.poll_records import AnyPoll, ProblemRecord, ProblemsPolled, ReplicasPolled
from nsadmin.tui.polling.replica_polls import make_replicas_poll


def repeat_checks(
    connect_client: Callable[[], AbstractContextManager[AdminClient]],
    scope: CheckScope,
    clock: Callable[[], int],
    compared_namespaces: Sequence[str] | None,
) -> Generator[list[AnyPoll], None, None]:
    """Run all checks each time that the caller takes the polls: the problems, and the comparison of slaves.

    The comparison is missing if its check failed. `compared_namespaces` is None: do not compare name servers.
    """
    replicas_polls: list[ReplicasPolled] = []
    scope = scope._replace(
        report_replicas=lambda comparison: replicas_polls.append(make_replicas_poll(comparison, clock()))
    )
    with connect_client() as admin:
        observer = (
            DivergenceObserver(admin, clock, namespaces=tuple(compared_namespaces))
            if compared_namespaces is not None
            else None
        )
        while True:
            replicas_polls.clear()
            problems_poll = poll_problems(connect_client, scope, clock, observer)
            yield [problems_poll, *replicas_polls]


def poll_problems(
    connect_client: Callable[[], AbstractContextManager[AdminClient]],
    scope: CheckScope,
    clock: Callable[[], int],
    observer: DivergenceObserver | None,
) -> ProblemsPolled:
    """Run all checks, with a client for each.

    `divergence_observer` remembers how old each difference is, so that the poll need not wait until it is
    drift. It is None for a single name server.
    """
    overall_finding, findings = run_checks(connect_client, CheckPlan(scope, skipped=("divergence", "lag")))
    unchecked = [part.check for part in overall_finding.unchecked if part.check != "divergence"]
    if observer is not None:
        findings.append(_check_divergence(observer))
    else:
        unchecked.append("divergence")
    problems = [problem for finding in findings for problem in _list_problems(finding)]
    return ProblemsPolled(clock(), problems, len(findings), unchecked)


def _check_divergence(observer: DivergenceObserver) -> CheckFinding:
    scale = divergence.CHECK.make_scale()
    try:
        return divergence.judge(scale, ServerComparison(observer.observe_once()))
    except RocketMQError as error:
        return scale.make_unknown_finding(error_text(error))


def _list_problems(finding: CheckFinding) -> Iterator[ProblemRecord]:
    """A problem for each detail of a finding that is not OK; without details, its summary."""
    if finding.state is CheckState.OK:
        return
    general_remedy = f"`{find_check(finding.check).format_remedy(finding.about)}`"
    detail_lines = finding.details if finding.remedies else finding.brief_details or finding.details
    for line_index, detail_line in enumerate(detail_lines or (finding.summary,)):
        yield ProblemRecord(
            finding.check,
            finding.about,
            finding.state.name,
            detail_line,
            finding.remedies[line_index] if line_index < len(finding.remedies) else general_remedy,
        )
