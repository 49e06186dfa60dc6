"""What Typer is asked for: help, and a line about each mistake."""

from typing import Annotated

import pytest

from nsadmin.command_line import typer_parser
from nsadmin.command_line.declarations import Argument, HelpRequested, Option, Parameter, command_parameters
from nsadmin.command_line.fast_parser import ParameterValues
from nsadmin.exit_codes import UsageError


def command(
    session: object,
    topic: Annotated[str, Argument(("-t", "--topic"), "TOPIC", "Name of a topic.")],
    key: Annotated[str, Option("-k", "--key", metavar="KEY", help="Its key.")],
    queues: Annotated[int, Option("-q", metavar="N", help="How many.", minimum=1)] = 8,
    force: Annotated[bool, Option("-f", help="Whatever happens.")] = False,
) -> None:
    """Do it.

    Now.
    """


PARAMETERS = command_parameters(command)


def parse(*args: str, usage: str = "TOPIC", parameters: list[Parameter] = PARAMETERS) -> object:
    return typer_parser.parse_with_typer("doIt", command.__doc__ or "", usage, parameters, args)


def test_short_options_may_be_joined() -> None:
    assert parse("T", "-fk", "x") == ParameterValues(
        {"topic": None, "key": "x", "queues": 8, "force": True}, ["T"]
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("-k", "x", "-q", "0"), "doIt: Invalid value for '-q': 0 is not in the range x>=1."),
        (("-k", "x", "-q", "y"), "doIt: Invalid value for '-q': 'y' is not a valid int"),
        (("--kez", "x"), "doIt: No such option: --kez"),
        (("T",), "doIt: Missing option '-k' / '--key'."),
        (("-k",), "doIt: Option '-k' requires an argument."),
    ],
)
def test_a_mistake_is_one_line(args: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(*args)
    assert str(raised.value).startswith(said)
    assert str(raised.value).endswith(" (see: nsadmin doIt --help)")


def test_a_word_where_none_stands_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="Got unexpected extra argument"):
        parse("-k", "x", "word", usage="")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_has_the_words_the_options_and_the_exit_codes(flag: str) -> None:
    with pytest.raises(HelpRequested) as raised:
        parse("T", flag)
    text = str(raised.value)
    for part in (
        "Usage: nsadmin doIt [OPTIONS] [TOPIC]\n",
        "  Do it.\n\n  Now.\n",
        "[default: 8; x>=1]",
        "Exit codes:",
    ):
        assert part in text
