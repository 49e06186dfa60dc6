"""All reports as an HTML page."""

import base64
import hashlib
import re
from datetime import date, datetime
from pathlib import Path

import pytest

from nsreport.presentation import chart_svg, html_page, pages
from nsreport.presentation.pages import ReportPage
from nsreport.presentation.report_reader import DayRange
from nsreport.reports.catalogue import REPORTS_BY_NAME
from tests.support.gold_tables import write_gold_tables as gold
from tests.support.html_pages import HtmlPage, read_html

ASSETS = Path(html_page.__file__).parent


@pytest.fixture
def text(tmp_path: Path) -> str:
    gold(tmp_path)
    return html_page.render_page(pages.collect_page(tmp_path, datetime(2025, 2, 3, 4, 5)))


@pytest.fixture
def page(text: str) -> HtmlPage:
    return read_html(text)


def test_the_page_loads_nothing_and_has_all_reports(page: HtmlPage, text: str) -> None:
    assert page.loaded == []
    assert len(page.named("svg")) == 1
    row = page.tables["broker_availability-caption"][1]
    assert row[:6] == ["2025-02-01", "c 1", "b<1>", "0", "80,000", "6,400"]
    assert "2025-02-01 03:04:05" in page.tables["broker_flaps-caption"][0]
    assert '<li id="drain_audit">Drain audit: Which brokers were closed' in text


def test_nothing_runs_but_the_script_of_the_page(text: str) -> None:
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    [script] = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{script_hash}'" in policy
    assert "</" not in (ASSETS / "page.js").read_text()


def test_screen_readers_and_keyboards_get_what_the_eye_gets(page: HtmlPage) -> None:
    assert page.named("html") == [{"lang": "en"}]
    assert len(set(page.ids)) == len(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert len(page.named("table")) == len(page.tables) == 5
    regions = [attributes for attributes in page.named("div") if attributes.get("role") == "region"]
    assert [region["aria-labelledby"] for region in regions] == list(page.tables)
    assert {region["tabindex"] for region in regions} == {"0"}
    assert {heading.get("scope") for heading in page.named("th")} == {"col", "row", "colgroup"}
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.named("svg"))
    assert all(section["aria-labelledby"] in page.ids for section in page.named("section"))


def test_a_name_cannot_add_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    report = REPORTS_BY_NAME["topic_volume"]
    name = "</td><script>alert(1)</script>\x1b"
    row = {column: name if column == "topic" else None for column in report.columns}
    page = ReportPage(f"Cluster {name}", "now", 0, 0, [pages.ReportSection(report, [row])], [])
    text = html_page.render_page(page, "index.html")
    assert text.count("<script>") == 1
    assert "\x1b" not in text
    assert read_html(text).tables["topic_volume-caption"][0][1].startswith("</td><script>")


def test_the_first_section_answers_and_each_figure_leads_to_its_rows(page: HtmlPage, text: str) -> None:
    first = text[text.index("<main") : text.index('id="broker_availability"')]
    assert "<strong>Yes.</strong> 1 incident, none still open. Not computed: heartbeat_gaps" in first
    assert page.tables["incidents"] == [
        ["b<1>:0 lost", "2025-02-01 03:04:05", "1 h 46 min", "expired", "n1, n2"]
    ]
    links = dict(re.findall('<a href="([^"]*)">([^<]*)</a>', first))
    assert links["#broker_availability"] == "96.296 %"
    assert links["#broker_availability-1"] == "b&lt;1&gt;:0"
    assert links["#broker_availability-2"] == "2025-02-02"
    assert links["#broker_flaps-0"] == "b&lt;1&gt;:0 lost"
    assert links["#nothing"] == "13 reports not computed"
    assert "3 of 200 lines (1.50%) could not be read" in first


def test_a_page_without_rows_says_that_nothing_is_known(tmp_path: Path) -> None:
    gold(tmp_path)
    days = DayRange(date(2025, 3, 1))
    text = html_page.render_page(pages.collect_page(tmp_path, datetime(2025, 3, 2), days))
    assert "<strong>Unknown.</strong> No incident was found. There are no data about brokers." in text
    assert text.count("<p>unknown</p>") == 3


def test_a_long_table_says_where_its_other_rows_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold(tmp_path)
    monkeypatch.setattr(pages, "MAX_TABLE_ROWS", 1)
    text = html_page.render_page(pages.collect_page(tmp_path, datetime(2025, 2, 3)))
    page = read_html(text)
    [row] = page.tables["broker_availability-caption"]
    assert row[0] == "2025-02-02"
    assert "2 more rows: nsadmin report show broker_availability" in text
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def read_palettes() -> list[dict[str, str]]:
    """The colours of the style sheet: light, then dark."""
    blocks = re.findall(r":root \{(.*?)\}", (ASSETS / "page.css").read_text(), re.DOTALL)
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks]


def compare_luminance(first: str, second: str) -> float:
    """The contrast of two colours, 1 to 21, after WCAG 2.2."""

    def measure(color: str) -> float:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05

    low, high = sorted((measure(first), measure(second)))
    return high / low


def test_text_and_pictures_have_enough_contrast_on_light_and_dark_pages() -> None:
    palettes = read_palettes()
    assert len(palettes) == 2
    assert palettes[0].keys() == palettes[1].keys() >= set(chart_svg.COLOR_NAMES)
    for palette in palettes:
        for name in ("ink", "ink-soft", "link"):
            assert compare_luminance(palette[name], palette["page"]) >= 4.5
            assert compare_luminance(palette[name], palette["panel"]) >= 4.5
        for name in chart_svg.COLOR_NAMES:
            assert compare_luminance(palette[name], palette["page"]) >= 3
        for name in ("up", "partly", "down", "planned", "unknown"):
            assert compare_luminance(palette[f"on-{name}"], palette[name]) >= 4.5
    used = set(re.findall(r"var\(--([\w-]+)\)", (ASSETS / "page.css").read_text()))
    assert used <= palettes[0].keys()
