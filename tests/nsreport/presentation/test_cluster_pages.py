"""The reports of one cluster, and the figures of all."""

from datetime import date
from typing import Any

from nsreport.presentation import cluster_pages, pages
from nsreport.presentation.pages import ReportPage, ReportSection
from nsreport.reports.catalogue import REPORTS_BY_NAME

DAY = date(2025, 2, 1)


def broker(cluster: str, up: float, down: float, day: date = DAY) -> dict[str, Any]:
    return {
        "date": day, "cluster": cluster, "brokerName": "b", "brokerId": 0, "upSeconds": up,
        "downSeconds": down, "plannedSeconds": 0.0, "unknownSeconds": 3600.0,
    }  # fmt: skip


def page_of(**rows: list[dict[str, Any]]) -> ReportPage:
    sections = [ReportSection(REPORTS_BY_NAME[name], found) for name, found in rows.items()]
    return ReportPage("t", "now", 0, 9, sections, ["ns_health"])


PAGE = page_of(
    broker_availability=[
        broker("a", 80_000, 0),
        broker("a", 80_000, 0.1, date(2025, 2, 2)),
        broker("b", 50, 50),
    ],
    drain_audit=[{"cluster": "b", "outcome": outcome} for outcome in ("undone", "holds", "undone")],
    consumer_lag_trend=[
        {"cluster": "a", "date": DAY, "trend": trend} for trend in ("stuck", "growing", "steady")
    ],
    heartbeat_gaps=[{"cluster": cluster} for cluster in ("-", None, "b")],
    config_changes=[{"date": DAY, "server": "ns-1"}],
)


def test_a_cluster_has_its_own_rows_and_no_report_without_clusters() -> None:
    assert cluster_pages.list_clusters(PAGE) == ["a", "b"]
    page = cluster_pages.select_cluster(PAGE, "b")
    assert page.page_title == "Cluster b"
    assert {section.report.name: len(section.report_rows) for section in page.sections} == {
        "broker_availability": 1, "drain_audit": 3, "consumer_lag_trend": 0, "heartbeat_gaps": 1,
    }  # fmt: skip


def test_no_row_is_lost_between_the_pages() -> None:
    clusters = [cluster_pages.select_cluster(PAGE, name).sections for name in ("a", "b")]
    parts = [*clusters, cluster_pages.select_shared_sections(PAGE)]
    for section in PAGE.sections:
        counts = [len(pages.find_rows(part, section.report.name) or ()) for part in parts]
        assert sum(counts) == len(section.report_rows)


def test_figures_compare_clusters_and_a_missing_report_has_none() -> None:
    first, second = cluster_pages.summarize_clusters(PAGE)
    assert list(first) == list(cluster_pages.OVERVIEW_COLUMNS)
    assert (first["brokers"], first["unknownSeconds"], first["lagging"]) == (1, 7200.0, 2)
    # A moment of downtime does not round to 100 %.
    assert (first["availability"], second["availability"]) == (99.999, 50.0)
    assert (first["drainsUndone"], second["drainsUndone"]) == (0, 2)
    assert (first["flaps"], first["differences"]) == (None, None)
