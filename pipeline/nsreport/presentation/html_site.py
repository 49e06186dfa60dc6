"""HTML site: renders a page for each cluster and an index with figures of all clusters."""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nsreport.presentation import cluster_pages, html_page
from nsreport.presentation.pages import ReportPage
from nsreport.presentation.report_reader import ReportRow

INDEX_FILE = "index.html"
_MAX_NAME_LENGTH = 100
"""Characters of a cluster's name in the name of a file."""


def render_site(report_page: ReportPage) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of all files; the index is the last one, so that its links lead to files."""
    file_names = name_files(cluster_pages.list_clusters(report_page))
    shared_sections = [s for s in cluster_pages.select_shared_sections(report_page) if s.report_rows]
    row_links = html_page.link_rows(shared_sections)
    for cluster, file_name in file_names.items():
        cluster_page = cluster_pages.select_cluster(report_page, cluster)
        row_links |= html_page.link_rows(cluster_page.sections, file_name)
        yield file_name, html_page.render_page(cluster_page, INDEX_FILE)
    overview_rows = cluster_pages.summarize_clusters(report_page)
    yield (
        INDEX_FILE,
        html_page.render_document(
            report_page, shared_sections, row_links, _overview_lines(overview_rows, file_names), "#clusters"
        ),
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
            f'<tr><th scope="row">{html_page.render_link(file_names[cluster], cluster)}</th>'
            f"{''.join(map(html_page.render_cell, figures))}</tr>"
            for cluster, *figures in (row.values() for row in overview_rows)
        ],
    )
    yield "</section>"
