"""Formats the report of a check as text, for Nagios, as JSON or for Prometheus; `output` writes it."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nsadmin.commands.times import utc
from nsadmin.operations.checks.finding import Finding, Limits, Sample
from nsadmin.operations.checks.thresholds import LABELS
from nsadmin.output.table import cell


class Report(NamedTuple):
    """The result of a check at `checked_at_ms` (ms since 1970).

    `part_findings` are the findings of the single checks that `overall_finding` summarizes, if any.
    `context_name` names the cluster that was checked.
    """

    whole: Finding
    time: int
    parts: Sequence[Finding] = ()
    context: str | None = None

    @property
    def findings(self) -> Sequence[Finding]:
        return (self.whole, *self.parts)


# For operators

_MOST = 30


def as_text(report: Report) -> str:
    """Format a summary line, then the details and values."""
    whole = report.whole
    lines = [f"{whole.state.name}: {whole.summary}", *(f"  {line}" for line in whole.details)]
    width = max((len(_title(part)) for part in report.parts), default=0)
    for part in report.parts:
        lines.append(f"  {part.state.name:<8}  {_title(part):<{width}}  {part.summary}")
        if part.state:
            lines += [f"    {line}" for line in part.details]
    lines += _values(whole.samples[:_MOST])
    more = len(whole.samples) - _MOST
    lines += [f"  and {more} more values: --format json has all"] if more > 0 else []
    return "\n".join(map(cell, lines))


def _title(finding: Finding) -> str:
    return finding.check if finding.about is None else f"{finding.check} {finding.about}"


def _values(samples: Sequence[Sample]) -> Iterator[str]:
    width = max((len(_name(sample)) for sample in samples), default=0)
    for sample in samples:
        value = "unknown" if sample.value is None else f"{_number(sample.value)} {sample.measure.unit}"
        limits = [
            f"{name} {limit.text}"
            for name, limit in zip(Limits._fields, sample.limits, strict=True)
            if limit is not None
        ]
        line = f"  {_name(sample):<{width}}  {value.rstrip():<10}  {', '.join(limits)}"
        yield line.rstrip()


def _name(sample: Sample) -> str:
    return sample.measure.name if sample.of is None else f"{sample.measure.name} {sample.of}"


def _number(value: float) -> str:
    """Format a number without an exponent, which not every monitoring system parses."""
    if value == int(value):
        return str(int(value))
    return f"{value:.6f}".rstrip("0")


# For monitoring systems that run plugins

_LONGEST = 4000
"""Bytes of performance data; Nagios reads 8 KiB of output. Totals come before the values of single items."""
_MOST_DETAILS = 20


def as_nagios(report: Report) -> str:
    """Format the Monitoring Plugins format: a line with performance data after a bar, then details."""
    whole = report.whole
    data = [("", sample) for sample in whole.samples]
    data += [(f"{_title(part)} ", sample) for part in report.parts for sample in part.samples]
    data.sort(key=lambda item: item[1].of is not None)
    first = f"{whole.check.upper()} {whole.state.name} - {_barless(whole.summary)}"
    shown = _cut([f"{_label(front + _name(sample))}={_perf(sample)}" for front, sample in data])
    details = [*whole.details, *(line for part in report.parts for line in _told(part))]
    rest = len(details) - _MOST_DETAILS
    more = [f"and {rest} more"] if rest > 0 else []
    lines = [_barless(line) for line in [*details[:_MOST_DETAILS], *more]]
    return "\n".join([f"{first} | {' '.join(shown)}" if shown else first, *lines])


def _told(part: Finding) -> list[str]:
    return [f"{_title(part)} {part.state.name}: {part.summary}", *part.details] if part.state else []


def _cut(items: Sequence[str]) -> list[str]:
    kept, size = [], 0
    for item in items:
        size += len(item.encode()) + 1
        if size > _LONGEST:
            break
        kept.append(item)
    return kept


def _barless(text: str) -> str:
    """Replace bars, which start performance data, and control characters, which could forge output."""
    return cell(" ".join(text.replace("|", "/").split()))


def _label(text: str) -> str:
    plain = cell(text.replace("'", "''").replace("=", "_").replace("|", "_"))
    return plain if plain == text and " " not in text else f"'{plain}'"


def _perf(sample: Sample) -> str:
    """Format 'label'=value[UOM];[warn];[crit]; an unknown value is U."""
    limits = [limit.text if limit else "" for limit in sample.limits]
    value = "U" if sample.value is None else f"{_number(sample.value)}{sample.measure.unit}"
    return ";".join([value, *limits]).rstrip(";")


# For programs


def as_json(report: Report) -> str:
    """Format a JSON object; a check that consists of several checks contains their objects."""
    value = _object(report.whole, report.time)
    if report.parts:
        value["checks"] = [_object(part, report.time) for part in report.parts]
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def _object(finding: Finding, time: int) -> dict[str, Any]:
    return {
        "check": finding.check,
        "about": finding.about,
        "state": finding.state.name,
        "exitCode": int(finding.state),
        "time": utc(time),
        "summary": finding.summary,
        "details": list(finding.details),
        "values": [
            {
                "name": sample.measure.name,
                "of": sample.of,
                "value": sample.value,
                "unit": sample.measure.unit,
                "warning": sample.limits.warning and sample.limits.warning.text,
                "critical": sample.limits.critical and sample.limits.critical.text,
                "state": sample.state.name,
            }
            for sample in finding.samples
        ],
    }


_PREFIX = "nsadmin_check"
_STATES = "what the check found: 0 is OK, 1 warning, 2 critical, 3 unknown"
_TIMES = "when the check looked, in seconds since 1970"
_UNITS = {"s": "_seconds", "B": "_bytes", "%": "_percent", "": ""}

Labels = tuple[tuple[str, str], ...]


def as_prometheus(report: Report) -> str:
    """Format the text exposition format: each name once, with its help and type, then all its samples."""
    common = () if report.context is None else (("context", report.context),)
    families: dict[str, tuple[str, list[str]]] = {}

    def add(name: str, help_: str, labels: Labels, value: float) -> None:
        shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
        braced = f"{{{shown}}}" if shown else ""
        families.setdefault(name, (help_, []))[1].append(f"{name}{braced} {_number(value)}")

    for finding in report.findings:
        about = _about(finding)
        labels = (("check", finding.check), *about, *common)
        add(f"{_PREFIX}_state", _STATES, labels, finding.state)
        add(f"{_PREFIX}_time_seconds", _TIMES, labels, report.time / 1000)
        for sample in finding.samples:
            if sample.value is not None:
                of = () if sample.of is None else ((sample.measure.label or "of", sample.of),)
                add(_metric(finding.check, sample), sample.measure.help, (*of, *about, *common), sample.value)
    return "".join(_family(name, *family) for name, family in families.items())


def _about(finding: Finding) -> Labels:
    return () if finding.about is None else ((LABELS[finding.check], finding.about),)


def _metric(check: str, sample: Sample) -> str:
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in check)
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in sample.measure.name)
    return f"{_PREFIX}_{words}_{name}{_UNITS[sample.measure.unit]}"


def _family(name: str, help_: str, lines: Iterable[str]) -> str:
    text = help_.replace("\\", "\\\\").replace("\n", "\\n")
    return "\n".join([f"# HELP {name} {text}", f"# TYPE {name} gauge", *lines]) + "\n"


def _escaped(text: str) -> str:
    """Escape a label's value; characters that UTF-8 cannot encode become backslash escapes."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


WRITERS: dict[str, Callable[[Report], str]] = {
    "text": as_text,
    "nagios": as_nagios,
    "json": as_json,
    "prometheus": as_prometheus,
}
