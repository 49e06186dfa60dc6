"""The order of the tests, and which of them one worker of pytest-xdist runs together."""

import re
from collections.abc import Iterable

LONGEST_FIRST = (
    "tests/interop/test_drain.py",
    "tests/interop",
    "tests/nsreport",
    "tests/test_documentation.py",
    "tests/nsadmin/commands/reports/test_report_run.py",
    "tests/nsadmin/commands/test_examples.py",
    "tests/bench",
)
"""Folders and files that begin first. Otherwise one worker would end long after the others."""
_WORK_UNITS = re.compile(
    # Each worker has one Spark session. It takes seconds to start, and its first queries take longer than
    # the later ones. So there are three units of about two minutes.
    r"tests/nsreport/(?!presentation/test_html_in_chromium)(sources/|test_)?"
    # One cluster of Java servers for each release.
    r"|tests/interop/test_drain\.py::test_[a-z]{1,9}_"
    # One cluster of Java servers.
    r"|tests/interop/shared/"
    # Each page has a lab of its own.
    r"|tests/test_documentation\.py::test_each_command_of_a_page.*"
    # All other tests of a file share the servers that its fixtures start.
    r"|[^:]*"
)


def find_place(test_id: str) -> int:
    """The place of a test in the order. Tests with the same place keep their order."""
    for place, path in enumerate(LONGEST_FIRST):
        if test_id.startswith((f"{path}/", f"{path}::")):
            return place
    return len(LONGEST_FIRST)


def find_work_unit(test_id: str) -> str:
    """The first part of the test's ID. One worker runs all tests whose IDs have the same part."""
    work_unit = _WORK_UNITS.match(test_id)
    assert work_unit is not None
    return work_unit[0]


def choose_work_unit(work_units: Iterable[str], is_first_worker: bool) -> str:
    """The unit that a worker runs next: the first worker computes while the others wait for Java servers."""
    first, *later = work_units
    return next(
        (unit for unit in (first, *later) if unit.startswith("tests/interop/") != is_first_worker), first
    )
