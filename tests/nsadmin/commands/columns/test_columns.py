"""Every command declares the columns of its rows, and each column is explained.

That a command returns no other columns than it declares is seen by every test that runs one (`run`).
"""

import pytest

from nsadmin.command_line.declarations import declaration_of
from nsadmin.command_line.registry import COMMANDS, CommandEntry

WITH_TEXT = ("discoveryPrometheus", "export", "exporter", "reportExport", "reportHtml", "reportMarkdown")


@pytest.mark.parametrize(
    "entry",
    [e for e in COMMANDS if e.kind not in ("batch", "screen", "program") and e.name not in WITH_TEXT],
    ids=lambda entry: entry.name,
)
def test_a_command_declares_its_columns_and_each_is_explained(entry: CommandEntry) -> None:
    meanings = declaration_of(entry.load_function()).column_meanings
    assert meanings, f"{entry.name}: declare the columns of its rows with @command(columns=COLUMNS)"
    assert all(meanings.values())
