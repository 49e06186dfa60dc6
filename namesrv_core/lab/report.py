"""What is said of a run: each deed with what name servers saw of it, and what they did not."""

import logging
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.truth import FILE, Deed
from namesrv_core.lab.verdict import Finding, Verdict

_FEW = 4


def hush() -> None:
    """Brokers and name servers that complain of what is done to them are no news."""
    for name in ("fleet", "namesrv", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def listing(scenarios: Mapping[str, Scenario]) -> str:
    """The scenarios, a line each: name, how long, what."""
    width = max(map(len, scenarios), default=0)
    return "\n".join(
        f"{name:{width}}  {scenario.duration / 60:5.0f} min  {scenario.about}"
        for name, scenario in scenarios.items()
    )


def written(scenario: Scenario, verdict: Verdict, folder: Path) -> str:
    """All of it, the verdict last."""
    lines = [f"# {scenario.name}: {scenario.about}"]
    for deed, findings in groupby(verdict.findings, key=lambda finding: finding.deed):
        lines.append(_deed(deed))
        for _, alike in groupby(findings, key=lambda finding: finding.expected):
            lines += _seen(list(alike))
    for server, record in verdict.unexplained:
        shown = {key: value for key, value in record.fields.items() if isinstance(value, (str, int))}
        lines.append(f"  UNEXPLAINED on {server}: {record.type} ({record.origin.cause}) {shown}")
    due = [finding for finding in verdict.findings if finding.expected.sure]
    lines.append(
        f"# {len(due) - len(verdict.missed)} of {len(due)} conclusions are in the journals, "
        f"{len(verdict.unexplained)} records are unexplained; {folder}/{FILE}, {folder}/ns-*/journal"
    )
    return "\n".join(lines)


def _deed(deed: Deed) -> str:
    what = deed.fault if deed.phase == "begin" else f"end of {deed.fault}"
    return f"{deed.at:9.1f} s  {what} {_few(deed.on)}"


def _few(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:_FEW]) + (f" and {len(found) - _FEW} more" if len(found) > _FEW else "")


def _seen(findings: list[Finding]) -> list[str]:
    """One expectation, on its servers and of its brokers."""
    expected = findings[0].expected
    types = " or ".join(expected.types)
    lines = []
    seen = [finding for finding in findings if finding.after is not None]
    if seen:
        last = max(finding.after or 0 for finding in seen)
        servers = _few(dict.fromkeys(finding.server for finding in seen))
        number = f" of {len(expected.each)} brokers" if len(expected.each) > 1 else ""
        lines.append(f"             {types}{number} on {servers} within {last:.1f} s")
    lines += [
        f"             MISSED: {types} {finding.broker} on {finding.server}, due in {expected.within:g} s"
        for finding in findings
        if finding.is_missed
    ]
    return lines
