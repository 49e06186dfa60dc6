"""What columns mean: every column of every command is explained, and nothing that is no column.

That a command returns no other columns than it declares is seen by every test that runs one (`run`).
"""

from typing import Any

import pytest

from nsadmin.command_line import registry
from nsadmin.command_line.declarations import command, declaration_of
from nsadmin.command_line.registry import COMMANDS, CommandEntry
from nsadmin.commands.columns import meanings


def function_of(entry: CommandEntry) -> Any:
    return entry.load_function()


WITH_TEXT = ("discoveryPrometheus", "export", "exporter", "reportExport", "reportHtml", "reportMarkdown")
WITH_ROWS = [
    entry
    for entry in COMMANDS
    if entry.kind not in ("batch", "screen", "program") and entry.name not in WITH_TEXT
]


@pytest.mark.parametrize("entry", WITH_ROWS, ids=lambda entry: entry.name)
def test_a_command_declares_its_columns_and_each_is_explained(entry: CommandEntry) -> None:
    function = function_of(entry)
    assert declaration_of(function).column_names, (
        f"{entry.name}: declare the columns of its rows with @command(columns=COLUMNS)"
    )
    assert all(meanings.column_meanings(entry.name, function).values())


def test_a_column_that_nobody_explained_is_named() -> None:
    @command(columns=("topic", "weight"))
    def weigh() -> None: ...

    with pytest.raises(
        ValueError,
        match=(
            r"topicList: add the meaning of column weight, with its unit, to "
            r"commands/columns/meanings\.py"
        ),
    ):
        meanings.column_meanings("topicList", weigh)


def test_nothing_is_explained_that_no_command_shows() -> None:
    column_names = {name for entry in WITH_ROWS for name in declaration_of(function_of(entry)).column_names}
    assert meanings.COLUMN_MEANINGS.keys() - column_names == set()
    for name, own in meanings.MEANINGS_BY_COMMAND.items():
        entry = registry.find_command(name)
        assert entry is not None
        assert entry.name == name
        assert own.keys() - set(declaration_of(function_of(entry)).column_names) == set()


def test_the_table_is_in_the_order_of_the_alphabet() -> None:
    assert list(meanings.COLUMN_MEANINGS) == sorted(meanings.COLUMN_MEANINGS)
