"""Table export: writes a table of a run to one CSV, Parquet or Excel file, with DuckDB and openpyxl."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from nsreport.dictionary.table_definitions import TableDefinition
from nsreport.presentation import report_reader, table_reader
from nsreport.presentation.report_reader import DayRange
from nsreport.presentation.sql_views import quote_text, render_empty_table

MAX_SHEET_ROWS = 1_048_576
"""An Excel sheet has at most this many rows, with the header."""

COLUMN_METADATA_KEY = "nsadmin.columns"
"""The key of the Parquet footer whose value has the unit and meaning of each column, as JSON."""


class ExportFormatError(Exception):
    """The file name has no known ending, or the table does not fit; the text is one line."""


def export_table(output_folder: Path, table: TableDefinition, day_range: DayRange, target_file: Path) -> int:
    """Write the rows of a table to a file; return their number.

    Raises:
        ExportFormatError: the ending of the file is unknown, or the table is too large for it.
        TableNotMadeError: no run made the table.
        OSError: the file cannot be written.
        ImportError: openpyxl is missing.
    """
    write_rows = _WRITERS.get(target_file.suffix.lower())
    if write_rows is None:
        raise ExportFormatError(f'unknown format of "{target_file}": end the name with {_list_suffixes()}')
    return write_rows(output_folder, table, day_range, target_file)


def describe_columns(table: TableDefinition) -> str:
    """Return the type, unit and meaning of each column as JSON, for the footer of a Parquet file."""
    return json.dumps(
        {
            column.name: {"type": column.type_name, "unit": column.unit, "meaning": column.meaning}
            for column in table.columns
        }
    )


def _write_parquet(
    output_folder: Path, table: TableDefinition, day_range: DayRange, target_file: Path
) -> int:
    metadata_option = f"kv_metadata {{'{COLUMN_METADATA_KEY}': {quote_text(describe_columns(table))}}}"
    return _copy_rows(
        output_folder, table, day_range, target_file, f"format parquet, compression zstd, {metadata_option}"
    )


def _write_csv(output_folder: Path, table: TableDefinition, day_range: DayRange, target_file: Path) -> int:
    return _copy_rows(output_folder, table, day_range, target_file, "format csv, header true")


def _copy_rows(
    output_folder: Path, table: TableDefinition, day_range: DayRange, target_file: Path, copy_options: str
) -> int:
    import duckdb

    with duckdb.connect() as connection:
        relation = table_reader.select_table(connection, output_folder, table, day_range)
        if relation is None:
            relation = connection.sql(render_empty_table(table))
        assert relation is not None
        # An unwritable place is an OSError here. DuckDB would raise an error of its own.
        target_file.open("ab").close()
        copied_rows = relation.query(
            "exported", f"copy exported to {quote_text(str(target_file))} ({copy_options})"
        )
        assert copied_rows is not None
        copied_rows.fetchall()
        return int(relation.aggregate("count(*)").fetchall()[0][0])


def _write_sheet(output_folder: Path, table: TableDefinition, day_range: DayRange, target_file: Path) -> int:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.comments import Comment
    from openpyxl.styles import Font

    table_rows = table_reader.read_table(output_folder, table, day_range)
    if len(table_rows) >= MAX_SHEET_ROWS:
        raise ExportFormatError(
            f"{len(table_rows):,} rows do not fit into an Excel sheet: use --since and --until, or .parquet"
        )
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet(table.name.split("/")[1][:31])
    sheet.freeze_panes = "A2"
    header_cells = []
    for column in table.columns:
        header_cell = WriteOnlyCell(sheet, column.name)
        header_cell.font = Font(bold=True)
        unit_text = f" ({column.unit})" if column.unit else ""
        header_cell.comment = Comment(f"{column.meaning}{unit_text}", "nsadmin")
        header_cells.append(header_cell)
    sheet.append(header_cells)
    for table_row in table_rows:
        sheet.append([_make_cell(sheet, table_row[column.name]) for column in table.columns])
    workbook.save(target_file)
    return len(table_rows)


def _make_cell(sheet: Any, cell_value: Any) -> Any:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(cell_value, (Mapping, Sequence)) and not isinstance(cell_value, str):
        cell_value = json.dumps(report_reader.to_json_value(cell_value))
    if cell_value is None or isinstance(cell_value, (bool, int, float, date, datetime)):
        return cell_value
    text_cell = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("\ufffd", str(cell_value)))
    # Otherwise Excel would compute a name that begins with "=".
    text_cell.data_type = "s"
    return text_cell


_WRITERS: Mapping[str, Callable[[Path, TableDefinition, DayRange, Path], int]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".xlsx": _write_sheet,
}


def _list_suffixes() -> str:
    return ", ".join(list(_WRITERS)[:-1]) + f" or {list(_WRITERS)[-1]}"
