"""What stands behind a metavar."""

import pytest

from nsadmin.command_line.completion import value_sources
from nsadmin.command_line.completion.value_sources import source_of_metavar
from nsadmin.command_line.shared_options import OPTION_SECTIONS, to_parameters
from nsadmin.manual.command_descriptions import describe_all_commands


@pytest.mark.parametrize(
    ("metavar", "declared", "source"),
    [
        ("TOPIC", None, "topics"),
        ("ADDR", None, "addresses"),
        ("true|false", None, "true|false"),
        ("VALUE", None, ""),
        ("KEY", "kv-keys", "kv-keys"),
        ("ADDR", "", ""),
        ("FILE", None, "files"),
    ],
)
def test_a_declaration_says_more_than_a_metavar(metavar: str, declared: str | None, source: str) -> None:
    assert source_of_metavar(metavar, declared) == source


def test_formats_are_those_that_there_are() -> None:
    assert source_of_metavar("FORMAT").split("|")[:3] == ["table", "wide", "json"]


def test_every_declared_source_is_one() -> None:
    parameters = [parameter for options in OPTION_SECTIONS.values() for parameter in to_parameters(options)]
    parameters += [parameter for command in describe_all_commands() for parameter in command.parameters]
    declared = {parameter.value_source for parameter in parameters} - {None}
    assert {"contexts", "kv-keys", "broker-keys", "namesrv-keys", "2|4|6"} <= declared
    assert [source for source in declared if not value_sources.is_known_source(source or "")] == []
