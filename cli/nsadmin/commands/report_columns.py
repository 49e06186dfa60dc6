"""What the columns of `report show` mean: what the reports say; where several differ, all of it."""

from nsreport.reports.catalogue import REPORTS

_SAID: dict[str, dict[str, None]] = {}
for _report in REPORTS.values():
    for _name, _meaning in _report.columns.items():
        _SAID.setdefault(_name, {})[_meaning] = None

COLUMNS = {"reportShow": {name: "; or: ".join(meanings) for name, meanings in _SAID.items()}}
