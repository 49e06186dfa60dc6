"""All reports as Markdown."""

from datetime import datetime
from pathlib import Path

import pytest

from nsreport.presentation import markdown_page, pages
from nsreport.presentation.pages import ReportPage
from nsreport.reports.catalogue import REPORTS_BY_NAME
from tests.support.gold_tables import write_gold_tables as gold


def test_markdown_has_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold(tmp_path)
    page = pages.collect_page(tmp_path, datetime(2025, 2, 3, 4, 5))
    text = markdown_page.render_markdown(page)
    assert text.startswith(
        "# Name servers and brokers\n\nFrom 2025-02-01 to 2025-02-02. All times are UTC. "
        "Made 2025-02-03 04:05 UTC.\n\nWas anything wrong? **Yes.** 1 incident, none still open."
    )
    assert (
        "Of the input, 3 of 200 lines (1.50%) could not be read. Data about brokers is missing for 1 d."
        in text
    )
    row = "| 2025-02-01 | c 1 | b&lt;1&gt; | 0 | 80,000 | 6,400 | 0 | 0 | 0 | 92.593 | 1 |"
    assert row in text
    assert "| n1, n2 |" in text
    monkeypatch.setattr(pages, "MAX_TABLE_ROWS", 1)
    text = markdown_page.render_markdown(page)
    assert "2 more rows: nsadmin report show broker_availability" in text
    assert row not in text
    assert "\n| 2025-02-02 | c 1 | a |" in text


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
    page = ReportPage("t", "now", 0, 0, [pages.ReportSection(report, [row])], [])
    lines = markdown_page.render_markdown(page).splitlines()
    [line] = [line for line in lines if line.startswith("| –")]
    assert f" {cell} |" in line
