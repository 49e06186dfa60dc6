"""check reports: age, quarantine and unfinished days of a store."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="reports are the extra nsadmin[spark]")

from nsadmin.client.extras import describe_missing
from nsadmin.operations.checks import reports
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from tests.support.checks import run_check
from tests.support.gold_tables import NEXT, mark_forgotten, mark_unfinished, quality_store

READ_MS = 1_738_800_000_000
"""When the last line of `quality_store` was read: 2025-02-06T00:00:00Z."""
HOUR_MS = 3_600_000


def found(folder: Path, now_ms: int) -> CheckFinding:
    return run_check(reports.CHECK, "h:1", scope=CheckScope(report_folder=folder), now_ms=now_ms)


def test_unreadable_lines_are_judged_by_their_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quality_store(tmp_path)
    # One of seven lines could not be read.
    assert found(tmp_path, READ_MS + HOUR_MS).state is CheckState.CRITICAL
    monkeypatch.setattr(reports, "CRITICAL_QUARANTINE_PERCENT", 20)
    finding = found(tmp_path, READ_MS + HOUR_MS)
    assert (finding.state, finding.summary) == (
        CheckState.WARNING, "the last line was read 1.0 h ago, 14.29 % of the lines could not be read"
    )  # fmt: skip


def test_age_and_unfinished_days_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quality_store(tmp_path)
    monkeypatch.setattr(reports, "CRITICAL_QUARANTINE_PERCENT", 20)
    monkeypatch.setattr(reports, "WARNING_QUARANTINE_PERCENT", 20)
    ages = {1: CheckState.OK, 30: CheckState.WARNING, 60: CheckState.CRITICAL}
    for hours, state in ages.items():
        assert found(tmp_path, READ_MS + hours * HOUR_MS).state is state
    mark_unfinished(tmp_path, NEXT)
    assert found(tmp_path, READ_MS + HOUR_MS).state is CheckState.OK
    stopped = found(tmp_path, READ_MS + 3 * HOUR_MS)
    assert (stopped.state, stopped.details) == (
        CheckState.WARNING, ("1 day is not complete: run nsadmin report run again",)
    )  # fmt: skip
    mark_forgotten(tmp_path, NEXT)
    assert found(tmp_path, READ_MS).summary.endswith(f", days before {NEXT} are forgotten")


def test_a_folder_without_tables_is_critical(tmp_path: Path) -> None:
    finding = found(tmp_path, READ_MS)
    assert (finding.state, "make them with nsadmin report run" in finding.summary) == (
        CheckState.CRITICAL, True
    )  # fmt: skip


def test_without_the_extra_the_state_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    finding = found(tmp_path, READ_MS)
    assert finding.state is CheckState.UNKNOWN
    assert finding.summary == describe_missing("duckdb", "spark")
