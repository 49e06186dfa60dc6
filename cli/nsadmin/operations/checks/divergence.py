"""Checks whether all name servers have the same state, or are converging."""

from nsadmin.client.results import error_text
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.operations.divergence.findings import Finding as Differing
from nsadmin.operations.divergence.findings import in_words
from nsadmin.operations.divergence.looking import Look

_SHOWN = 10


def judge(scale: Scale, look: Look) -> Finding:
    """Count drift only: younger differences may still converge. A comparison needs two name servers."""
    drift = [one for one in look.findings if one.state == "drift"]
    routes = [one for one in drift if one.what in ("broker", "topic")]
    young = sum(len(one.differences) for one in look.findings if one.state == "new")
    asked, answered = len(look.answers), len(look.pictures)
    details = [_line(one, look) for one in drift[:_SHOWN]]
    details += [f"and {len(drift) - _SHOWN} more kinds of differences"] if len(drift) > _SHOWN else []
    details += [
        f"name server {addr}: {error_text(error)}" for addr, _, error in look.answers if error is not None
    ]
    if look.verdict == "unknown":
        return scale.unknown(f"{answered} of {asked} name servers tell what they know: it takes two", details)
    samples = [
        scale.sample("drift", _count(drift)),
        scale.sample("routes", _count(routes)),
        scale.sample("young", young),
    ]
    if drift:
        summary = f"{_count(drift)} things differ between {answered} name servers"
    else:
        summary = f"{answered} of {asked} name servers agree"
    if young:
        summary += f", {young} things differ for less than two heartbeats"
    least = State.UNKNOWN if answered < asked else State.OK
    return scale.finding(summary, samples, details, least=least)


def _count(findings: list[Differing]) -> int:
    return sum(len(one.differences) for one in findings)


def _line(one: Differing, look: Look) -> str:
    names = one.names[0] if len(one.names) == 1 else f"{one.names[0]} and {len(one.names) - 1} more"
    place = f" of {one.place}" if one.what == "topic" and one.place else ""
    differs = in_words(one.differences[0], look.comparison.servers)
    return f"{one.what} {names}{place}: {differs}; {one.cause.text}"
