"""The checks of `nsadmin check all`, as a poll of their problems, and one of the compared slaves."""

from collections import Counter
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
from nsadmin.operations.replicas.comparison import describe_difference
from nsadmin.operations.replicas.records import DifferenceState, JudgedDifference, ReplicaComparison
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    ProblemRecord,
    ProblemsPolled,
    ReplicasPolled,
    SlaveDifferenceRecord,
    SlaveRecord,
)

_MAX_SLAVE_DIFFERENCES = 500
"""A slave that never copied lacks ten thousand topics, and a recording has every poll."""


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


def make_replicas_poll(comparison: ReplicaComparison, now_ms: int) -> ReplicasPolled:
    """Return the poll of a comparison. Each slave has its first differences, drift before lag."""
    differences_by_slave: dict[tuple[str, int], list[JudgedDifference]] = {
        key: [] for key in comparison.releases
    }
    for judged in sorted(comparison.differences, key=lambda judged: judged.state is DifferenceState.LAG):
        key = (judged.difference.broker_name, judged.difference.slave.broker_id)
        differences_by_slave[key].append(judged)
    return ReplicasPolled(
        now_ms,
        [
            _make_slave_record(key, differences, comparison.unread_reasons.get(key))
            for key, differences in differences_by_slave.items()
        ],
    )


def _make_slave_record(
    key: tuple[str, int], differences: Sequence[JudgedDifference], unread_reason: str | None
) -> SlaveRecord:
    counts_by_state = Counter(judged.state for judged in differences)
    drift_count, lag_count = counts_by_state[DifferenceState.DRIFT], counts_by_state[DifferenceState.LAG]
    if drift_count:
        state_word = "drift"
    elif unread_reason is not None:
        state_word = "unknown"
    else:
        state_word = "lag" if lag_count else "equal"
    return SlaveRecord(
        *key,
        state_word,
        drift_count,
        lag_count,
        unread_reason,
        [_make_difference_record(judged) for judged in differences[:_MAX_SLAVE_DIFFERENCES]],
    )


def _make_difference_record(judged: JudgedDifference) -> SlaveDifferenceRecord:
    return SlaveDifferenceRecord(
        judged.difference.kind.value,
        judged.difference.item_name,
        judged.state.value,
        describe_difference(judged.difference),
        judged.reason,
        judged.since_ms,
    )
