"""Report charts: which chart a report has, and the sentence below it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from nsreport.presentation import charts
from nsreport.presentation.report_reader import ReportRow

_MAX_REGISTRATION_BYTES = 16 * 2.0**20


def draw_chart(report_name: str, report_rows: Sequence[ReportRow]) -> tuple[str, str] | None:
    """Draw a chart as SVG text, with the sentence below it; None if the report has no chart or no rows."""
    if report_name not in _CHARTS:
        return None
    caption, draw = _CHARTS[report_name]
    svg_text = draw(report_rows, caption)
    return None if svg_text is None else (svg_text, caption)


def _silence_labeler(report_rows: Sequence[ReportRow]) -> Callable[[ReportRow], str]:
    """Return a function that labels a silence: with its broker, or with the name server for a pause."""
    label_broker = charts.broker_labeler(report_rows)
    return lambda row: str(row["server"]) if row["brokerName"] is None else label_broker(row)


_CHARTS: Mapping[str, tuple[str, Callable[[Sequence[ReportRow], str], str | None]]] = {
    "broker_flaps": (
        "When brokers were lost: a bar reaches from the first loss to the final return.",
        lambda rows, caption: charts.draw_timeline(rows, caption, charts.broker_labeler(rows), "down"),
    ),
    "heartbeat_gaps": (
        "When brokers, or all brokers of a name server, were silent.",
        lambda rows, caption: charts.draw_timeline(rows, caption, _silence_labeler(rows), "partly"),
    ),
    "ns_divergence": (
        "When name servers had different routes, addresses or KV config.",
        lambda rows, caption: charts.draw_timeline(
            rows, caption, lambda row: str(row["brokerName"] or row["key"]), "planned"
        ),
    ),
    "topic_growth": (
        "Size of the registration of the largest brokers on each day.",
        partial(charts.draw_growth, limit_bytes=_MAX_REGISTRATION_BYTES),
    ),
    "registration_forecast": (
        "Day on which a registration reaches 16 MiB, with the 95 % interval.", charts.draw_forecast
    ),
    "hot_brokers": (
        "Messages stored by the busiest brokers.",
        lambda rows, caption: charts.draw_ranking(rows, caption, "puts", charts.broker_labeler(rows)),
    ),
    "topic_volume": (
        "Messages stored in the busiest topics.",
        lambda rows, caption: charts.draw_ranking(rows, caption, "messagesIn", lambda row: str(row["topic"])),
    ),
}  # fmt: skip
