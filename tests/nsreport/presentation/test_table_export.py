"""A table as one file: values and types are kept, and no name becomes a formula."""

import csv
import json
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from nsreport.dictionary.table_definitions import TableDefinition
from nsreport.presentation import table_export
from nsreport.presentation.report_reader import DayRange, TableNotMadeError
from nsreport.reports.table_catalogue import find_table
from tests.support.gold_tables import DAY, NEXT, table
from tests.support.gold_tables import write_gold_tables as gold

ALL_DAYS = DayRange()


def definition(name: str) -> TableDefinition:
    found = find_table(name)
    assert found is not None
    return found


def exported(
    tmp_path: Path, ending: str, name: str = "broker_availability", days: DayRange = ALL_DAYS
) -> Path:
    target = tmp_path / f"exported.{ending}"
    gold(tmp_path / "out") if not (tmp_path / "out").exists() else None
    table_export.export_table(tmp_path / "out", definition(name), days, target)
    return target


def answer(query: str) -> list[Any]:
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall()


def test_a_csv_file_has_a_header_and_all_rows_of_the_days(tmp_path: Path) -> None:
    text = exported(tmp_path, "csv", days=DayRange(NEXT, None)).read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert [(row["brokerName"], row["date"], row["unknownSeconds"]) for row in rows] == [
        ("a", NEXT.isoformat(), "86400.0")
    ]


def test_a_parquet_file_keeps_types_and_has_the_meanings_in_its_footer(tmp_path: Path) -> None:
    target = exported(tmp_path, "parquet")
    types = {row[0]: row[1] for row in answer(f"describe select * from '{target}'")}
    assert (types["date"], types["brokerId"], types["downSeconds"]) == ("DATE", "BIGINT", "DOUBLE")
    [footer] = answer(f"select decode(value) from parquet_kv_metadata('{target}')")
    assert json.loads(footer[0])["downSeconds"]["unit"] == "s"


def test_a_sheet_has_numbers_dates_and_names_that_are_no_formulas(tmp_path: Path) -> None:
    gold(tmp_path / "out")
    types = {"brokerName": "varchar", "outages": "bigint", "servers": "varchar[]", "date": "date"}
    table(tmp_path / "other" / "gold" / "broker_flaps", types, [("=1+1\x01", 2, ["n1"], DAY)], ())
    (tmp_path / "other").rename(tmp_path / "more")
    target = tmp_path / "flaps.xlsx"
    assert table_export.export_table(tmp_path / "more", definition("broker_flaps"), DayRange(), target) == 1
    sheet = openpyxl.load_workbook(target).active
    assert sheet is not None
    header, row = sheet.iter_rows()
    cells = {name.value: cell for name, cell in zip(header, row, strict=True)}
    assert (cells["brokerName"].value, cells["brokerName"].data_type) == ("=1+1\ufffd", "s")
    assert cells["outages"].value == 2
    assert cells["date"].value.date() == date(2025, 2, 1)
    assert cells["servers"].value == '["n1"]'
    comment = next(cell for cell in header if cell.value == "downSeconds").comment
    assert comment is not None
    assert "(s)" in comment.text


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_report_without_rows_is_a_file_with_its_columns(tmp_path: Path, ending: str) -> None:
    target = exported(tmp_path, ending, "drain_audit")
    if ending == "xlsx":
        sheet = openpyxl.load_workbook(target).active
        assert sheet is not None
        columns = [cell.value for cell in next(sheet.iter_rows())]
    else:
        columns = [row[0] for row in answer(f"describe select * from '{target}'")]
    assert columns == [column.name for column in definition("drain_audit").columns]


def test_what_cannot_be_exported_is_an_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(table_export.ExportFormatError, match=r"end the name with \.csv, \.parquet or \.xlsx"):
        exported(tmp_path, "ods")
    with pytest.raises(TableNotMadeError):
        exported(tmp_path, "csv", "ns_health")
    assert not (tmp_path / "exported.csv").exists()
    monkeypatch.setattr(table_export, "MAX_SHEET_ROWS", 2)
    with pytest.raises(table_export.ExportFormatError, match="3 rows do not fit into an Excel sheet"):
        exported(tmp_path, "xlsx")
