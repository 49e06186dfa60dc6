"""All reports on one page."""

import re
from datetime import date, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nsreport.presentation import pages, report_reader
from nsreport.presentation.pages import ReportPage
from nsreport.reports.catalogue import REPORTS_BY_NAME
from tests.support.gold_tables import DAY, gold, table

NOW = datetime(2025, 2, 3, 4, 5)


@pytest.fixture
def page(tmp_path: Path) -> ReportPage:
    gold(tmp_path)
    return pages.collect_page(tmp_path, NOW)


class Seen(HTMLParser):
    """The tags that are open, and what is loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "use", "path", "br"):
            self.open.append(tag)
        given = dict(attrs)
        self.loaded += [
            found for name in ("src", "href", "xlink:href") if (found := given.get(name)) and found[0] != "#"
        ]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass


def test_the_first_lines_say_how_far_it_can_be_believed(page: ReportPage) -> None:
    when, first, second, third = pages.summarize_page(page)
    assert when == "From 2025-02-01 to 2025-02-02. All times are UTC."
    assert first == "200 lines were read; 3 (1.50%) are in the quarantine."
    assert second.startswith("From 2025-02-01 to 2025-02-02, 24.0 broker hours have no data")
    assert third.startswith("Missing reports: heartbeat_gaps, ns_divergence")


def test_the_page_loads_nothing_and_is_whole(page: ReportPage) -> None:
    text = pages.render_html(page)
    seen = Seen(text)
    assert (seen.open, seen.loaded) == ([], [])
    assert 'name="viewport"' in text
    assert "b&lt;1&gt;" in text
    assert "<td>b<1>" not in text
    assert text.count("<svg") == 2
    assert "2025-02-01 03:04:05" in text
    assert re.search(
        r"<h2>Nothing was found for</h2><ul>\n<li id=.drain_audit.>Drain audit: Which brokers were closed",
        text,
    )
    assert '<td class="n">80,000</td>' in text


def test_markdown_has_the_same_tables(page: ReportPage) -> None:
    text = pages.render_markdown(page)
    assert text.startswith("# Name servers and brokers\n\nMade 2025-02-03 04:05 UTC. From")
    assert "| 2025-02-01 | c 1 | b&lt;1&gt; | 0 | 80,000 | 6,400 | 0 | 0 | 0 | 92.593 | 1 |" in text
    assert "| n1, n2 |" in text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("![x](http://evil/p.png)", r"\!\[x\](http&#58;//evil/p.png)"),
        ("[x](javascript:y)", r"\[x\](javascript:y)"),
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y&gt;"),
        ("`code` *b* _i_ ~~s~~ $m$ #1", r"\`code\` \*b\* \_i\_ \~\~s\~\~ \$m\$ \#1"),
        ("www.evil.example https://evil", "www&#46;evil.example https&#58;//evil"),
        ("a\nb\x1b\u202e", r"a\\nb\\x1b\\u202e"),
        ("ORDER_TOPIC_CONFIG 10.0.0.1:9876", "ORDER_TOPIC_CONFIG 10.0.0.1:9876"),
    ],
)
def test_a_name_adds_no_cell_link_picture_or_html_to_markdown(text: str, cell: str) -> None:
    report = REPORTS_BY_NAME["topic_volume"]
    row = {name: text if name == "topic" else None for name in report.columns}
    section = pages.ReportSection(report, [row], None)
    page = ReportPage("t", "now", 0, 0, "", [section], [])
    [line] = [line for line in pages.render_markdown(page).splitlines() if line.startswith("| –")]
    assert f" {cell} |" in line
    assert "\x1b" not in pages.render_html(page)


def test_a_long_table_says_where_the_rest_is(page: ReportPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_TABLE_ROWS", 2)
    assert "1 more rows: nsadmin report show broker_availability" in pages.render_markdown(page)
    assert "1 more rows: nsadmin report show broker_availability" in pages.render_html(page)


def test_days_can_be_chosen(tmp_path: Path) -> None:
    gold(tmp_path)
    found = pages.collect_page(tmp_path, NOW, report_reader.DayRange(date(2025, 2, 2)))
    assert [len(section.report_rows) for section in found.sections] == [1, 0, 0]


def test_for_how_long_nobody_looked_is_not_said_where_nobody_knows(tmp_path: Path) -> None:
    gold(tmp_path)
    page = pages.collect_page(tmp_path, NOW, report_reader.DayRange(date(2025, 3, 1)))
    assert "0.0 broker hours" not in pages.render_markdown(page)
    assert "The time without data is unknown" in pages.render_html(page)


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(report_reader.TableNotMadeError, match="report run"):
        pages.collect_page(tmp_path, NOW)


def test_a_pause_of_a_name_server_is_drawn_by_its_name(tmp_path: Path) -> None:
    gold(tmp_path)
    kinds = {"brokerName": "varchar", "brokerId": "bigint", "server": "varchar", "ts": "timestamp"}
    kinds |= {"endTs": "timestamp", "cluster": "varchar", "date": "date"}
    at, end = datetime(2025, 2, 1), datetime(2025, 2, 1, 0, 2)
    rows = [(None, None, "ns-7", at, end, "-", DAY), ("a", 1, "ns-8", at, None, "c", DAY)]
    table(tmp_path / "gold" / "heartbeat_gaps", kinds, rows)
    text = pages.render_html(pages.collect_page(tmp_path, NOW))
    assert "<!-- ns-7 -->" in text
    assert "<!-- a:1 -->" in text
