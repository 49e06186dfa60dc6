"""The order of the tests, and which of them one worker of pytest-xdist runs together."""

LONGEST_FIRST = (
    "tests/nsreport",
    "tests/interop/test_drain.py",
    "tests/interop",
    "tests/test_documentation.py",
    "tests/nsadmin/commands/reports/test_report_run.py",
    "tests/nsadmin/commands/test_examples.py",
    "tests/bench",
)
"""Folders and files that begin first. Otherwise one worker would end long after the others."""


def find_place(test_id: str) -> int:
    """The place of a test in the order. Tests with the same place keep their order."""
    for place, path in enumerate(LONGEST_FIRST):
        if test_id.startswith((f"{path}/", f"{path}::")):
            return place
    return len(LONGEST_FIRST)


def find_work_unit(test_id: str) -> str:
    """The file or folder whose tests one worker runs.

    The tests of a file share the servers that its fixtures start. All tests of the pipeline share one Spark
    session, because a session takes seconds to start, and its first queries take longer than the later ones.
    """
    file = test_id.partition("::")[0]
    return "tests/nsreport" if file.startswith("tests/nsreport/") else file
