"""Comparison of two output folders (`python -m tests.bench.table_comparison OLD NEW`), row for row.

Prints a line for each table, and the rows that only one folder has, without the columns of RUN_COLUMNS.
Exits with 1 if a table differs. Run it before and after a change of the pipeline, on the same input.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import duckdb

from nsreport.presentation import report_reader
from nsreport.tables import table_versions

RUN_COLUMNS = ("ingestTime",)
SHOWN_ROWS = 5


def list_tables(output_folder: Path) -> set[str]:
    """Return the names of the tables, such as `silver/ns_event`."""
    return {
        str(table_folder.relative_to(output_folder))
        for table_folder in output_folder.glob("[!_]*/*")
        if report_reader.has_table(table_folder)
    }


def count_rows(table_folder: Path, first_day: date = date.min) -> Counter[str]:
    """Return the rows of a table as text, each with the number of its copies; of states, those that last."""
    table_files = (
        report_reader.list_parquet_files(table_folder) if report_reader.has_table(table_folder) else []
    )
    if not table_files:
        return Counter()
    relation = duckdb.read_parquet(table_files, hive_partitioning=True, union_by_name=True)
    day_column = next((name for name in ("endDate", "date") if name in relation.columns), None)
    if day_column is not None and first_day > date.min:
        relation = relation.filter(f"{day_column} is null or {day_column} >= date '{first_day}'")
    kept_columns = sorted(set(relation.columns) - set(RUN_COLUMNS))
    rows = relation.project(", ".join(f'"{name}"' for name in kept_columns)).fetchall()
    return Counter(repr(tuple(map(_order_items, row))) for row in rows)


def _order_items(value: object) -> object:
    """Give the items of a map an order: Spark writes them in any."""
    return sorted(value.items()) if isinstance(value, dict) else value


def list_columns(table_folder: Path) -> list[str]:
    """Return the columns of a table with their types; Spark reads all of them as nullable."""
    schema_file, delta_table = table_folder / "_schema.json", table_versions.open_table(str(table_folder))
    if delta_table is not None:
        schema_text = delta_table.schema().to_json()
    elif schema_file.exists():
        schema_text = schema_file.read_text()
    else:
        return []
    return [
        f"column {field['name']}: {json.dumps(field['type'], sort_keys=True).replace('false', 'true')}"
        for field in json.loads(schema_text)["fields"]
    ]


def compare_folders(
    old_folder: Path, new_folder: Path, first_day: date = date.min
) -> Iterator[tuple[str, Counter[str], Counter[str]]]:
    """Yield each table with the rows from a day on that only the old and only the new folder has."""
    for table_name in sorted(list_tables(old_folder) | list_tables(new_folder)):
        old_rows, new_rows = (
            count_rows(folder / table_name, first_day) for folder in (old_folder, new_folder)
        )
        old_columns, new_columns = (
            Counter(list_columns(folder / table_name)) for folder in (old_folder, new_folder)
        )
        yield (
            table_name,
            old_rows - new_rows + (old_columns - new_columns),
            new_rows - old_rows + (new_columns - old_columns),
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.table_comparison", description=__doc__)
    parser.add_argument("old_folder", type=Path)
    parser.add_argument("new_folder", type=Path)
    arguments = parser.parse_args()
    exit_code = 0
    for table_name, only_old, only_new in compare_folders(arguments.old_folder, arguments.new_folder):
        print(f"{table_name}: {only_old.total()} rows only in the old, {only_new.total()} only in the new")
        for sign, rows in (("-", only_old), ("+", only_new)):
            for row_text in sorted(rows)[:SHOWN_ROWS]:
                print(f"  {sign} {row_text}")
        exit_code |= bool(only_old or only_new)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
