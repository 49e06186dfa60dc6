"""The walk: every cause in its order, what was found of each, and what that comes to. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from nsadmin.operations.explain import name_servers, registration, routes
from nsadmin.operations.explain.facts import Facts
from nsadmin.operations.explain.findings import SERVERS, Advice, Finding, Step, ok, skipped

STEPS: tuple[Step, ...] = (*name_servers.STEPS, *registration.STEPS, *routes.STEPS)
"""In the order in which they are looked for: what comes first makes the rest hard to see."""

Verdict = Literal["fine", "cause found", "unknown"]


class Explained(NamedTuple):
    """A finding, the id of the cause that was looked for, and the name servers of which it is to be said."""

    cause: str
    finding: Finding
    namesrv_addrs: tuple[str, ...]


def explain(facts: Facts) -> list[Explained]:
    """At least one finding for each cause."""
    found = []
    for step in STEPS:
        found += _together(step.id, list(step.look(facts)) or [_well(step, facts)])
    return found


def _well(step: Step, facts: Facts) -> Finding:
    """Of silent name servers nothing is well."""
    finding = ok(step.well) if isinstance(step.well, str) else step.well(facts)
    if finding.result == "ok" and step.needs_servers and all(view.is_silent for view in facts.views):
        return skipped("no name server answered")
    return finding


def _together(cause: str, findings: Iterable[Finding]) -> list[Explained]:
    """What is the same on several name servers is told once."""
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
    """A cause counts whatever else is not known."""
    results = {item.finding.result for item in found}
    return "cause found" if "cause" in results else "unknown" if "unknown" in results else "fine"


def causes(found: Iterable[Explained]) -> list[str]:
    """The ids of the causes that were found, each once, in order."""
    return list(dict.fromkeys(item.cause for item in found if item.finding.result == "cause"))
