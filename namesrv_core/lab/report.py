"""The report of a run: each fault with the events that name servers recorded, and the missing ones."""

import logging
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.truth_log import TRUTH_FILE, Deed
from namesrv_core.lab.verdict import ExpectationFinding, RunVerdict

_MAX_LISTED_NAMES = 4


def silence_loggers() -> None:
    """Silence the logs of brokers and name servers: their warnings about faults are expected."""
    for logger_name in ("fleet", "namesrv", "asyncio"):
        logging.getLogger(logger_name).setLevel(logging.CRITICAL)


def list_scenarios(scenarios: Mapping[str, Scenario]) -> str:
    name_width = max(map(len, scenarios), default=0)
    return "\n".join(f"{n:{name_width}}  {s.duration / 60:5.0f} min  {s.about}" for n, s in scenarios.items())


def format_report(scenario: Scenario, verdict: RunVerdict, run_folder: Path) -> str:
    report_lines = [f"# {scenario.name}: {scenario.about}"]
    for deed, findings in groupby(verdict.findings, key=lambda finding: finding.deed):
        report_lines.append(_deed_line(deed))
        for _, alike_findings in groupby(findings, key=lambda finding: finding.expected):
            report_lines += _finding_lines(list(alike_findings))
    for server_name, record in verdict.unexplained:
        shown_fields = {n: v for n, v in record.event_fields.items() if isinstance(v, (str, int))}
        report_lines.append(
            f"  UNEXPLAINED on {server_name}: {record.event_type} ({record.origin.cause}) {shown_fields}"
        )
    due_findings = [finding for finding in verdict.findings if finding.expected.is_sure]
    report_lines.append(
        f"# {len(due_findings) - len(verdict.missed_findings)} of {len(due_findings)} "
        f"expected events are in the journals, "
        f"{len(verdict.unexplained)} records are unexplained; see {run_folder}/{TRUTH_FILE} and "
        f"{run_folder}/ns-*/journal"
    )
    return "\n".join(report_lines)


def _deed_line(deed: Deed) -> str:
    fault_text = deed.fault if deed.phase == "begin" else f"end of {deed.fault}"
    return f"{deed.after_seconds:9.1f} s  {fault_text} {_join_first_names(deed.target_names)}"


def _join_first_names(names: Iterable[str]) -> str:
    name_list = list(names)
    return ", ".join(name_list[:_MAX_LISTED_NAMES]) + (
        f" and {len(name_list) - _MAX_LISTED_NAMES} more" if len(name_list) > _MAX_LISTED_NAMES else ""
    )


def _finding_lines(findings: list[ExpectationFinding]) -> list[str]:
    """Format the findings of one expected event on its servers."""
    event = findings[0].expected
    type_text = " or ".join(event.types)
    lines = []
    seen_findings = [finding for finding in findings if finding.after_seconds is not None]
    if seen_findings:
        last_seconds = max(finding.after_seconds or 0 for finding in seen_findings)
        server_names = _join_first_names(dict.fromkeys(finding.server_name for finding in seen_findings))
        broker_hint = f" of {len(event.broker_id_texts)} brokers" if len(event.broker_id_texts) > 1 else ""
        lines.append(f"             {type_text}{broker_hint} on {server_names} within {last_seconds:.1f} s")
    lines += [
        f"             MISSED: {type_text} {finding.broker_id_text} on {finding.server_name}, "
        f"due in {event.within_seconds:g} s"
        for finding in findings
        if finding.is_missed
    ]
    return lines
