"""Writes the pictures of the page of reports into docs/images, from a page that `make demo-report` made."""

import sys
from pathlib import Path

from tests.support.chromium import start_chromium
from tests.support.name_servers import ROOT

PICTURES = {
    "report.png": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "report-dark.png": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}

if __name__ == "__main__":
    with start_chromium() as browser:
        for name, form in PICTURES.items():
            page = browser.new_page(**form)  # type: ignore[arg-type]
            page.goto(Path(sys.argv[1]).resolve().as_uri())
            page.screenshot(path=ROOT / "docs" / "images" / name)
