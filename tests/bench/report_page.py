"""How long Chromium takes to open a page of 10,000 rows, and to sort one of its tables.

`python -m tests.bench.report_page` prints the median of five times; the page must be open in 2 s.
"""

import statistics
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from nsreport.presentation import html_page, pages
from nsreport.presentation.pages import ReportPage, ReportSection
from nsreport.reports.catalogue import REPORTS_BY_NAME

OPEN = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SORT = """() => {
  const begun = performance.now();
  document.querySelector("#broker_flaps th button").click();
  document.body.offsetHeight;
  return performance.now() - begun;
}"""


def write_page(folder: Path, row_count: int) -> Path:
    """Write a page with a calendar of 64 brokers and 92 days, and so many rows in tables of full length."""
    begin = datetime(2025, 2, 1)
    brokers = [
        {"cluster": "cluster-a", "brokerName": f"broker-{number % 64}", "brokerId": 0, "failures": 0}
        for number in range(64 * 92)
    ]
    days = [
        dict.fromkeys(REPORTS_BY_NAME["broker_availability"].columns)
        | broker
        | {"date": (begin + timedelta(number // 64)).date(), "plannedSeconds": 0.0, "unknownSeconds": 60.0}
        | {"upSeconds": 86_340.0 - number % 7, "downSeconds": number % 7, "availability": 99.99}
        for number, broker in enumerate(brokers)
    ]
    losses = [
        broker
        | {
            "date": begin.date(),
            "ts": begin + timedelta(minutes=number),
            "ongoing": False,
            "cause": "expired",
        }
        | {"endTs": begin + timedelta(minutes=number + 9), "servers": ["ns-1", "ns-2"], "outages": 1}
        | {"conflicts": 0, "downSeconds": 540.0, "longestSeconds": 540.0}
        for number, broker in enumerate(brokers[: pages.MAX_TABLE_ROWS])
    ]
    flaps = REPORTS_BY_NAME["broker_flaps"]
    sections = [
        ReportSection(REPORTS_BY_NAME["broker_availability"], days),
        ReportSection(flaps, losses),
        *(
            ReportSection(flaps._replace(name=f"copy_{number}"), losses)
            for number in range(row_count // pages.MAX_TABLE_ROWS - 3)
        ),
    ]
    file = folder / "page.html"
    file.write_text(html_page.render_page(ReportPage("Pages", "now", 0, row_count, sections, [])))
    return file


if __name__ == "__main__":
    from tests.support.chromium import start_chromium

    with tempfile.TemporaryDirectory() as home, start_chromium() as browser:
        file = write_page(Path(home), 10_000)
        times = []
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(file.as_uri())
            times.append((page.evaluate(OPEN) / 1000, page.evaluate(SORT) / 1000))
            page.close()
    for name, seconds in zip(("open", "sort 500 rows"), zip(*times, strict=True), strict=True):
        print(f"{name}: {statistics.median(seconds):.2f} s (longest {max(seconds):.2f} s)")
