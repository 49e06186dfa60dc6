"""Cluster pages: the content of a page for each cluster, and figures that compare clusters."""

from collections.abc import Mapping, Sequence

from nsreport.presentation import pages, verdict
from nsreport.presentation.pages import NO_CLUSTER, ReportPage, ReportSection
from nsreport.presentation.report_reader import ReportRow

OVERVIEW_COLUMNS: Mapping[str, str] = {
    "cluster": "name of the cluster, with a link to its page",
    "brokers": "brokers on the last day",
    "availability": "time up in percent of the time up and down, of all brokers together",
    "downSeconds": "s in which no name server listed a broker, of all brokers together",
    "unknownSeconds": "s without data, of all brokers together",
    "flaps": "sessions in which a broker was lost and came back",
    "drainsUndone": "name servers on which a drain was undone",
    "differences": "differences between name servers that still exist",
    "lagging": "groups and topics that were stuck or growing on the last day",
}


def list_clusters(report_page: ReportPage) -> list[str]:
    """Return the names of all clusters on a page, sorted."""
    return sorted(
        {
            str(report_row["cluster"])
            for section in report_page.sections
            for report_row in section.report_rows
            if report_row.get("cluster") not in (None, NO_CLUSTER)
        }
    )


def select_cluster(report_page: ReportPage, cluster: str) -> ReportPage:
    """Return the page of one cluster: the reports that have clusters, with its rows."""
    sections = [
        ReportSection(
            section.report,
            [report_row for report_row in section.report_rows if report_row["cluster"] == cluster],
        )
        for section in report_page.sections
        if "cluster" in section.report.columns
    ]
    return report_page._replace(page_title=f"Cluster {cluster}", sections=sections)


def select_shared_sections(report_page: ReportPage) -> list[ReportSection]:
    """Return the rows that are on the page of no cluster: those of name servers, topics, and settings."""
    return [
        ReportSection(
            section.report,
            [
                report_row
                for report_row in section.report_rows
                if report_row.get("cluster") in (None, NO_CLUSTER)
            ],
        )
        for section in report_page.sections
    ]


def summarize_clusters(report_page: ReportPage) -> list[ReportRow]:
    """Return a row of figures for each cluster; a figure is None if its report is missing."""
    return [
        _summarize_cluster(cluster, select_cluster(report_page, cluster).sections)
        for cluster in list_clusters(report_page)
    ]


def _summarize_cluster(cluster: str, sections: Sequence[ReportSection]) -> ReportRow:
    broker_rows = pages.find_rows(sections, "broker_availability")
    lag_rows = pages.find_rows(sections, "consumer_lag_trend")
    return {
        "cluster": cluster,
        "brokers": None if broker_rows is None else len(_select_last_day(broker_rows)),
        "availability": verdict.compute_availability(broker_rows or ()),
        "downSeconds": _sum_column(broker_rows, "downSeconds"),
        "unknownSeconds": _sum_column(broker_rows, "unknownSeconds"),
        "flaps": _count_rows(pages.find_rows(sections, "broker_flaps")),
        "drainsUndone": _count_rows(pages.find_rows(sections, "drain_audit"), "outcome", ("undone",)),
        "differences": _count_rows(pages.find_rows(sections, "ns_divergence"), "ongoing", (True,)),
        "lagging": _count_rows(
            None if lag_rows is None else _select_last_day(lag_rows), "trend", ("stuck", "growing")
        ),
    }


def _select_last_day(report_rows: Sequence[ReportRow]) -> list[ReportRow]:
    last_day = max((report_row["date"] for report_row in report_rows), default=None)
    return [report_row for report_row in report_rows if report_row["date"] == last_day]


def _sum_column(report_rows: Sequence[ReportRow] | None, column_name: str) -> float | None:
    return None if report_rows is None else float(sum(report_row[column_name] for report_row in report_rows))


def _count_rows(
    report_rows: Sequence[ReportRow] | None, column_name: str = "", wanted_values: Sequence[object] = ()
) -> int | None:
    """Return the number of rows, or of those with one of these values; None if the report is missing."""
    if report_rows is None:
        return None
    return sum(not column_name or report_row[column_name] in wanted_values for report_row in report_rows)
