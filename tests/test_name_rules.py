"""The naming rules: each of them finds what breaks it, and the project keeps them."""

import ast
from pathlib import Path

import pytest

from tests.support import name_rules
from tests.support.name_rules import Source


def parse_source(module_name: str, text: str) -> Source:
    return Source(module_name, Path(module_name), text, ast.parse(text))


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("expire_silent_brokers", ["expire", "silent", "brokers"]),
        ("BrokerSnapshot", ["Broker", "Snapshot"]),
        ("parseHTTPHeader", ["parse", "HTTP", "Header"]),
        ("_told", ["told"]),
        ("port_2", ["port"]),
    ],
)
def test_an_identifier_is_split_into_words(identifier: str, words: list[str]) -> None:
    assert name_rules.split_words(identifier) == words


@pytest.mark.parametrize("module_name", ["nsadmin.looking", "nsadmin.drain_keeping", "nsadmin.told"])
def test_a_module_named_by_a_gerund_or_a_participle_is_found(module_name: str) -> None:
    (finding,) = name_rules.find_bad_names([parse_source(module_name, "")])
    assert finding.startswith(module_name)


@pytest.mark.parametrize(
    "module_name", ["nsadmin.console.settings", "nsadmin.ping", "nsadmin.speed", "nsadmin.poller"]
)
def test_a_module_named_by_a_noun_is_none(module_name: str) -> None:
    assert list(name_rules.find_bad_names([parse_source(module_name, "")])) == []


def test_a_function_named_by_a_participle_is_found() -> None:
    text = "def told(): ...\ndef _listed(): ...\ndef read_lines(): ...\ndef seed(): ...\n"
    findings = list(name_rules.find_bad_names([parse_source("a.b", text)]))
    assert [finding.split(": ")[0:2] for finding in findings] == [["a.b:1", "told"], ["a.b:2", "_listed"]]


def test_an_import_cycle_is_found_also_where_only_type_checkers_see_it() -> None:
    first_source = parse_source(
        "a.b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import c\n"
    )
    other = parse_source("a.c", "def f():\n    from a.b import x\n")
    assert len(list(name_rules.find_cycle([first_source, other]))) == 1
    assert list(name_rules.find_cycle([first_source, parse_source("a.c", "")])) == []


def test_the_project_keeps_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert name_rules.main() == 0, capsys.readouterr().err
