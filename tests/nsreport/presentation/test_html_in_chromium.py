"""The pages of a run in a browser: what people see, reach with the keyboard, hear, and print."""

import contextlib
from collections.abc import Iterator
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import duckdb
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed: make test installs it")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect
from pypdf import PdfReader

from nsreport.presentation import html_page, html_site, pages
from nsreport.presentation.pages import ReportPage, ReportSection
from nsreport.reports.catalogue import REPORTS_BY_NAME
from tests.bench.report_page import write_page
from tests.support import chromium, gold_tables
from tests.support.name_servers import ROOT

pytestmark = pytest.mark.skipif(
    chromium.EXECUTABLE is None, reason="chromium is not installed, and NSADMIN_CHROMIUM is not set"
)
FILES = ("reports.html", "index.html", "cluster-cluster-a.html")
WIDE, NARROW = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the tables that a run of `make demo-report` exported."""
    home = tmp_path_factory.mktemp("pages")
    for file in (ROOT / "tests" / "golden" / "report_files").glob("*.parquet"):
        if file.stem != "data_quality":
            rows = duckdb.read_parquet(str(file))
            types = dict(zip(rows.columns, map(str, rows.types), strict=True))
            gold_tables.table(home / "gold" / file.stem, types, rows.fetchall())
    for name, count in (("bronze/lines", 3769), ("silver/quarantine", 0)):
        gold_tables.table(home / name, {"text": "varchar"}, [("x",)] * count, ())
    page = pages.collect_page(home, datetime(2025, 2, 3, 4, 5))
    for name, text in (("reports.html", html_page.render_page(page)), *html_site.render_site(page)):
        (home / name).write_text(text)
    return home


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Browser]:
    with chromium.start_chromium() as started:
        yield started


@contextlib.contextmanager
def opened(browser: Browser, file: Path, **options: Any) -> Iterator[Page]:
    """The page in a window of its own. It must report no error, and load nothing else."""
    errors, urls = [], []
    with browser.new_context(**{"viewport": WIDE} | options) as context:
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: urls.append(request.url.partition("#")[0]))
        page.goto(file.as_uri())
        yield page
    assert errors == []
    assert set(urls) == {file.as_uri()}


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    with opened(browser, folder / "reports.html") as found:
        yield found


UNFOLD = "for (const folded of document.querySelectorAll('details')) folded.open = true"


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", FILES)
def test_no_page_is_wider_than_its_window(
    browser: Browser, folder: Path, name: str, size: ViewportSize
) -> None:
    with opened(browser, folder / name, viewport=size) as page:
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize(("scheme", "background"), [("light", "255, 255, 255"), ("dark", "20, 24, 29")])
@pytest.mark.parametrize(("name", "size"), [("reports.html", WIDE), ("index.html", NARROW)])
def test_both_forms_have_readable_contrast_and_what_screen_readers_need(
    browser: Browser, folder: Path, name: str, size: ViewportSize, scheme: str, background: str
) -> None:
    with opened(browser, folder / name, viewport=size, color_scheme=scheme) as page:
        page.evaluate(UNFOLD)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == f"rgb({background})"
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_the_first_screen_has_the_answer_and_its_links_lead_to_rows(page: Page) -> None:
    verdict = page.get_by_role("region", name="Was anything wrong?")
    expect(verdict.get_by_text("9 incidents, 1 still open.")).to_be_in_viewport(ratio=1)
    expect(verdict.get_by_role("heading", name="No data")).to_be_in_viewport(ratio=1)
    expect(verdict.get_by_role("link", name="broker-a-2:0 lost").first).to_be_in_viewport(ratio=1)
    links = verdict.get_by_role("link")
    assert links.count() == 15
    for link in links.all():
        link.click()
        expect(page.locator(":target")).to_be_in_viewport()
        page.go_back()


def test_an_index_leads_to_the_rows_of_a_cluster(browser: Browser, folder: Path) -> None:
    with browser.new_context(viewport=WIDE) as context:
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        page.get_by_role("link", name="broker-a-2:0 lost").first.click()
        expect(page).to_have_title("Cluster cluster-a")
        expect(page.locator("tr:target")).to_contain_text("2025-02-02 04:00:00")
        expect(page.locator("tr:target")).to_be_in_viewport()


SORT_EACH_COLUMN = """() => {
  const read = (heading) => [heading.ariaSort, Array.from(heading.closest("table").tBodies[0].rows, (row) => {
    const cell = row.cells[heading.cellIndex];
    return cell.dataset.value ? Number(cell.dataset.value) : cell.textContent;
  })];
  const collator = new Intl.Collator("en", { numeric: true });
  return Array.from(document.querySelectorAll(".sortable thead th"), (heading) => {
    const [, cells] = read(heading);
    const sorted = [1, 2].map(() => { heading.firstChild.click(); return read(heading); });
    return [cells.sort((one, other) => collator.compare(one, other)), ...sorted];
  });
}"""


def test_each_column_sorts_by_number_and_by_text(page: Page) -> None:
    columns = page.evaluate(SORT_EACH_COLUMN)
    assert len(columns) == 65
    for cells, (upward, ascending), (downward, descending) in columns:
        assert (upward, downward) == ("ascending", "descending")
        known, unknown = [cell for cell in cells if cell != "–"], cells.count("–") * ["–"]
        with contextlib.suppress(ValueError):
            known.sort(key=lambda cell: float(str(cell).replace(",", "")))
        assert ascending == known + unknown
        assert descending == known[::-1] + unknown


def test_texts_with_numbers_sort_as_people_count(browser: Browser, tmp_path: Path) -> None:
    report = REPORTS_BY_NAME["topic_volume"]
    rows = [
        dict.fromkeys(report.columns) | {"topic": topic, "messagesIn": count}
        for topic, count in (("t-10", 20.5), ("t-2", 1000), ("t-1", None))
    ]
    file = tmp_path / "page.html"
    file.write_text(html_page.render_page(ReportPage("t", "now", 0, 1, [ReportSection(report, rows)], [])))
    with opened(browser, file) as page:
        for name, topics in (("messagesIn", ["t-10", "t-2", "t-1"]), ("topic", ["t-1", "t-2", "t-10"])):
            page.get_by_role("columnheader", name=name).get_by_role("button").click()
            assert page.locator("tbody td:nth-child(2)").all_text_contents() == topics


def test_the_keyboard_reaches_everything(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("99.25 %")
    heading = page.get_by_role("columnheader", name="length")
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    page.keyboard.press("Space")
    expect(heading).to_have_attribute("aria-sort", "descending")


def test_a_cell_of_the_calendar_says_its_day_and_figure_on_hover_and_focus(page: Page) -> None:
    tip, calendar = page.locator("#tip"), page.get_by_role("table", name="2 brokers with downtime")
    calendar.get_by_role("cell", name="97.13 %").hover()
    expect(tip).to_have_text("broker-a-2:0, 2025-02-02: 97.13 %, down 40 min, no data for 45 min 2 s")
    expect(tip).to_be_in_viewport(ratio=1)
    page.get_by_role("heading", name="Broker availability").hover()
    expect(tip).to_be_hidden()
    calendar.get_by_role("cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(tip).to_have_text("broker-a-1:0, 2025-02-02: 99.14 %, down 12 min, no data for 45 min 4 s")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("ArrowUp")
    expect(tip).to_be_visible()
    page.keyboard.press("Tab")
    expect(tip).to_be_hidden()


def test_brokers_without_downtime_are_folded_and_days_are_above_brokers(page: Page) -> None:
    folded = page.get_by_role("table", name="2 brokers without downtime")
    expect(folded).to_be_hidden()
    page.get_by_text("2 brokers without downtime").first.click()
    expect(folded.get_by_role("rowheader", name="broker-a-0:0")).to_be_visible()
    tops = [folded.get_by_role("columnheader", name="02", exact=True), folded.get_by_role("cell").first]
    head, cell = (found.bounding_box() for found in tops)
    assert head is not None
    assert cell is not None
    assert head["y"] < cell["y"]


def test_a_screen_reader_gets_landmarks_and_a_name_for_each_table(page: Page) -> None:
    for role in ("banner", "navigation", "main"):
        expect(page.get_by_role(role)).to_have_count(1)
    page.get_by_text("2 brokers without downtime").first.click()
    names = [table.evaluate("(table) => table.caption.textContent") for table in page.locator("table").all()]
    assert len(set(names)) == len(names) == 8
    for name in names:
        expect(page.get_by_role("table", name=name, exact=True)).to_have_count(1)
        expect(page.get_by_role("region", name=name, exact=True)).to_have_count(1)


def test_on_paper_each_table_is_whole_and_no_row_is_cut(page: Page) -> None:
    rows = page.locator(".sortable tbody tr").evaluate_all("(rows) => rows.map((row) => row.textContent)")
    # Fonts have one character for "ff" and "fi".
    paper = [
        "".join(normalize("NFKC", sheet.extract_text()).split())
        for sheet in PdfReader(BytesIO(page.pdf(prefer_css_page_size=True))).pages
    ]
    heading = "".join(REPORTS_BY_NAME["ns_divergence"].columns)
    assert sum(heading in sheet for sheet in paper) > 1
    assert all(heading in sheet for sheet in paper if "%RETRY%" in sheet)
    cut = [row for row in rows if not any("".join(row.split()) in sheet for sheet in paper)]
    assert cut == []


def test_a_page_of_ten_thousand_rows_has_them_all_and_fits_a_phone(browser: Browser, tmp_path: Path) -> None:
    """How long it takes to open: `python -m tests.bench.report_page`."""
    with opened(browser, write_page(tmp_path, 10_000), viewport=NARROW) as page:
        assert page.locator(".sortable tbody tr").count() == 10_000
        assert page.locator(".calendar td").count() == 64 * 92
        page.evaluate("location.hash = 'copy_9-400'")
        expect(page.locator("#copy_9-400")).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
