"""Owns the meanings of the columns of `report show` and `report schema`, collected from all tables.

If several tables explain a column differently, its meaning lists all explanations.
"""

from collections.abc import Iterator

from nsreport.dictionary.table_definitions import DATA_QUALITY_TABLE, DEFINITIONS_BY_NAME
from nsreport.reports.catalogue import REPORTS_BY_NAME


def _list_column_meanings() -> Iterator[tuple[str, str]]:
    for report in REPORTS_BY_NAME.values():
        yield from report.columns.items()
    for table in (DATA_QUALITY_TABLE, *DEFINITIONS_BY_NAME.values()):
        yield from ((column.name, column.meaning) for column in table.columns)


_MEANINGS_BY_COLUMN: dict[str, dict[str, None]] = {}
for _column_name, _column_meaning in _list_column_meanings():
    _MEANINGS_BY_COLUMN.setdefault(_column_name, {})[_column_meaning] = None

REPORT_MEANINGS = {
    "reportShow": {
        column_name: "; or: ".join(column_meanings)
        for column_name, column_meanings in _MEANINGS_BY_COLUMN.items()
    },
    "reportSchema": {
        "table": "name of the table with its layer",
        "column": "name of the column",
        "type": "SQL type of the column",
        "unit": "unit of the column; null: none",
        "meaning": "meaning of the column",
    },
}
