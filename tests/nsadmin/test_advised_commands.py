"""The commands that messages advise can be pasted: each has its arguments, and knows its options."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import nsadmin
from nsadmin.command_line import registry
from nsadmin.command_line.application import Actions, build_application
from nsadmin.command_line.typer_commands import HelpRequested, read_values
from nsadmin.help_pages.search import read_answers
from nsadmin.operations.checks.check_table import CHECK_TABLE, find_check

SOURCE = Path(nsadmin.__file__).parent

QUOTED = re.compile(r"`(nsadmin \w[^`]+)`")
ADVISERS = ("client", "library", "operations")
PLACEHOLDER = "1"
"""In place of a value that only a run knows; it is a number, a name and a range."""


def advised_lines() -> Iterator[tuple[str, str]]:
    """Where a message names a command, and its line with placeholders."""
    for path in sorted(SOURCE.rglob("*.py")):
        text, file = path.read_text(), path.relative_to(SOURCE)
        if "quote_command" not in text and "`nsadmin " not in text:
            continue
        nodes = [*ast.walk(ast.parse(text))]
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            place = f"{file}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "quote_command":
                if not any(isinstance(word, ast.Starred) for word in node.args):
                    yield place, shlex.join(["nsadmin", *map(literal, node.args)])
            elif isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in docstrings:
                for line in QUOTED.findall(literal(node)):
                    # In the help of a command, a name alone is a reference.
                    if (
                        registry.take_command(line.split()[1:])[1]
                        or path.relative_to(SOURCE).parts[0] in ADVISERS
                    ):
                        yield place, line


def remedies() -> Iterator[tuple[str, str]]:
    for entry in CHECK_TABLE:
        yield f"check {entry.name}", find_check(entry.name).format_remedy(PLACEHOLDER)


def answers_of_the_search() -> Iterator[tuple[str, str]]:
    for answers in read_answers().values():
        for answer in answers:
            if answer.example:
                yield f"questions.txt, {answer.questions[0]}", answer.example.command_line


def literal(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else PLACEHOLDER


def test_each_advised_command_can_be_pasted() -> None:
    lines = dict(advised_lines())
    assert len(lines) > 40
    application = build_application()
    actions = Actions(lambda _, command, values: bool(read_values(command, values)), *[lambda *_: True] * 3)
    wrong = {}
    for place, line in (lines | dict(remedies()) | dict(answers_of_the_search())).items():
        try:
            with application.make_context("nsadmin", shlex.split(line)[1:], obj=actions) as context:
                application.invoke(context)
        except HelpRequested:
            pass
        except Exception as error:
            wrong[place] = f"{line}: {error}"
    assert wrong == {}
