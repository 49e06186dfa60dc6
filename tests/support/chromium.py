"""Headless Chromium, driven by Playwright: the one on the PATH, or that of NSADMIN_CHROMIUM."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

EXECUTABLE = os.environ.get("NSADMIN_CHROMIUM") or shutil.which("chromium")


@contextmanager
def start_chromium() -> Iterator[Browser]:
    """Start a browser. Until it ends, no coroutine can run in this thread."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=EXECUTABLE) as browser:
        yield browser
