"""The usage of a command."""

from importlib import import_module
from typing import Annotated

import pytest
from nsadmin.command_line.usage_text import usage_words

from nsadmin.command_line.declarations import Argument, Option, command_parameters
from nsadmin.registry import COMMANDS, CommandEntry


def command(
    session: object,
    broker: Annotated[str | None, Argument(("-b",), "ADDR", "", required=False, required_unless="cluster")],
    key: Annotated[str, Option("-k", metavar="KEY")],
    cluster: Annotated[str | None, Option("-c", metavar="CLUSTER")] = None,
    every: Annotated[bool, Option("--all")] = False,
) -> None:
    """Do it."""


def test_required_options_and_alternatives_are_in_the_usage() -> None:
    assert usage_words(command_parameters(command)) == "(ADDR | -c CLUSTER) -k KEY"


@pytest.mark.parametrize(
    "entry", [entry for entry in COMMANDS if entry.kind != "program"], ids=lambda entry: entry.name
)
def test_an_alternative_is_another_parameter_of_the_command(entry: CommandEntry) -> None:
    module = import_module(f"nsadmin.commands.{entry.module_name}")
    parameters = command_parameters(getattr(module, entry.function_name))
    names = {parameter.name for parameter in parameters}
    assert {name for parameter in parameters for name in parameter.alternative_names} <= names
