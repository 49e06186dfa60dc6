"""The end of a command's help: its columns, and its examples."""

import pytest

from nsadmin import registry
from nsadmin.command_line.declarations import declare_columns
from nsadmin.commands.columns.help_sections import format_help_sections
from tests.nsadmin.conftest import Run


@declare_columns(("topic", "perm"), ("topic", "brokerName"))
def command() -> None:
    """Say what it does.

    Examples:
        # Brokers of a topic
        nsadmin topicRoute orders
        # Of none (exit code 5)
        nsadmin topicRoute no-such-topic
    """


def test_help_ends_with_columns_and_examples() -> None:
    entry = registry.find_command("topicRoute")
    assert entry is not None
    columns, _, examples = format_help_sections(entry, command).partition("\n\n")
    assert columns.splitlines() == [
        "Columns:",
        "  topic       name of the topic",
        "  perm        permission: r read, w write, i inherit; a number in JSON",
        "  brokerName  name of the broker",
    ]
    assert examples.splitlines()[:3] == ["Examples:", "  # Brokers of a topic", "  nsadmin topicRoute orders"]


@pytest.mark.parametrize("args", [("topicRoute", "--help"), ("help", "topic-route")])
def test_the_help_of_a_command_shows_them_and_no_section_twice(args: tuple[str, ...], run: Run) -> None:
    done = run(*args)
    assert done.code == 0
    assert done.out.count("Examples:") == done.out.count("Columns:") == 1
    assert "  nsadmin topicRoute orders\n" in done.out


def test_the_help_of_a_program_shows_its_examples(run: Run) -> None:
    done = run("lab", "--help")
    assert done.code == 0
    assert done.out.startswith("usage: nsadmin lab")
    assert "  nsadmin lab up --namesrv-port 9876 --broker-port 10911\n" in done.out
