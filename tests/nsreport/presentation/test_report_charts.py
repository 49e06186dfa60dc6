"""Which picture a report has."""

from datetime import date, datetime

from nsreport.presentation import report_charts
from nsreport.reports.catalogue import REPORTS_BY_NAME


def test_a_pause_of_a_name_server_is_drawn_by_its_name() -> None:
    at, end = datetime(2025, 2, 1), datetime(2025, 2, 1, 0, 2)
    rows = [
        {"brokerName": broker, "brokerId": number, "server": server, "ts": at, "endTs": end, "cluster": "-"}
        for broker, number, server in ((None, None, "ns-7"), ("a", 1, "ns-8"))
    ]
    chart = report_charts.draw_chart("heartbeat_gaps", rows)
    assert chart is not None
    svg_text, caption = chart
    assert ">ns-7<" in svg_text
    assert ">a:1<" in svg_text
    assert caption in svg_text


def test_growth_is_drawn_with_the_limit_of_a_frame() -> None:
    row = {"date": date(2025, 2, 1), "bytes": 2**23, "brokerName": "a", "cluster": "c"}
    chart = report_charts.draw_chart("topic_growth", [row])
    assert chart is not None
    assert ">MiB (16 at most)<" in chart[0]


def test_reports_without_rows_or_without_a_picture_have_none() -> None:
    assert report_charts.draw_chart("ns_health", [{"server": "ns-1"}]) is None
    assert [name for name in REPORTS_BY_NAME if report_charts.draw_chart(name, [])] == []
