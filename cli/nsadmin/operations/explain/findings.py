"""Checks for causes, their findings with advice, and the verdict that follows. Pure."""

from collections.abc import Callable, Iterable, Sequence
from textwrap import shorten
from typing import Generic, Literal, NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from nsadmin.client.advised_command import quote_command
from nsadmin.console.phrases import abbreviate_names

Facts = TypeVar("Facts")

FindingResult = Literal["ok", "warning", "cause", "unknown", "skipped"]
"""A "warning" is a problem, but not the cause that the operator asks for; "unknown" could not be checked."""


_MAX_EVIDENCE = 600
"""Characters of a finding in the verdict. The table has all of it."""
SERVERS_PLACEHOLDER = "{servers}"
"""Placeholder in a command for all name servers that the finding is about."""


class Advice(NamedTuple):
    """What to do next: an instruction, a command, or both.

    Attributes:
        instruction: The instruction, which says why to type the command; "" for none.
        command_words: The words after `nsadmin`; () for none.
    """

    instruction: str
    command_words: tuple[str, ...] = ()

    @property
    def shell_command(self) -> str | None:
        """The whole command, quoted for a shell; None without a command."""
        return quote_command(*self.command_words) if self.command_words else None

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.instruction, self.shell_command)))


class CauseFinding(NamedTuple):
    """The result of a cause check.

    Attributes:
        result: "ok", "warning" (a problem, but not the cause), "cause", "unknown" or "skipped".
        evidence: What was seen.
        advice: What to do next; None for nothing.
        namesrv_addr: The name server that the finding is about, if any; so with the next two.
        broker_name: The broker.
        broker_addr: Its address.
    """

    result: FindingResult
    evidence: str
    advice: Advice | None = None
    namesrv_addr: str | None = None
    broker_name: str | None = None
    broker_addr: str | None = None


class CauseCheck(NamedTuple, Generic[Facts]):
    """The check for one cause: `id` names the cause for programs, `find_problems` yields the findings.

    If `find_problems` yields nothing, the finding is `all_clear`: a text, or a function of the facts. There
    is no finding if `applies` returns False.
    """

    id: str
    all_clear: str | Callable[[Facts], CauseFinding]
    find_problems: Callable[[Facts], Iterable[CauseFinding]]
    needs_servers: bool = True
    applies: Callable[[Facts], bool] = lambda facts: True


def advise_on_missing(broker_name: str) -> Advice:
    """Advice about an expected broker that no name server lists."""
    instruction = f"start {broker_name} again, or, if you removed it on purpose, forget it"
    return Advice(instruction, ("inventory", "forget", broker_name))


def ok_finding(evidence: str) -> CauseFinding:
    return CauseFinding("ok", evidence)


def skipped_finding(evidence: str) -> CauseFinding:
    return CauseFinding("skipped", evidence)


def join_names(names: Iterable[str]) -> str:
    """Names joined for a sentence: all of them, or the first four of many."""
    all_names = list(names)
    # With five names, "and 1 more" would be longer than the fifth name.
    return abbreviate_names(all_names, 4 if len(all_names) > 5 else 5)


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

    `silence_text` says that no server answered; a cause that needs servers is then skipped for this reason.
    """
    explanations = []
    for check in checks:
        if check.applies(facts):
            findings = list(check.find_problems(facts)) or [_all_clear_finding(check, facts, silence_text)]
            explanations += _merge_findings(check.id, findings)
    return explanations


def _all_clear_finding(check: CauseCheck[Facts], facts: Facts, silence_text: str | None) -> CauseFinding:
    finding = ok_finding(check.all_clear) if isinstance(check.all_clear, str) else check.all_clear(facts)
    if finding.result in ("ok", "skipped") and check.needs_servers and silence_text:
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
    """The verdict, what to do about the first cause, and the warnings; `fine_text` says what works."""
    warnings = _list_evidence(explanations, "warning")
    verdict_line = {
        "cause found": f"cause found: {_list_evidence(explanations, 'cause')}",
        "unknown": "unknown: no cause found, but some checks were incomplete: "
        f"{', '.join(list_cause_ids(explanations, 'unknown'))}",
        "fine": fine_text if warnings else f"no problem: {fine_text}",
    }[reach_verdict(explanations)]
    causes = (e.finding for e in explanations if e.finding.result == "cause")
    advice = next((finding.advice for finding in causes), None)
    return [
        verdict_line,
        *([f"next: {advice}"] if advice else []),
        *([f"warnings: {warnings}"] if warnings else []),
    ]


def _list_evidence(explanations: Sequence[CauseExplanation], result: FindingResult) -> str:
    """The causes with this result, each with its first finding: lag (waiting messages: 12)."""
    evidence_by_cause: dict[str, str] = {}
    for explanation in explanations:
        if explanation.finding.result == result:
            evidence_by_cause.setdefault(explanation.cause_id, explanation.finding.evidence)
    return ", ".join(
        f"{cause_id} ({shorten(evidence, _MAX_EVIDENCE, placeholder=' …')})"
        for cause_id, evidence in evidence_by_cause.items()
    )


def verdict_errors(verdict: Verdict) -> list[RocketMQError | None]:
    """The errors that lead to the exit code of a verdict: 0 for "fine", 1 for a cause, 3 for "unknown"."""
    if verdict == "fine":
        return [None]
    return [RocketMQError(verdict)] if verdict == "cause found" else [None, RocketMQError(verdict)]
