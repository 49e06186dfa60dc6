"""docs/reference/data-dictionary.md: all columns of the tables of `nsadmin report run`."""

from collections.abc import Iterator

from nsreport.dictionary.former_names import FORMER_COLUMNS, find_former_table
from nsreport.dictionary.table_definitions import TableDefinition
from nsreport.reports.table_catalogue import list_tables

_PAGE_HEAD = """\
# Data dictionary

These are the columns of all tables that `nsadmin report run` writes. [Report tables](report-tables.md)
explains the layers and names. `nsadmin report schema` prints the same, with the whole types of nested
columns. The footer of a Parquet file has the units and meanings, too.
"""

# The fields of structs would make the table too wide.
_STRUCT_TYPES = (("struct<", "struct"), ("array<struct<", "array<struct>"))


def render_data_dictionary() -> str:
    return "\n".join([_PAGE_HEAD, *(line for table in list_tables() for line in _table_lines(table))])


def _table_lines(table: TableDefinition) -> Iterator[str]:
    yield f"## {table.name}\n"
    yield f"{table.description}\n"
    former_table = find_former_table(table.name)
    if former_table is not None:
        yield f"Former name: `{former_table}`.\n"
    former_names = {
        present_name: former_name for former_name, present_name in FORMER_COLUMNS.get(table.name, {}).items()
    }
    yield "| Column | Type | Unit | Meaning |"
    yield "|---|---|---|---|"
    for column in table.columns:
        former_note = f" (formerly `{former_names[column.name]}`)" if column.name in former_names else ""
        type_name = next(
            (short_name for start, short_name in _STRUCT_TYPES if column.type_name.startswith(start)),
            column.type_name,
        )
        yield f"| `{column.name}`{former_note} | `{type_name}` | {column.unit or ''} | {column.meaning} |"
    yield ""
