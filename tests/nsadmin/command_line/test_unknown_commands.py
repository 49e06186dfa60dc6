"""The error for words that name no command."""

from nsadmin.command_line.unknown_commands import unknown_command_error
from nsadmin.console.exit_codes import CheckUsageError


def test_an_unknown_check_has_the_error_of_checks() -> None:
    assert isinstance(unknown_command_error(["check", "lga"]), CheckUsageError)
    assert not isinstance(unknown_command_error(["kv", "gte"]), CheckUsageError)


def test_the_error_suggests_what_was_probably_meant() -> None:
    assert str(unknown_command_error(["lag"])) == (
        'unknown command "lag": did you mean "consumerProgress" or "check lag"?'
    )
    assert str(unknown_command_error(["journal", "x"])) == (
        'unknown command "journal x": use cat, tail, stat, verify'
    )
