"""What Typer is asked for: joined options, and a line about each mistake."""

from typing import Annotated

import pytest
from nsadmin.command_line.fast_parser import ParameterValues

from nsadmin.command_line import typer_parser
from nsadmin.command_line.declarations import Argument, Option, Parameter, command_parameters
from nsadmin.exit_codes import UsageError


def command(
    session: object,
    topic: Annotated[str, Argument(("-t", "--topic"), "TOPIC", "Name of a topic.")],
    key: Annotated[str, Option("-k", "--key", metavar="KEY", help="Its key.")],
    queues: Annotated[int, Option("-q", metavar="N", help="How many.", minimum=1)] = 8,
    force: Annotated[bool, Option("-f", "--force", help="Whatever happens.")] = False,
) -> None:
    """Do it.

    Now.
    """


PARAMETERS = command_parameters(command)


def parse(*args: str, parameters: list[Parameter] = PARAMETERS) -> object:
    return typer_parser.parse_with_typer("doIt", "nsadmin doIt TOPIC -k KEY", parameters, args)


def test_short_options_may_be_joined() -> None:
    assert parse("T", "-fk", "x") == ParameterValues(
        {"topic": None, "key": "x", "queues": 8, "force": True}, ["T"]
    )


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("-k", "x", "-q", "0"), 'invalid value "0" for -q: expected a whole number of at least 1'),
        (("-k", "x", "-q", "y"), 'invalid value "y" for -q: expected a whole number of at least 1'),
        (("--kez", "x"), 'unknown option "--kez": did you mean "--key"?'),
        (("-z",), 'unknown option "-z": nsadmin doIt --help lists the options'),
        (("T",), "missing option -k KEY: usage: nsadmin doIt TOPIC -k KEY"),
        (("-k",), "missing value for -k: write -k KEY"),
        (("-k", "x", "--force=1"), "--force takes no value: write --force alone"),
    ],
)
def test_a_mistake_is_one_line_in_our_words(args: tuple[str, ...], line: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(*args)
    assert str(raised.value) == line


def test_words_are_returned_for_a_command_without_arguments_too() -> None:
    line = parse("-k", "x", "word", parameters=PARAMETERS[1:])
    assert line == ParameterValues({"key": "x", "queues": 8, "force": False}, ["word"])
