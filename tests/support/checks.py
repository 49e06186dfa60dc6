"""Runs one check, as commands and the library do."""

from typing import Any

from nsadmin import AdminClient
from nsadmin.operations.checks.check import WHOLE_CLUSTER, Check, CheckLimits, CheckScope
from nsadmin.operations.checks.findings import CheckFinding


def run_check(
    check: Check[Any],
    *addrs: str,
    scope: CheckScope = WHOLE_CLUSTER,
    limits: CheckLimits = (None, None),
    **seen: object,
) -> CheckFinding:
    """Observe and judge. `seen` replaces fields of the observation, such as `now_ms`."""
    with AdminClient(addrs, timeout=5) as admin:
        observation = check.observe(admin, scope)
    return check.judge(check.make_scale(limits), observation._replace(**seen) if seen else observation)


def judge_now(check: Check[Any], admin: AdminClient, scope: CheckScope = WHOLE_CLUSTER) -> CheckFinding:
    return check.judge(check.make_scale(), check.observe(admin, scope))


def read_values(finding: CheckFinding) -> dict[str, float | None]:
    return {sample.measure.name: sample.value for sample in finding.samples}
