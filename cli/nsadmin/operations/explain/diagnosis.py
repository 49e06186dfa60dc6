"""Diagnosis: runs cause checks in order, merges their findings and reaches a verdict. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.operations.explain.findings import (
    SERVERS_PLACEHOLDER,
    Advice,
    CauseCheck,
    CauseFinding,
    Facts,
    FindingResult,
    ok_finding,
    skipped_finding,
)

Verdict = Literal["fine", "cause found", "unknown"]


class CauseExplanation(NamedTuple):
    """What was found about a cause.

    Attributes:
        cause_id: The cause, by a name that stays the same in every release.
        finding: The finding.
        namesrv_addrs: The name servers that the finding is about; () if it is not about name servers.
    """

    cause_id: str
    finding: CauseFinding
    namesrv_addrs: tuple[str, ...]


def explain_causes(
    checks: Iterable[CauseCheck[Facts]], facts: Facts, silence_text: str | None = None
) -> list[CauseExplanation]:
    """At least one explanation for each cause that applies.

    `silence_text` says that no server answered; a cause that needs servers is then skipped, and not ok.
    """
    explanations = []
    for check in checks:
        if check.applies(facts):
            findings = list(check.find_problems(facts)) or [_all_clear_finding(check, facts, silence_text)]
            explanations += _merge_findings(check.id, findings)
    return explanations


def _all_clear_finding(check: CauseCheck[Facts], facts: Facts, silence_text: str | None) -> CauseFinding:
    finding = ok_finding(check.all_clear) if isinstance(check.all_clear, str) else check.all_clear(facts)
    if finding.result == "ok" and check.needs_servers and silence_text:
        return skipped_finding(silence_text)
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


def reach_verdict(explanations: Iterable[CauseExplanation]) -> Verdict:
    """The verdict: a found cause counts more than unknown results."""
    results = {explanation.finding.result for explanation in explanations}
    return "cause found" if "cause" in results else "unknown" if "unknown" in results else "fine"


def list_cause_ids(explanations: Iterable[CauseExplanation], result: FindingResult = "cause") -> list[str]:
    """The ids of the causes with this result, in order, each once."""
    return list(dict.fromkeys(e.cause_id for e in explanations if e.finding.result == result))


def describe_verdict(explanations: Sequence[CauseExplanation], fine_text: str) -> list[str]:
    """The verdict in a line, and the other problems in a second one; `fine_text` says what works."""
    evidence_by_cause: dict[str, str] = {}
    for explanation in explanations:
        if explanation.finding.result == "warning":
            evidence_by_cause.setdefault(explanation.cause_id, explanation.finding.evidence)
    verdict_line = {
        "cause found": f"cause found: {', '.join(list_cause_ids(explanations))}",
        "unknown": "unknown: no cause found, but some checks were incomplete: "
        f"{', '.join(list_cause_ids(explanations, 'unknown'))}",
        "fine": fine_text if evidence_by_cause else f"no problem: {fine_text}",
    }[reach_verdict(explanations)]
    problems = ", ".join(f"{cause_id} ({evidence})" for cause_id, evidence in evidence_by_cause.items())
    return [verdict_line, *([f"other problems to fix: {problems}"] if problems else [])]


def verdict_errors(verdict: Verdict) -> list[RocketMQError | None]:
    """The errors that lead to the exit code of a verdict: 0 for "fine", 1 for a cause, 3 for "unknown"."""
    if verdict == "fine":
        return [None]
    return [RocketMQError(verdict)] if verdict == "cause found" else [None, RocketMQError(verdict)]
