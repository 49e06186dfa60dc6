"""The table of functions and the catalogue have the same reports."""

from nsreport.reports.catalogue import REPORTS_BY_NAME
from nsreport.reports.report_functions import FUNCTIONS_BY_REPORT


def test_every_report_has_a_function_in_the_module_of_its_name() -> None:
    assert list(FUNCTIONS_BY_REPORT) == list(REPORTS_BY_NAME)
    assert {name: function.__module__ for name, function in FUNCTIONS_BY_REPORT.items()} == {
        name: f"nsreport.reports.{name}" for name in REPORTS_BY_NAME
    }
