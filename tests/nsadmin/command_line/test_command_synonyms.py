"""The words that operators type for a command."""

from nsadmin.command_line.command_synonyms import COMMANDS_BY_SYNONYM
from nsadmin.command_line.registry import find_command, take_command


def test_every_synonym_leads_to_commands_that_exist() -> None:
    for synonym, names in COMMANDS_BY_SYNONYM.items():
        assert all(take_command(name.split())[0] for name in names), synonym
        assert find_command(synonym) is None, synonym
