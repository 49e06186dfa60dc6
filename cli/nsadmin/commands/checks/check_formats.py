"""Formats the report of a check as text, for Nagios, as JSON or for Prometheus; `output` writes it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from namesrv_core.printable_text import escape_unsafe
from nsadmin.commands.columns.checks import CHECK_COLUMNS, CHECKS, NOT_CHECKED
from nsadmin.console.output import read_row
from nsadmin.console.output.text_table import cell_text
from nsadmin.console.phrases import count_noun, format_duration
from nsadmin.operations.checks.check_table import CHECKS_BY_NAME, to_snake_case
from nsadmin.operations.checks.findings import AlertLimits, CheckFinding, CheckSample
from nsadmin.operations.checks.ranges import AlertRange


class CheckReport(NamedTuple):
    """The result of a check at `checked_at_ms` (ms since 1970).

    `part_findings` are the findings of the single checks that `overall_finding` summarizes, if any.
    `context_name` names the cluster that was checked.
    """

    overall_finding: CheckFinding
    checked_at_ms: int
    part_findings: Sequence[CheckFinding] = ()
    context_name: str | None = None

    @property
    def all_findings(self) -> Sequence[CheckFinding]:
        return (self.overall_finding, *self.part_findings)


# Text for people

_MAX_TEXT_VALUES = 30


def format_text(report: CheckReport) -> str:
    """Format a summary line, then the details and values."""
    overall = report.overall_finding
    text_lines = [f"{overall.state.name}: {overall.summary}", *(f"  {line}" for line in overall.details)]
    title_width = max((len(finding.title) for finding in report.part_findings), default=0)
    for part in report.part_findings:
        text_lines.append(f"  {part.state.name:<8}  {part.title:<{title_width}}  {part.summary}")
        if part.state:
            text_lines += [f"    {line}" for line in part.brief_details or part.details]
            if next_step := _find_next_step(part):
                text_lines.append(f"    next: {next_step}")
    text_lines += _value_lines(overall.samples[:_MAX_TEXT_VALUES])
    hidden_count = len(overall.samples) - _MAX_TEXT_VALUES
    if hidden_count > 0:
        text_lines.append(f"  and {count_noun(hidden_count, 'more value')}: --format json shows all")
    return "\n".join(map(cell_text, text_lines))


def format_cron(report: CheckReport) -> str:
    """Format the first line of the text; nothing if the state is OK, so that cron sends no mail."""
    return format_text(report).split("\n", 1)[0] if report.overall_finding.state else ""


def _find_next_step(finding: CheckFinding) -> str | None:
    entry = CHECKS_BY_NAME.get(finding.check)
    name = finding.about or finding.worst
    if finding.remedies:
        # A command alone stands as it is typed, between words it stands in backquotes.
        return re.sub("^`([^`]*)`$", r"\1", finding.remedies[0])
    return entry.load().format_remedy(name) if entry and (name or not entry.subject) else None


def _value_lines(samples: Sequence[CheckSample]) -> Iterator[str]:
    name_width = max((len(_sample_name(sample)) for sample in samples), default=0)
    for sample in samples:
        value_text = _format_value(sample)
        limit_texts = [
            f"{name} {_describe_range(limit)}"
            for name, limit in zip(AlertLimits._fields, sample.limits, strict=True)
            if limit is not None
        ]
        sample_line = (
            f"  {_sample_name(sample):<{name_width}}  {value_text.rstrip():<10}  {', '.join(limit_texts)}"
        )
        yield sample_line.rstrip()


def _format_value(sample: CheckSample) -> str:
    """A minute or more without limits, which are in seconds, is a duration as elsewhere."""
    value, unit = sample.value, sample.measure.unit
    if value is None:
        return "unknown"
    if unit == "s" and value >= 60 and not any(sample.limits):
        return format_duration(value * 1000)
    return f"{_format_number(value)} {unit}"


def _sample_name(sample: CheckSample) -> str:
    return sample.measure.name if sample.item_name is None else f"{sample.measure.name} {sample.item_name}"


def _describe_range(limit: AlertRange) -> str:
    """Say which values raise the alert: "above 10", "outside 5 to 10"."""
    low, high = (_format_number(b) if isfinite(b) else "" for b in (limit.low_bound, limit.high_bound))
    if limit.alerts_inside:
        return f"inside {low} to {high}" if low and high else f"from {low} on" if low else f"up to {high}"
    if not high:
        return f"below {low}"
    return f"above {high}" if low in ("", "0") else f"outside {low} to {high}"


def _format_number(value: float) -> str:
    """Format a number without an exponent, because not every monitoring system parses one."""
    if value == int(value):
        return str(int(value))
    return f"{value:.6f}".rstrip("0")


# Text for monitoring systems that run plugins

_MAX_PERFDATA_BYTES = 4000
"""Bytes of performance data; Nagios reads 8 KiB of output. Totals come before the values of single items."""
_MAX_NAGIOS_DETAILS = 20


def format_nagios(report: CheckReport) -> str:
    """Format the Monitoring Plugins format: a line with performance data after a bar, then details."""
    overall = report.overall_finding
    labelled_samples = [("", sample) for sample in overall.samples]
    labelled_samples += [
        (f"{part.title} ", sample) for part in report.part_findings for sample in part.samples
    ]
    labelled_samples.sort(key=lambda labelled_sample: labelled_sample[1].item_name is not None)
    status_line = f"{overall.check.upper()} {overall.state.name} - {_clean_plugin_text(overall.summary)}"
    perfdata_texts = _truncate_perfdata(
        f"{_perfdata_label(prefix + _sample_name(sample))}={_perfdata_value(sample)}"
        for prefix, sample in labelled_samples
    )
    detail_lines = list(overall.details)
    for part in report.part_findings:
        if part.state:
            detail_lines += [f"{part.title} {part.state.name}: {part.summary}", *part.details]
    hidden_count = len(detail_lines) - _MAX_NAGIOS_DETAILS
    hidden_note = [f"and {hidden_count} more"] if hidden_count > 0 else []
    lines = [_clean_plugin_text(line) for line in [*detail_lines[:_MAX_NAGIOS_DETAILS], *hidden_note]]
    return "\n".join(
        [f"{status_line} | {' '.join(perfdata_texts)}" if perfdata_texts else status_line, *lines]
    )


def _truncate_perfdata(perfdata_texts: Iterable[str]) -> list[str]:
    fitting_texts, total_bytes = [], 0
    for perfdata_text in perfdata_texts:
        total_bytes += len(perfdata_text.encode()) + 1
        if total_bytes > _MAX_PERFDATA_BYTES:
            break
        fitting_texts.append(perfdata_text)
    return fitting_texts


def _clean_plugin_text(raw_text: str) -> str:
    """Replace bars, which start performance data, and control characters, which could forge output."""
    return cell_text(" ".join(raw_text.replace("|", "/").split()))


def _perfdata_label(raw_text: str) -> str:
    clean_text = cell_text(raw_text.replace("'", "''").replace("=", "_").replace("|", "_"))
    return clean_text if clean_text == raw_text and " " not in raw_text else f"'{clean_text}'"


def _perfdata_value(sample: CheckSample) -> str:
    """Format 'label'=value[UOM];[warn];[crit]; an unknown value is U."""
    limit_texts = [limit.range_text if limit else "" for limit in sample.limits]
    value_text = "U" if sample.value is None else f"{_format_number(sample.value)}{sample.measure.unit}"
    return ";".join([value_text, *limit_texts]).rstrip(";")


# Formats for programs


def format_json(report: CheckReport) -> str:
    """Format a JSON object; a check that consists of several checks contains their objects."""
    columns = [c for c in (NOT_CHECKED, CHECKS) if c.read(report)]
    finding = read_row(CHECK_COLUMNS, (report.overall_finding, report.checked_at_ms))
    return json.dumps({**finding, **read_row(columns, report)}, indent=2, ensure_ascii=False, allow_nan=False)


_METRIC_PREFIX = "nsadmin_check"
_STATE_HELP = "state of the check: 0 OK, 1 warning, 2 critical, 3 unknown"
_TIME_HELP = "time of the check, in seconds since 1970"
_UNIT_SUFFIXES = {"s": "_seconds", "B": "_bytes", "%": "_percent", "": ""}


def format_prometheus(report: CheckReport) -> str:
    """Format the text exposition format: each name once, with its help and type, then all its samples."""
    common_labels = {} if report.context_name is None else {"context": report.context_name}
    families: dict[str, tuple[str, list[str]]] = {}

    def add_sample(name: str, help_text: str, labels: Mapping[str, str], value: float) -> None:
        label_text = ",".join(f'{label}="{_escape_label(text)}"' for label, text in labels.items())
        braced_labels = f"{{{label_text}}}" if label_text else ""
        families.setdefault(name, (help_text, []))[1].append(f"{name}{braced_labels} {_format_number(value)}")

    for finding in report.all_findings:
        labels = dict(common_labels)
        if finding.about is not None:
            labels = {CHECKS_BY_NAME[finding.check].subject or "of": finding.about, **labels}
        check_labels = {"check": finding.check, **labels}
        add_sample(f"{_METRIC_PREFIX}_state", _STATE_HELP, check_labels, finding.state)
        add_sample(f"{_METRIC_PREFIX}_time_seconds", _TIME_HELP, check_labels, report.checked_at_ms / 1000)
        for sample in finding.samples:
            measure = sample.measure
            if sample.value is not None:
                item = {} if sample.item_name is None else {measure.label_name or "of": sample.item_name}
                name = to_snake_case(f"{_METRIC_PREFIX}_{finding.check}_{measure.name}")
                name += _UNIT_SUFFIXES[measure.unit]
                add_sample(name, measure.help_text, {**item, **labels}, sample.value)
    return "".join(_format_family(name, *parts) for name, parts in families.items())


def _format_family(metric_name: str, help_text: str, sample_lines: Iterable[str]) -> str:
    escaped_help = help_text.replace("\\", "\\\\").replace("\n", "\\n")
    return (
        "\n".join([f"# HELP {metric_name} {escaped_help}", f"# TYPE {metric_name} gauge", *sample_lines])
        + "\n"
    )


def _escape_label(label_value: str) -> str:
    """Escape a label's value. Control characters become escapes, which alerts and dashboards then show."""
    return escape_unsafe(label_value).replace("\\", "\\\\").replace('"', '\\"')


REPORT_WRITERS: dict[str, Callable[[CheckReport], str]] = {
    "text": format_text,
    "cron": format_cron,
    "nagios": format_nagios,
    "json": format_json,
    "prometheus": format_prometheus,
}
