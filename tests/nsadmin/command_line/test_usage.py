"""The usage of a command, and the words for mistakes."""

from typing import Annotated

import pytest
from typer import Argument, Option

from nsadmin.command_line.declarations import Flags, RequiredUnless, build_parameter, command_parameters
from nsadmin.command_line.registry import COMMANDS
from nsadmin.command_line.usage import _expected_value, unknown_command_error, unknown_option, usage_words
from nsadmin.console.exit_codes import CheckUsageError
from tests.nsadmin.conftest import Run


def repair(
    session: object,
    broker: Annotated[str | None, Argument(metavar="ADDR"), Flags("-b"), RequiredUnless("cluster")],
    key: Annotated[str, Option("-k", metavar="KEY")],
    cluster: Annotated[str | None, Option("-c", metavar="CLUSTER")] = None,
    every: Annotated[bool, Option("--all")] = False,
) -> None:
    """Do it."""


def test_required_options_and_alternatives_are_in_the_usage() -> None:
    assert usage_words(command_parameters(repair)) == "(ADDR | -c CLUSTER) -k KEY"


def test_an_alternative_is_another_parameter_of_the_command() -> None:
    for entry in COMMANDS:
        parameters = command_parameters(entry.load_function())
        names = {parameter.name for parameter in parameters}
        assert {name for parameter in parameters for name in parameter.alternative_names} <= names, entry.name


def test_the_word_for_the_value_of_a_required_option_says_what_it_is() -> None:
    for entry in COMMANDS:
        for parameter in command_parameters(entry.load_function()):
            if parameter.is_required and parameter.position is None:
                assert parameter.metavar not in (None, "LIST", "TEXT", "A,B", "VALUE", "WHAT"), entry.name


@pytest.mark.parametrize(
    ("flag", "hint"),
    [
        ("--forse", 'did you mean "--force"?'),
        ("--hlep", 'did you mean "--help"?'),
        # Similar to --output and --json, but something else.
        ("--group", "use --filter groups~VALUE"),
        ("--topic", "use --filter topic=VALUE"),
        ("--only", "use --section"),
        ("--top", "use --limit"),
        ("--grep", "use --filter"),
        ("--port", "see y"),
        (
            "--all-contexts",
            "repeat the command with --context NAME, for each NAME of nsadmin context list",
        ),
        ("--foo", "see y"),
        ("-x", "see y"),
        ("-", "see y"),
    ],
)
def test_an_unknown_option_leads_to_what_was_meant(flag: str, hint: str) -> None:
    known = ["--force", "--limit", "--topic", "--output", "--json", "--sort", "--filter", "--section", "-y"]
    error = unknown_option(flag, known, "see y", ["topic", "groups"])
    assert str(error) == f'unknown option "{flag}": {hint}'


def test_only_leads_to_every_option_that_chooses_items() -> None:
    error = unknown_option("--only", ["--section", "--topic", "--groupName"], "see y")
    assert str(error) == 'unknown option "--only": use --topic or --groupName or --section'


def test_a_folder_leads_to_the_path_that_is_read_and_not_to_the_file_of_the_result(run: Run) -> None:
    for words, advice in (("backup", "use --path"), ("disk", "nsadmin check disk --help lists the options")):
        result = run("check", words, "--dir", "X")
        assert (result.code, result.err) == (3, f'nsadmin: unknown option "--dir": {advice}\n')


def test_what_an_option_expects_has_an_example() -> None:
    seconds = build_parameter("t", Annotated[float, Option("--t", metavar="SECONDS")], 1)
    number = build_parameter("n", Annotated[int | None, Option("--n", metavar="COUNT")], None)
    share = build_parameter("s", Annotated[float, Option("--s", metavar="SHARE")], 1)
    assert _expected_value(seconds) == "seconds, for example 3 or 0.5"
    assert _expected_value(number) == "a whole number, for example 10"
    assert _expected_value(share) == "a number"


def test_an_unknown_check_has_the_error_of_checks() -> None:
    assert isinstance(unknown_command_error(["check", "lga"]), CheckUsageError)
    assert not isinstance(unknown_command_error(["kv", "gte"]), CheckUsageError)


def test_the_error_suggests_what_was_probably_meant() -> None:
    assert str(unknown_command_error(["lag"])) == (
        'unknown command "lag": did you mean "consumerProgress" or "check lag"?'
    )
    assert (
        str(unknown_command_error(["chekc", "all"])) == 'unknown command "chekc": did you mean "check all"?'
    )
    assert str(unknown_command_error(["chekc", "lga"])) == 'unknown command "chekc": did you mean "check"?'
    assert str(unknown_command_error(["journal", "x"])) == (
        'unknown command "journal x": use cat, tail, stat, verify; nsadmin help journal x searches commands '
        "and guides"
    )
