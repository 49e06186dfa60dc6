"""The end of a run: what was skipped and why; and how long each file took, for `make test-quick`."""

import re
from collections import Counter, defaultdict
from typing import Any

import pytest


def count_skips(reports: list[Any]) -> Counter[str]:
    """How many tests were skipped for each reason."""
    return Counter(re.sub(r"^Skipped: ", "", report.longrepr[2]) for report in reports)


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reasons = count_skips(terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("skipped")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5d}  {reason}")
    if config.cache is not None:
        seconds: defaultdict[str, float] = defaultdict(float)
        for report in (r for reports in terminalreporter.stats.values() for r in reports):
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
        known = config.cache.get("nsadmin/seconds_by_file", {})
        config.cache.set("nsadmin/seconds_by_file", known | {f: round(s, 2) for f, s in seconds.items()})
