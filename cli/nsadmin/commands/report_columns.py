"""Owns the meanings of the columns of `report show`, collected from all reports.

If several reports explain a column differently, its meaning lists all explanations.
"""

from nsreport.reports.catalogue import REPORTS

_SAID: dict[str, dict[str, None]] = {}
for _report in REPORTS.values():
    for _name, _meaning in _report.columns.items():
        _SAID.setdefault(_name, {})[_meaning] = None

COLUMNS = {"reportShow": {name: "; or: ".join(meanings) for name, meanings in _SAID.items()}}
