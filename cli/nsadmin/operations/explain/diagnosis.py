"""Diagnosis: runs all cause checks in order, merges their findings and reaches a verdict. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from nsadmin.operations.explain import name_server_causes, proxy_causes, registration_causes, route_causes
from nsadmin.operations.explain.facts import RouteFacts
from nsadmin.operations.explain.findings import (
    SERVERS_PLACEHOLDER,
    Advice,
    CauseCheck,
    CauseFinding,
    ok_finding,
    skipped_finding,
)

ALL_CAUSE_CHECKS: tuple[CauseCheck, ...] = (
    *name_server_causes.NAME_SERVER_CHECKS,
    *registration_causes.REGISTRATION_CHECKS,
    *route_causes.ROUTE_CHECKS,
    *proxy_causes.PROXY_CHECKS,
)
"""All checks in their order: an earlier cause can hide later ones."""

RouteVerdict = Literal["fine", "cause found", "unknown"]


class CauseExplanation(NamedTuple):
    """A finding, the id of the checked cause, and the name servers that the finding is about."""

    cause_id: str
    finding: CauseFinding
    namesrv_addrs: tuple[str, ...]


def explain_route(facts: RouteFacts) -> list[CauseExplanation]:
    """At least one explanation for each cause that applies."""
    explanations = []
    for check in ALL_CAUSE_CHECKS:
        if not check.applies(facts):
            continue
        explanations += _merge_findings(
            check.id, list(check.find_problems(facts)) or [_all_clear_finding(check, facts)]
        )
    return explanations


def _all_clear_finding(check: CauseCheck, facts: RouteFacts) -> CauseFinding:
    """The finding for a cause without problems; "skipped" if it needs name servers and all are silent."""
    finding = ok_finding(check.all_clear) if isinstance(check.all_clear, str) else check.all_clear(facts)
    if finding.result == "ok" and check.needs_servers and all(view.is_silent for view in facts.server_views):
        return skipped_finding("no name server answered")
    return finding


def _merge_findings(cause_id: str, findings: Iterable[CauseFinding]) -> list[CauseExplanation]:
    """Merge findings that are the same on several name servers into one explanation."""
    addrs_by_finding: dict[CauseFinding, list[str]] = {}
    for finding in findings:
        namesrv_addrs = addrs_by_finding.setdefault(finding._replace(namesrv_addr=None), [])
        namesrv_addrs += [finding.namesrv_addr] if finding.namesrv_addr else []
    return [
        CauseExplanation(
            cause_id, finding._replace(advice=_fill_in_servers(finding.advice, addrs)), tuple(addrs)
        )
        for finding, addrs in addrs_by_finding.items()
    ]


def _fill_in_servers(advice: Advice | None, namesrv_addrs: Sequence[str]) -> Advice | None:
    if advice is None:
        return None
    return advice._replace(
        command_words=tuple(
            word.replace(SERVERS_PLACEHOLDER, ";".join(namesrv_addrs)) for word in advice.command_words
        )
    )


def reach_verdict(explanations: Sequence[CauseExplanation]) -> RouteVerdict:
    """The verdict: a found cause counts more than unknown results."""
    finding_results = {explanation.finding.result for explanation in explanations}
    return (
        "cause found" if "cause" in finding_results else "unknown" if "unknown" in finding_results else "fine"
    )


def list_cause_ids(explanations: Iterable[CauseExplanation]) -> list[str]:
    """The ids of the causes that were found, in order, each once."""
    return list(
        dict.fromkeys(
            explanation.cause_id for explanation in explanations if explanation.finding.result == "cause"
        )
    )
