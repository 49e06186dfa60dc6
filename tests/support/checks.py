"""Runs one check, as commands and the library do; and what a run of all checks can contain in tests."""

from typing import Any

from nsadmin import AdminClient
from nsadmin.operations.checks.check import WHOLE_CLUSTER, Check, CheckLimits, CheckScope
from nsadmin.operations.checks.check_suite import CLUSTER_CHECKS
from nsadmin.operations.checks.findings import CheckFinding

_SCRIPTED = (
    "namesrv", "brokers", "divergence", "writable", "heartbeat", "replicas", "certificates", "journal",
    "drain", "reports",
)  # fmt: skip
UNSCRIPTED_CHECKS = tuple(name for name in CLUSTER_CHECKS if name not in _SCRIPTED)
"""The checks of requests that scripted servers do not answer. Tests of all checks skip them."""
SKIP_WORDS = tuple(word for name in UNSCRIPTED_CHECKS for word in ("--skip", name))


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
