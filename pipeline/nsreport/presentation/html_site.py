"""HTML site: renders a page for each cluster and an index with figures of all clusters."""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from nsreport.presentation import cluster_pages, html_page, pages
from nsreport.presentation.pages import ReportPage
from nsreport.presentation.report_reader import ReportRow

INDEX_FILE = "index.html"
_MAX_NAME_LENGTH = 100
"""Characters of a cluster's name in the name of a file."""


def render_site(report_page: ReportPage) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of all files; the index is the last one, so that its links lead to files."""
    file_names = name_files(cluster_pages.list_clusters(report_page))
    for cluster, file_name in file_names.items():
        cluster_page = cluster_pages.select_cluster(report_page, cluster)
        yield file_name, html_page.render_page(cluster_page, INDEX_FILE)
    yield INDEX_FILE, render_index(report_page, file_names)


def render_index(report_page: ReportPage, file_names: Mapping[str, str]) -> str:
    """Render the page with a row for each cluster, and with the reports that concern no cluster."""
    return html_page.render_document(
        report_page,
        [section for section in cluster_pages.select_shared_sections(report_page) if section.report_rows],
        _overview_lines(cluster_pages.summarize_clusters(report_page), file_names),
    )


def name_files(clusters: Sequence[str]) -> dict[str, str]:
    """Return the file name of each cluster's page, which is valid and unique on any file system."""
    safe_names = {
        cluster: re.sub(r"[^A-Za-z0-9._-]", "_", cluster)[:_MAX_NAME_LENGTH] for cluster in clusters
    }
    name_counts = Counter(safe_name.lower() for safe_name in safe_names.values())
    return {
        cluster: f"cluster-{safe_name}.html"
        if safe_name == cluster and name_counts[safe_name.lower()] == 1
        else f"cluster-{safe_name}-{zlib.crc32(cluster.encode()):08x}.html"
        for cluster, safe_name in safe_names.items()
    }


def _overview_lines(overview_rows: Sequence[ReportRow], file_names: Mapping[str, str]) -> Iterator[str]:
    yield '<section id="clusters" aria-labelledby="clusters-heading">'
    yield '<h2 id="clusters-heading">Clusters</h2>'
    yield from html_page.render_table(
        "clusters-caption",
        "Select a cluster to see its reports",
        cluster_pages.OVERVIEW_COLUMNS,
        [
            [
                _render_link(overview_row["cluster"], file_names[overview_row["cluster"]]),
                *(
                    html_page.render_cell(cell_value)
                    for column_name, cell_value in overview_row.items()
                    if column_name != "cluster"
                ),
            ]
            for overview_row in overview_rows
        ],
    )
    yield "</section>"


def _render_link(cluster: str, file_name: str) -> str:
    return f'<th scope="row"><a href="{escape(file_name)}">{escape(pages.format_value(cluster))}</a></th>'
