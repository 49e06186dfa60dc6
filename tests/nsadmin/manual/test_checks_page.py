"""The page of the limits, and the help of commands, say what the checks declare."""

import pytest

from nsadmin.command_line.declarations import command_parameters
from nsadmin.command_line.registry import find_command
from nsadmin.manual.checks_page import render_checks_page
from nsadmin.operations.checks.check_table import CHECK_TABLE, CheckEntry

PAGE = render_checks_page()


def test_a_check_has_a_row_and_a_table_of_its_measures() -> None:
    assert (
        "| [`lag`](#lag) | the group is behind, or messages wait and no consumer is connected | "
        "the group is far behind | `nsadmin group explain GROUP` |\n" in PAGE
    )
    assert (
        "\n## lag\n\nCheck the lag of one group or of all.\n\n"
        "| Measure | Unit | `--warning` | `--critical` | Meaning |\n"
        "|---|---|---|---|---|\n"
        "| `lag` | count | `10000` | `100000` | messages that wait for the group, or the most of any |\n"
        in PAGE
    )


@pytest.mark.parametrize("entry", CHECK_TABLE, ids=lambda entry: entry.name)
def test_the_help_of_a_check_has_its_default_limits(entry: CheckEntry) -> None:
    command = find_command(f"check {entry.name}".title().replace(" ", ""))
    assert command is not None
    help_by_name = {
        parameter.name: parameter.help for parameter in command_parameters(command.load_function())
    }
    for kind in ("warning", "critical"):
        [limit] = [text for measure in entry.load().measures if (text := getattr(measure, kind)) is not None]
        assert f"Default: {limit}." in help_by_name[kind] or f"Default: {limit} (" in help_by_name[kind]


@pytest.mark.parametrize("entry", CHECK_TABLE, ids=lambda entry: entry.name)
def test_the_remedy_of_a_check_is_a_command(entry: CheckEntry) -> None:
    program, *words = entry.load().remedy.split()
    assert program == "nsadmin"
    assert find_command("".join(words[:1])) or find_command("".join(words[:2]))
