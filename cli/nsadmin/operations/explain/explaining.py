"""Diagnosis: runs all cause checks in order, merges their findings and reaches a verdict. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from nsadmin.operations.explain import name_servers, registration, routes
from nsadmin.operations.explain.facts import Facts
from nsadmin.operations.explain.findings import SERVERS, Advice, Finding, Step, ok, skipped

STEPS: tuple[Step, ...] = (*name_servers.STEPS, *registration.STEPS, *routes.STEPS)
"""All checks in their order: an earlier cause can hide later ones."""

Verdict = Literal["fine", "cause found", "unknown"]


class Explained(NamedTuple):
    """A finding, the id of the checked cause, and the name servers that the finding is about."""

    cause: str
    finding: Finding
    namesrv_addrs: tuple[str, ...]


def explain(facts: Facts) -> list[Explained]:
    """At least one explanation for each cause."""
    found = []
    for step in STEPS:
        found += _together(step.id, list(step.look(facts)) or [_well(step, facts)])
    return found


def _well(step: Step, facts: Facts) -> Finding:
    """The finding for a cause without problems; "skipped" if it needs name servers and all are silent."""
    finding = ok(step.well) if isinstance(step.well, str) else step.well(facts)
    if finding.result == "ok" and step.needs_servers and all(view.is_silent for view in facts.views):
        return skipped("no name server answered")
    return finding


def _together(cause: str, findings: Iterable[Finding]) -> list[Explained]:
    """Merge findings that are the same on several name servers into one explanation."""
    servers: dict[Finding, list[str]] = {}
    for finding in findings:
        addrs = servers.setdefault(finding._replace(namesrv_addr=None), [])
        addrs += [finding.namesrv_addr] if finding.namesrv_addr else []
    return [
        Explained(cause, finding._replace(next=_filled(finding.next, addrs)), tuple(addrs))
        for finding, addrs in servers.items()
    ]


def _filled(advice: Advice | None, addrs: Sequence[str]) -> Advice | None:
    if advice is None:
        return None
    return advice._replace(command=tuple(word.replace(SERVERS, ";".join(addrs)) for word in advice.command))


def verdict(found: Sequence[Explained]) -> Verdict:
    """The verdict: a found cause counts more than unknown results."""
    results = {item.finding.result for item in found}
    return "cause found" if "cause" in results else "unknown" if "unknown" in results else "fine"


def causes(found: Iterable[Explained]) -> list[str]:
    """The ids of the causes that were found, in order, each once."""
    return list(dict.fromkeys(item.cause for item in found if item.finding.result == "cause"))
