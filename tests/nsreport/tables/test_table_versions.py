"""Versions of a table, read without Spark."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep

import duckdb
from deltalake import DeltaTable, write_deltalake

from nsreport.tables import table_versions
from tests.support.gold_tables import DAY, NEXT, mark_unfinished, quality_store


def write_numbers(folder: Path, count: int) -> datetime:
    """Replace the rows of a table; return a time at which it has these."""
    numbers = duckdb.sql(f"select range as n from range({count})")
    assert numbers is not None
    write_deltalake(folder, numbers, mode="overwrite")
    sleep(0.01)
    return datetime.now(UTC)


def test_the_version_of_a_time_has_its_own_files(tmp_path: Path) -> None:
    assert table_versions.open_table(str(tmp_path / "none")) is None
    first, second = write_numbers(tmp_path, 3), write_numbers(tmp_path, 1)
    assert table_versions.open_table(str(tmp_path), first - timedelta(days=1)) is None
    for moment, row_count in ((first, 3), (second, 1), (None, 1)):
        delta_table = table_versions.open_table(str(tmp_path), moment)
        assert delta_table is not None
        [file] = table_versions.list_files(delta_table)
        assert (file.row_count, file.byte_count) == (row_count, (tmp_path / file.path).stat().st_size)


def test_files_are_removed_when_no_kept_version_has_them(tmp_path: Path) -> None:
    for count in (3, 1):
        write_numbers(tmp_path, count)
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / "x.parquet").touch()
    delta_table = DeltaTable(tmp_path)
    assert not table_versions.remove_old_files(delta_table, timedelta(hours=1))
    assert len(list(tmp_path.rglob("*.parquet"))) == 3
    assert table_versions.remove_old_files(delta_table, timedelta(0))
    assert [str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.parquet")] == [
        file.path for file in table_versions.list_files(delta_table)
    ]


def test_days_of_new_lines_are_due(tmp_path: Path) -> None:
    quality_store(tmp_path)
    uri = str(tmp_path / table_versions.LINES_TABLE)
    assert table_versions.list_due_days(table_versions.open_table(uri)) == {}
    assert table_versions.list_due_days(None) == {}
    for day in (NEXT, DAY):
        mark_unfinished(tmp_path, day)
    assert list(table_versions.list_due_days(table_versions.open_table(uri))) == [DAY, NEXT]
