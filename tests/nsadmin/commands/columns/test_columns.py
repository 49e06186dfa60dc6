"""Every command declares the columns of its rows, and each column is explained.

That a command returns no other columns than it declares is seen by every test that runs one (`run`).
"""

from nsadmin.command_line.declarations import declaration_of
from nsadmin.command_line.registry import COMMANDS

WITH_TEXT = ("discoveryPrometheus", "export", "exporter", "reportExport", "reportHtml", "reportMarkdown")


def test_a_command_declares_its_columns_and_each_is_explained() -> None:
    for entry in COMMANDS:
        if entry.kind in ("batch", "screen", "program") or entry.name in WITH_TEXT:
            continue
        meanings = declaration_of(entry.load_function()).column_meanings
        assert meanings, f"{entry.name}: declare the columns of its rows with @command(columns=COLUMNS)"
        assert all(meanings.values()), entry.name
