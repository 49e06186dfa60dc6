"""The checks of `nsadmin check all`, as a poll of their problems."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from nsadmin.client import AdminClient
from nsadmin.operations.checks.check_suite import CheckScope, run_checks
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.tui.polling.poll_records import ProblemRecord, ProblemsPolled


def poll_problems(
    connect_client: Callable[[], AbstractContextManager[AdminClient]],
    check_scope: CheckScope,
    clock: Callable[[], int],
) -> ProblemsPolled:
    """Run all checks, with a client for each."""
    _, findings = run_checks(connect_client, check_scope)
    problems = [problem for finding in findings for problem in _list_problems(finding)]
    return ProblemsPolled(clock(), problems, len(findings))


def _list_problems(finding: CheckFinding) -> Iterator[ProblemRecord]:
    """A problem for each detail of a finding that is not OK; without details, its summary."""
    if finding.state is CheckState.OK:
        return
    detail_lines = finding.details if finding.remedies else finding.brief_details or finding.details
    for line_index, detail_line in enumerate(detail_lines or (finding.summary,)):
        yield ProblemRecord(
            finding.check,
            finding.about,
            finding.state.name,
            detail_line,
            finding.remedies[line_index] if line_index < len(finding.remedies) else "",
        )
