"""One thing has one name in all commands: the table of the glossary, against options and columns."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import nsadmin
from nsadmin.command_line.declarations import COMMON_FLAGS, command_parameters, declaration_of
from nsadmin.command_line.docstrings import parse_docstring
from nsadmin.command_line.registry import COMMANDS
from nsadmin.operations.exporter.metric_registry import METRICS_BY_NAME
from tests.support.prose_rules import TERMS

SOURCE = Path(nsadmin.__file__).parent
GLOSSARY = (Path(__file__).parents[3] / "docs/reference/glossary.md").read_text()

KEPT_KEYS = {
    ("haStatus", "diff"): "bytes that a slave is behind, as HAConnectionRuntimeInfo names them",
    ("report show", "consumerGroup"): "a column of a report's table",
}


KEPT_NAMES = {
    "consumer_groups": "beside the producer groups of a client",
    "diff": "of HAConnectionRuntimeInfo",
    "target": "a broker, or the queue or the cluster that receives something",
    "topic_name": "a field of TopicConfig",
}


class Thing(NamedTuple):
    name: str
    keys: set[str]
    options: set[str]
    other_names: set[str]


def read_things() -> list[Thing]:
    table = GLOSSARY.split("## Names in RocketMQ and here")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    return [Thing(row[0].strip(), *(set(re.findall("`([^`]+)`", cell)) for cell in row[1:])) for row in rows]


THINGS = read_things()
FUNCTIONS: dict[str, Callable[..., object]] = {e.typed_name: e.load_function() for e in COMMANDS}


def keys_of_commands() -> set[tuple[str, str]]:
    return {(name, key) for name, f in FUNCTIONS.items() for key in declaration_of(f).column_names}


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: thing.name)
def test_a_thing_has_one_key(thing: Thing) -> None:
    wrong = {(name, key) for name, key in keys_of_commands() if key in thing.other_names}
    assert wrong - KEPT_KEYS.keys() == set()


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: thing.name)
def test_a_thing_has_one_option(thing: Thing) -> None:
    """mqadmin's name of an option is never the only one."""
    wrong = {
        (name, *parameter.flags)
        for name, function in FUNCTIONS.items()
        for parameter in command_parameters(function)
        if thing.other_names & set(parameter.flag_names) and not thing.options & accepted_flags(function)
    }
    assert wrong == set()


def accepted_flags(function: Callable[..., object]) -> set[str]:
    return {flag for parameter in command_parameters(function) for flag in parameter.flag_names}


def test_every_name_of_the_table_is_used() -> None:
    """A row that no command has any more would forbid words for nothing."""
    keys, flags = (
        {key for _, key in keys_of_commands()},
        set[str]().union(*map(accepted_flags, FUNCTIONS.values())),
    )
    assert [t.name for t in THINGS if not t.keys <= keys or not t.options <= flags] == []


def test_examples_have_the_common_options() -> None:
    wrong = {
        (name, word)
        for name, function in FUNCTIONS.items()
        for example in parse_docstring(function).examples
        for word in example.command_line.split()
        # A command whose --from is a server keeps --since.
        if word in COMMON_FLAGS and COMMON_FLAGS[word] not in example.command_line.split()
    }
    assert wrong == set()


def test_metrics_and_their_labels_have_these_names() -> None:
    other_names = {snake_name(n) for thing in THINGS for n in thing.other_names if n[0] != "-"} - {"namesrv"}
    for metric in METRICS_BY_NAME.values():
        words = f"_{metric.name}_{'_'.join(metric.labels)}_"
        assert [name for name in (*other_names, "nameserver") if f"_{name}_" in words] == [], metric.name


def test_columns_about_name_servers_have_their_name() -> None:
    for name, function in FUNCTIONS.items():
        for key, meaning in declaration_of(function).column_meanings.items():
            if re.match("address(es)? of the name servers?", meaning):
                assert key in ("namesrvAddr", "namesrvAddrs"), (name, key)


@pytest.mark.parametrize("term", TERMS)
def test_the_glossary_has_each_term(term: str) -> None:
    assert re.search(rf"^### {term}\b", GLOSSARY, re.MULTILINE)


def test_parameters_and_fields_of_the_library_have_these_names() -> None:
    forbidden = {snake_name(name) for thing in THINGS for name in thing.other_names if name[0] != "-"}
    found = {
        (path.stem, name)
        for package in ("client", "library")
        for path in (SOURCE / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in names_of(node)
        if name in forbidden - KEPT_NAMES.keys()
    }
    assert found == set()


def names_of(node: ast.AST) -> list[str]:
    """The fields of a public record, or the parameters of a public method."""
    if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
        return [
            f.target.id for f in node.body if isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name)
        ]
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
        return [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
    return []


def snake_name(name: str) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()
