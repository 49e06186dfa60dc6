"""Columns of a check's JSON: of a finding with the time of its check (ms since 1970), or of a report."""

from nsadmin.console.output import AnyColumn, Column, Columns, read_row
from nsadmin.console.output.timestamps import format_utc
from nsadmin.operations.checks.findings import CheckFinding, CheckSample


def _describe_sample(sample: CheckSample) -> dict[str, object]:
    return {
        "name": sample.measure.name,
        "of": sample.item_name,
        "value": sample.value,
        "unit": sample.measure.unit,
        "warning": sample.limits.warning and sample.limits.warning.range_text,
        "critical": sample.limits.critical and sample.limits.critical.range_text,
        "state": sample.alert_state.name,
    }


CHECK_COLUMNS: Columns[tuple[CheckFinding, int]] = (
    Column("check", "name of the check", lambda r: r[0].check),
    Column("about", "the checked topic or group; null for none", lambda r: r[0].about),
    Column(
        "worst",
        "of several topics, groups or servers, the name of the worst one; null for none",
        lambda r: r[0].worst,
    ),
    Column("state", "OK, WARNING, CRITICAL or UNKNOWN", lambda r: r[0].state.name),
    Column("exitCode", "0 OK, 1 warning, 2 critical, 3 unknown", lambda r: int(r[0].state)),
    Column("time", "time of the check (UTC)", lambda r: format_utc(r[1])),
    Column("summary", "the finding in one line", lambda r: r[0].summary),
    Column("details", "the problems with their places, one per line", lambda r: list(r[0].details)),
    Column(
        "values", "measured values, with their limits", lambda r: list(map(_describe_sample, r[0].samples))
    ),
)
CHECKS: AnyColumn = Column(
    "checks",
    "findings of each check",
    lambda report: [read_row(CHECK_COLUMNS, (part, report.checked_at_ms)) for part in report.part_findings],
)
NOT_CHECKED: AnyColumn = Column(
    "notChecked",
    "checks that did not run, each with the reason or the command",
    lambda report: [part._asdict() for part in report.overall_finding.unchecked],
)
