"""Owns report schema and report export, for people who read the tables of reports with other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.reports.report_options import (
    TABLE_NAMES,
    AsOfOption,
    ReportFolderOption,
    SinceDayOption,
    UntilDayOption,
    find_known_table,
    missing_extra_error,
    parse_days,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, OutputText, ResultRows
from nsadmin.console.session import Session

if TYPE_CHECKING:
    from nsreport.dictionary.table_definitions import ColumnDefinition, TableDefinition

SCHEMA_COLUMNS: "Columns[tuple[TableDefinition, ColumnDefinition]]" = (
    Column("table", "name of the table with its layer", lambda c: c[0].name),
    Column("column", "name of the column", lambda c: c[1].name),
    Column("type", "SQL type of the column", lambda c: c[1].type_name),
    Column("unit", "unit of the column; null: none", lambda c: c[1].unit),
    Column("meaning", "meaning of the column", lambda c: c[1].meaning),
)


@command(
    columns=SCHEMA_COLUMNS,
    agent_refusal="the tables of reports are local files",
    examples=("elsewhere", "the lab has made no tables"),
)
def report_schema(
    session: Session,
    table_name: Annotated[
        str | None,
        Argument(metavar="TABLE", help="Name of a report or table. Default: all of them."),
        Flags("--table"),
        Values("|".join(TABLE_NAMES)),
    ] = None,
    report_folder: ReportFolderOption = "reports",
    is_sql: Annotated[
        bool, Option("--sql", help="Print CREATE VIEW statements for DuckDB, also for former names.")
    ] = False,
) -> ResultRows | OutputText:
    """Show the columns of the tables of `nsadmin report run`, with their types, units and meanings.

    Reports are in gold/, the tables that they read in silver/, lines as read in bronze/. A former name of a
    table leads to the present one.

    With --sql, the command prints statements that make every table of --dir a view in DuckDB. The views show
    the tables as they are now: print them again after a run. A renamed table also gets a view with its former
    name and former columns, such as silver.told.

    Examples:
        # The columns of a report
        nsadmin report schema broker_availability
        # All tables as JSON, for a data catalogue
        nsadmin report schema --json
        # Views for DuckDB
        nsadmin report schema --sql --dir reports
    """
    from nsreport.presentation import sql_views
    from nsreport.reports import table_catalogue

    try:
        tables = [find_known_table(table_name)] if table_name else table_catalogue.list_tables()
    except ImportError as error:
        raise missing_extra_error(error) from None
    if is_sql:
        return OutputText("\n".join(sql_views.render_views(Path(report_folder), tables)))
    columns = [(table, column) for table in tables for column in table.columns]
    return ResultRows.from_records(SCHEMA_COLUMNS, columns)


@command(agent_refusal="it writes local files", examples=("elsewhere", "the lab has made no tables"))
def report_export(
    session: Session,
    table_name: Annotated[
        str,
        Argument(metavar="REPORT", help="Name of a report or table."),
        Flags("--report"),
        Values("|".join(TABLE_NAMES)),
    ],
    report_folder: ReportFolderOption = "reports",
    target_file: Annotated[
        str | None,
        Option("--out", metavar="FILE", help="File that ends in .csv, .parquet or .xlsx. Required."),
    ] = None,
    since_text: SinceDayOption = None,
    until_text: UntilDayOption = None,
    as_of_text: AsOfOption = None,
) -> OutputText:
    """Write a report or table to one CSV, Parquet or Excel file.

    A Parquet file keeps the types, and its footer has the unit and meaning of each column (key
    nsadmin.columns). An Excel file has the meanings as comments and stores names as text. Excel files need
    nsadmin[excel].

    Examples:
        # For a spreadsheet
        nsadmin report export broker_availability --dir reports --out availability.xlsx
        # A table of February, for pandas or DuckDB
        nsadmin report export silver/route_interval --out routes.parquet --from 2025-02-01 --until 2025-02-28
    """
    if target_file is None:
        raise UsageError("missing option --out FILE: use a name that ends in .csv, .parquet or .xlsx")
    from nsreport.presentation import report_reader, table_export

    try:
        row_count = table_export.export_table(
            Path(report_folder),
            find_known_table(table_name),
            parse_days(since_text, until_text, as_of_text),
            Path(target_file),
        )
    except (report_reader.TableNotMadeError, table_export.ExportFormatError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {target_file}: {error.strerror}") from None
    except ImportError as error:
        raise missing_extra_error(error, "excel" if error.name == "openpyxl" else "spark") from None
    return OutputText(f"{target_file}: {row_count:,} {'row' if row_count == 1 else 'rows'}")
