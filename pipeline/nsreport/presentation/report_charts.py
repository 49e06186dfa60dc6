"""Report charts: which chart a report has, and the sentence below it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from nsreport.presentation import charts
from nsreport.presentation.report_reader import ReportRow

_MAX_REGISTRATION_BYTES = 16 * 2.0**20


class ReportChart(NamedTuple):
    """A chart as SVG text, and a sentence that explains it."""

    svg_text: str
    caption: str


class _ChartKind(NamedTuple):
    caption: str
    draw: Callable[[Sequence[ReportRow], str], str | None]


def draw_chart(report_name: str, report_rows: Sequence[ReportRow]) -> ReportChart | None:
    """Draw the chart of a report; None if it has no chart or no rows."""
    chart_kind = _KINDS_BY_REPORT.get(report_name)
    if chart_kind is None:
        return None
    svg_text = chart_kind.draw(report_rows, chart_kind.caption)
    return None if svg_text is None else ReportChart(svg_text, chart_kind.caption)


def _draw_flaps(report_rows: Sequence[ReportRow], caption: str) -> str | None:
    return charts.draw_timeline(report_rows, caption, charts.broker_labeler(report_rows), "down")


def _draw_silences(report_rows: Sequence[ReportRow], caption: str) -> str | None:
    return charts.draw_timeline(report_rows, caption, _silence_labeler(report_rows), "partly")


def _draw_differences(report_rows: Sequence[ReportRow], caption: str) -> str | None:
    return charts.draw_timeline(report_rows, caption, _difference_label, "planned")


def _draw_busiest_brokers(report_rows: Sequence[ReportRow], caption: str) -> str | None:
    return charts.draw_ranking(report_rows, caption, "puts", charts.broker_labeler(report_rows))


def _draw_busiest_topics(report_rows: Sequence[ReportRow], caption: str) -> str | None:
    return charts.draw_ranking(
        report_rows, caption, "messagesIn", lambda report_row: str(report_row["topic"])
    )


def _silence_labeler(report_rows: Sequence[ReportRow]) -> Callable[[ReportRow], str]:
    """Return a function that labels a silence: with its broker, or with the name server for a pause."""
    label_broker = charts.broker_labeler(report_rows)
    return lambda report_row: (
        str(report_row["server"]) if report_row["brokerName"] is None else label_broker(report_row)
    )


def _difference_label(report_row: ReportRow) -> str:
    """Return the broker name, or the KV key, on which name servers differed."""
    return str(report_row["brokerName"] or report_row["key"])


_KINDS_BY_REPORT: Mapping[str, _ChartKind] = {
    "broker_flaps": _ChartKind(
        "When brokers were lost: a bar reaches from the first loss to the final return.", _draw_flaps
    ),
    "heartbeat_gaps": _ChartKind(
        "When brokers, or all brokers of a name server, were silent.", _draw_silences
    ),
    "ns_divergence": _ChartKind(
        "When name servers had different routes, addresses or KV config.", _draw_differences
    ),
    "topic_growth": _ChartKind(
        "Size of the registration of the largest brokers on each day.",
        partial(charts.draw_growth, limit_bytes=_MAX_REGISTRATION_BYTES),
    ),
    "registration_forecast": _ChartKind(
        "Day on which a registration reaches 16 MiB, with the 95 % interval.", charts.draw_forecast
    ),
    "hot_brokers": _ChartKind("Messages stored by the busiest brokers.", _draw_busiest_brokers),
    "topic_volume": _ChartKind("Messages stored in the busiest topics.", _draw_busiest_topics),
}
