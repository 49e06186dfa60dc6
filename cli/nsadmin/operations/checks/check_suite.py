"""Runs every applicable check concurrently, so that an unreachable server delays one check only."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import ClientClosed, error_text
from nsadmin.console.phrases import abbreviate_names, count_noun, part_is
from nsadmin.operations.checks.check import WHOLE_CLUSTER, CheckLimits, CheckNotApplicable, CheckScope
from nsadmin.operations.checks.check_table import CHECK_TABLE, CHECKS_BY_NAME, CheckEntry
from nsadmin.operations.checks.findings import (
    CheckFinding,
    CheckState,
    UncheckedPart,
    state_weight,
    worst_state,
)
from nsadmin.operations.side_by_side import run_side_by_side

_MAX_THREADS = 32
CLUSTER_CHECKS = tuple(entry.name for entry in CHECK_TABLE if entry.is_in_all)
"""The checks of a whole cluster, in the order in which they are reported."""
CHECKS_WITH_LIMITS = (*CLUSTER_CHECKS, "topic")
"""The checks that a run of all checks can contain, in this order."""
_OTHER_COMMANDS = {
    **{entry.name: entry.all_hint for entry in CHECK_TABLE if entry.all_hint is not None},
    "security": ("securityAudit",),
}
"""Checks that are no part of a run of all checks, with their commands."""


class CheckPlan(NamedTuple):
    """A run of all checks, and of those of the named topics. Without `groups`, all groups are examined.

    `limits` has the ranges that replace the defaults, by check. `report_finding` is called in the thread of a
    check, with its finding.
    """

    scope: CheckScope = WHOLE_CLUSTER
    topics: Sequence[str] = ()
    groups: Sequence[str] = ()
    limits: Mapping[str, CheckLimits] = {}
    skipped: Collection[str] = ()
    report_finding: Callable[[CheckFinding], object] = lambda finding: None


def run_checks(
    connect_client: Callable[[], AbstractContextManager[AdminClient]], plan: CheckPlan
) -> tuple[CheckFinding, list[CheckFinding]]:
    """Return the combined finding and all findings.

    Calls `connect_client` in this thread, once per check. The thread of the check enters and leaves its
    result.
    """
    seen_groups: set[str] = set()
    scope = plan.scope._replace(is_part=True, report_groups=seen_groups.update)
    steps = [
        (entry, scope)
        for entry in CHECK_TABLE
        if entry.is_in_all
        and entry.name not in plan.skipped
        and not (entry.subject == "group" and plan.groups)
    ]
    steps += _name_steps(plan, scope)
    results = _run_steps(connect_client, plan, steps)
    findings = [result for result in results if isinstance(result, CheckFinding)]
    unchecked = [result for result in results if isinstance(result, UncheckedPart)]
    unchecked += [UncheckedPart(name, "skipped with --skip") for name in plan.skipped]
    if plan.scope.excluded is not None:
        reason = f"topics and groups that match {plan.scope.excluded.pattern}"
        unchecked.append(UncheckedPart("excluded names", reason))
    unchecked += _list_unasked(plan, len(seen_groups.difference(plan.groups)))
    return _combine_findings("all", "check", findings, unchecked), findings


def run_check_of_each(
    connect_client: Callable[[], AbstractContextManager[AdminClient]], check_name: str, plan: CheckPlan
) -> tuple[CheckFinding, list[CheckFinding]]:
    """Run the check of each topic or group of the plan. Return the combined finding and all findings."""
    results = _run_steps(connect_client, plan, _name_steps(plan, plan.scope))
    findings = [result for result in results if isinstance(result, CheckFinding)]
    return _combine_findings(check_name, CHECKS_BY_NAME[check_name].subject or "check", findings), findings


def _name_steps(plan: CheckPlan, scope: CheckScope) -> list[tuple[CheckEntry, CheckScope]]:
    return [
        *((CHECKS_BY_NAME["topic"], scope._replace(topic=topic)) for topic in plan.topics),
        *((CHECKS_BY_NAME["lag"], scope._replace(group=group)) for group in plan.groups),
    ]


def _run_steps(
    connect_client: Callable[[], AbstractContextManager[AdminClient]],
    plan: CheckPlan,
    steps: Sequence[tuple[CheckEntry, CheckScope]],
) -> list[CheckFinding | UncheckedPart]:
    clients = [connect_client() for _ in steps]
    return run_side_by_side(
        [
            partial(_run_check, client, plan, entry, scope)
            for client, (entry, scope) in zip(clients, steps, strict=True)
        ],
        _MAX_THREADS,
    )


def _run_check(
    open_client: AbstractContextManager[AdminClient], plan: CheckPlan, entry: CheckEntry, scope: CheckScope
) -> CheckFinding | UncheckedPart:
    """Return the finding of a check, UNKNOWN if it failed; or the reason why it does not apply."""
    check = entry.load()
    scale = check.make_scale(plan.limits.get(entry.name, (None, None)))
    try:
        with open_client as admin:
            finding = check.judge(scale, check.observe(admin, scope))
    except CheckNotApplicable as not_applicable:
        return UncheckedPart(entry.name, str(not_applicable))
    except ClientClosed:
        raise
    except RocketMQError as error:
        finding = scale.make_unknown_finding(error_text(error), about=scope.topic or scope.group)
    plan.report_finding(finding)
    return finding


def _list_unasked(plan: CheckPlan, group_count: int) -> list[UncheckedPart]:
    """The checks that need the name of a topic or group, or that `check all` does not contain.

    At least `group_count` groups were not examined if some were named: others have no retry topic.
    """
    lag_reason = (
        f"{count_noun(group_count, 'other group')} with a retry topic: leave out -g to check all groups"
    )
    return [
        *([] if plan.topics else [UncheckedPart("topic", "pass -t TOPIC to check one topic")]),
        *([UncheckedPart("lag", lag_reason, group_count)] if plan.groups and group_count else []),
        *(UncheckedPart(name, f"run {quote_command(*words)}") for name, words in _OTHER_COMMANDS.items()),
    ]


def _combine_findings(
    check_name: str, noun: str, findings: Sequence[CheckFinding], unchecked: Sequence[UncheckedPart] = ()
) -> CheckFinding:
    bad = [finding for finding in findings if finding.state is not CheckState.OK]
    bad.sort(key=lambda finding: -state_weight(finding.state))
    summary = count_noun(len(findings), noun)
    if bad:
        titles = ", ".join(
            f"{(noun != 'check' and f.about) or f.title} {f.state.name}"
            + (f" ({abbreviate_names(f.affected, 1)})" if f.affected else "")
            for f in bad
        )
        summary = f"{part_is(len(bad), len(findings), noun)} not OK: {titles}"
    if unchecked:
        summary += f". Not checked: {', '.join(part.title for part in unchecked)}"
    return CheckFinding(
        check_name,
        worst_state([finding.state for finding in findings]),
        summary,
        details=tuple(f"not checked: {part.check}: {part.reason}" for part in unchecked),
        unchecked=tuple(unchecked),
    )
