"""Data quality by source and day: lines, quarantine, late lines and gaps."""

from pathlib import Path

import duckdb
import pytest

from nsreport.dictionary.table_definitions import DATA_QUALITY_TABLE
from nsreport.presentation import data_quality, sql_views, table_reader
from nsreport.presentation.report_reader import DayRange, TableNotMadeError
from tests.support.gold_tables import DAY, NEXT, mark_forgotten, mark_unfinished, quality_store, table


def test_each_source_and_day_has_its_figures(tmp_path: Path) -> None:
    quality_store(tmp_path)
    rows = table_reader.read_table(tmp_path, DATA_QUALITY_TABLE)
    assert list(rows[0]) == [column.name for column in DATA_QUALITY_TABLE.columns]
    found = [tuple(row.values())[:-1] for row in rows]
    assert found == [
        # Of an operator's name, and late.
        (DAY, "named", "namesrv", 2, 1, 0.5, 2, 0, 0.0),
        # The gap goes on until the next day.
        (DAY, "ns-1", "journal", 3, 0, 0.0, 0, 1, 3600.0),
        (NEXT, "ns-1", "journal", 1, 0, 0.0, 0, 1, 1800.0),
        (NEXT, "of-folder", "broker", 1, 0, 0.0, 0, 0, 0.0),
    ]
    assert len(table_reader.read_table(tmp_path, DATA_QUALITY_TABLE, DayRange(NEXT, None))) == 2


def test_the_columns_have_their_documented_types(tmp_path: Path) -> None:
    quality_store(tmp_path)
    with duckdb.connect() as connection:
        rows = data_quality.select_data_quality(connection, tmp_path, DayRange())
        documented_columns = connection.sql(sql_views.render_empty_table(DATA_QUALITY_TABLE))
        assert documented_columns is not None
        assert (rows.columns, rows.types) == (documented_columns.columns, documented_columns.types)


def test_a_store_is_summarized_with_its_unfinished_days(tmp_path: Path) -> None:
    quality_store(tmp_path)
    mark_unfinished(tmp_path, NEXT)
    summary = data_quality.summarize_store(tmp_path)
    assert summary == (1_738_800_000_000, 7, 1, 2, 1, None)
    mark_forgotten(tmp_path, NEXT)
    assert data_quality.summarize_store(tmp_path).first_day == NEXT


def test_a_store_without_lines_or_tables(tmp_path: Path) -> None:
    with pytest.raises(TableNotMadeError):
        data_quality.summarize_store(tmp_path)
    for name in ("bronze/lines", "silver/ns_event", "silver/quarantine", "silver/knowledge_interval"):
        table(tmp_path / name, {"file": "varchar"}, [], ())
    assert data_quality.summarize_store(tmp_path) == (None, 0, 0, 0, 0, None)
