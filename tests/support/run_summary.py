"""The end of a run: what was skipped and why, and which files took the most processor time.

The seconds of each file are kept for `make test-quick`.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable
from typing import Any

import pytest

LONG_RUN_SECONDS = 60.0
MOST_FILES = 15
_PROCESSOR = "processor seconds"
_last_seconds = 0.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what this process and its ended children have used since the last report."""
    global _last_seconds
    report = yield
    seconds = sum(os.times()[:4])
    report.user_properties.append((_PROCESSOR, seconds - _last_seconds))
    _last_seconds = seconds
    return report


def count_skips(reports: Iterable[Any]) -> Counter[str]:
    """How many tests were skipped for each reason."""
    return Counter(re.sub(r"^Skipped: ", "", report.longrepr[2]) for report in reports)


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    write = terminalreporter.write_line
    reasons = count_skips(terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("skipped")
    for reason, count in reasons.most_common():
        write(f"{count:5d}  {reason}")

    seconds: defaultdict[str, float] = defaultdict(float)
    processor: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                file = report.nodeid.partition("::")[0]
                seconds[file] += report.duration
                properties: dict[str, Any] = dict(report.user_properties)
                processor[file] += properties.get(_PROCESSOR, 0.0)
    total = sum(processor.values())
    if total > LONG_RUN_SECONDS:
        terminalreporter.section(f"{total / 60:.1f} minutes of processor time")
        for file in sorted(processor, key=lambda file: -processor[file])[:MOST_FILES]:
            write(f"{processor[file]:5.0f} s  {file}")
    if (cache := getattr(config, "cache", None)) is not None:
        known = cache.get("nsadmin/seconds_by_file", {})
        cache.set("nsadmin/seconds_by_file", known | {f: round(s, 2) for f, s in seconds.items()})
