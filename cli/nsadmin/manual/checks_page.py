"""reference/check-limits.md: what each check measures, and its default limits, rendered from the checks."""

from nsadmin.operations.checks.check_table import CHECK_TABLE
from nsadmin.operations.checks.findings import CheckMeasure

_PAGE_HEAD = """\
# Limits of the checks

[Checks](checks.md) says how to write limits, and how checks decide. `--warning` and `--critical` of a check
replace its default limits. `nsadmin check all` runs the checks with their limits, and its state is the worst
one. To change the limits of one check there, name it: `--critical lag=500000`.

| Check | WARNING | CRITICAL | Look next |
|---|---|---|---|
"""


def render_checks_page() -> str:
    """Render the page: when each check alerts, then a table of its measures."""
    rows, sections = [], []
    for entry in CHECK_TABLE:
        check = entry.load()
        remedy = check.format_remedy((entry.subject or "").upper())
        cells = (
            f"[`{entry.name}`](#{entry.name.lower()})",
            check.warning_when,
            check.critical_when,
            f"`{remedy}`",
        )
        rows.append(f"| {' | '.join(cells)} |")
        sections.append(f"\n## {entry.name}\n\n{entry.summary}.\n\n{_render_measures(check.measures)}")
    return _PAGE_HEAD + "\n".join(rows) + "\n" + "".join(sections)


def _render_measures(measures: tuple[CheckMeasure, ...]) -> str:
    lines = ["| Measure | Unit | `--warning` | `--critical` | Meaning |", "|---|---|---|---|---|"]
    for measure in measures:
        warning, critical = (f"`{limit}`" if limit else "" for limit in (measure.warning, measure.critical))
        lines.append(
            f"| `{measure.name}` | {measure.unit or 'count'} | {warning} | {critical} | {measure.help_text} |"
        )
    return "\n".join(lines) + "\n"
