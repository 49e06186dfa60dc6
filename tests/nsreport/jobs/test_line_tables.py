"""Which days are rebuilt; what their tables contain is tested with the whole run."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nsreport.jobs import line_tables
from nsreport.jobs.line_ingest import BRONZE_LINES
from nsreport.jobs.line_tables import refresh_line_tables
from nsreport.jobs.table_workspace import TableWorkspace
from nsreport.sources import schemas
from nsreport.tables.table_store import TableStore

FIRST, SECOND, THIRD = date(2025, 1, 1), date(2025, 1, 2), date(2025, 1, 3)
NOW = datetime(2025, 3, 1, tzinfo=UTC)


def test_a_log_line_rebuilds_later_days_too_and_a_journal_line_only_its_own(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_tables, "_replace_line_tables", lambda *arguments: None)
    tables = TableWorkspace(spark, TableStore(spark, str(tmp_path)), lambda result: None)
    lines = [
        ("f", number, str(number), NOW, "2025-01-01 00:00:00 INFO main - a", "ns", kind, day)
        for number, (kind, day) in enumerate(
            [("journal", FIRST), ("journal", SECOND), ("journal", THIRD), ("namesrv", SECOND)]
        )
    ]
    tables.table_store.append_rows(BRONZE_LINES, spark.createDataFrame(lines, schemas.BRONZE_SCHEMA))
    assert refresh_line_tables(tables, [SECOND]) == [SECOND, THIRD]
    assert refresh_line_tables(tables, [FIRST]) == [FIRST, SECOND, THIRD]
    assert refresh_line_tables(tables, [THIRD]) == [THIRD]
