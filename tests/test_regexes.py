"""Every regular expression takes linear time, whatever text it is given."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import pytest

from namesrv_core.file_shapes import Name
from namesrv_core.protocol import object_keys
from namesrv_core.state import settings
from nsadmin.commands.programs import guide
from nsadmin.help_pages import search
from nsadmin.operations.plans import bulk_lists, fields
from tests.support.name_rules import read_sources
from tests.support.regex_growth import find_slow_parts

ACCEPTED = {
    ("nsadmin.help_pages.search", search._DOCSTRING.pattern): "reads nsadmin's own source",
    ("nsadmin.commands.programs.guide", guide._PAGE_LINK.pattern): "reads nsadmin's own pages",
    ("namesrv_core.protocol.object_keys", object_keys._JSON_TOKEN.pattern): "ends with the first failure",
}
"""Module and pattern of those that can take longer, and why nobody can use that."""
WHOLE_TEXTS = {settings._VALUE_PATTERNS["nsaddr"][0].pattern}
"""Patterns in tables, whose users match whole texts."""
_WHOLE_TEXT = {"match", "fullmatch"}
_FUNCTIONS = {*_WHOLE_TEXT, "compile", "search", "sub", "subn", "split", "findall", "finditer"}


class Regex(NamedTuple):
    module: str
    pattern: str
    is_searched: bool


def regexes() -> Iterator[Regex]:
    """The patterns in the source, except those that are built from variables of a function."""
    for source in read_sources():
        names = {
            id(node.value): target.id
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(source.tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=function), args=[pattern, *_]
                ) if function in _FUNCTIONS:
                    used = {function} if function != "compile" else uses(source.tree, names.get(id(node)))
                    if text := text_of(pattern, source.name):
                        is_whole = text in WHOLE_TEXTS or (used and used <= _WHOLE_TEXT)
                        yield Regex(source.name, text, not is_whole)


def text_of(pattern: ast.expr, module: str) -> str | None:
    """A pattern's text if it consists of constants of its module."""
    try:
        text = eval(compile(ast.Expression(pattern), module, "eval"), vars(import_module(module)))
    except (NameError, AttributeError):
        return None
    return text.decode("latin-1") if isinstance(text, bytes) else text


def uses(tree: ast.Module, name: str | None) -> set[str]:
    """The methods of a compiled pattern that its module calls."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }


def test_every_pattern_takes_linear_time_or_is_accepted() -> None:
    patterns = set(regexes())
    assert len(patterns) > 80
    slow_parts = {
        (regex.module, regex.pattern): parts
        for regex in patterns
        if (parts := find_slow_parts(regex.pattern, is_searched=regex.is_searched))
    }
    assert slow_parts.keys() - ACCEPTED.keys() == set(), slow_parts
    assert {(regex.module, regex.pattern) for regex in patterns} >= ACCEPTED.keys()


def test_names_in_plans_take_linear_time() -> None:
    shapes = [
        shape for module in (fields, bulk_lists) for shape in vars(module).values() if isinstance(shape, Name)
    ]
    assert fields.ORDER_CONF in shapes
    for shape in shapes:
        assert find_slow_parts(shape.pattern, is_searched=False) == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b", r"(a|a)*b", r"(.*), b:(.*), c:(.*)", r"(a*)*", r"\s*(.*?)\s*", r".*x.*y.*z", r"a*a*b",
        r"(?:\w+,?)+;", r'("[^"\\]*(?:\\.[^"\\]*)*)*"',
    ],
)  # fmt: skip
def test_a_pattern_that_tries_again_is_found(pattern: str) -> None:
    assert find_slow_parts(pattern, is_searched=False)


@pytest.mark.parametrize(
    "pattern", [r"(\w+):(\d+)", r"(?<=\] )(.*?) Queue", r'"[^"\\]*(?:\\.[^"\\]*)*"', r"\[[^\]]*\]"]
)
def test_a_search_that_starts_again_is_found(pattern: str) -> None:
    assert find_slow_parts(pattern, is_searched=True)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:(?!, b:).)*+, b:(?<rest>.*)", r"[^,]*, \d+", r'"[^"\\]*(?:\\.[^"\\]*)*"?', r"\b(\w++):(\d+)",
        r"(?<=[{ ])(\d+):", r"a{1,20}a{1,20}b",
        r".+:\d+", r"(?:(?!x).)*x",
    ],
)  # fmt: skip
def test_a_pattern_with_one_way_is_accepted(pattern: str) -> None:
    assert find_slow_parts(pattern, is_searched=not pattern.startswith(("(?:(", "[^", "."))) == []


def test_the_earlier_log_rules_are_found() -> None:
    conflict = r"(?<cluster>.*), BrokerName:(?<broker>.*), BrokerId:(?<id>\d+), Old BrokerAddr:(?<former>.*)"
    assert re.search("both match", find_slow_parts(conflict, is_searched=False)[0])
