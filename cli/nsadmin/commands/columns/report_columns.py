"""Owns the meanings of the columns of `report show`, collected from all reports.

If several reports explain a column differently, its meaning lists all explanations.
"""

from nsreport.reports.catalogue import REPORTS_BY_NAME

_MEANINGS_BY_COLUMN: dict[str, dict[str, None]] = {}
for _report in REPORTS_BY_NAME.values():
    for _column_name, _column_meaning in _report.columns.items():
        _MEANINGS_BY_COLUMN.setdefault(_column_name, {})[_column_meaning] = None

REPORT_MEANINGS = {
    "reportShow": {
        column_name: "; or: ".join(column_meanings)
        for column_name, column_meanings in _MEANINGS_BY_COLUMN.items()
    }
}
