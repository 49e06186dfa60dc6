"""A page for each cluster, and the index."""

from datetime import datetime
from pathlib import Path

from nsreport.presentation import html_site, pages
from tests.support.gold_tables import write_gold_tables as gold
from tests.support.html_pages import read_html


def test_the_index_leads_to_each_cluster_and_back(tmp_path: Path) -> None:
    gold(tmp_path)
    page = pages.collect_page(tmp_path, datetime(2025, 2, 3, 4, 5))
    files = dict(html_site.render_site(page))
    assert list(files) == ["cluster-c_1-718a88f3.html", "index.html"]
    index, cluster = read_html(files["index.html"]), read_html(files["cluster-c_1-718a88f3.html"])
    assert "cluster-c_1-718a88f3.html" in index.links
    assert "index.html" in cluster.links
    assert index.tables["clusters-caption"][0][:3] == ["c 1", "1", "96.296"]
    assert "broker_availability-caption" not in index.tables
    assert [row[2] for row in cluster.tables["broker_availability-caption"]] == ["a", "b<1>", "a"]


def test_a_name_of_a_cluster_is_a_file_of_its_own_on_any_file_system() -> None:
    names = ["a", "B", "b", "../x", "..?x", "c" * 300, "c" * 301, "Größe", ""]
    files = html_site.name_files(names)
    assert files["a"] == "cluster-a.html"
    assert len({name.lower() for name in files.values()}) == len(names)
    assert all(name.isascii() and "/" not in name and len(name) < 130 for name in files.values())
    assert html_site.name_files(["b"]) == {"b": "cluster-b.html"}
