"""The page of nsadmin COMMAND --help."""

from typing import Annotated

import pytest
from typer import Argument, Option

from nsadmin.command_line import registry
from nsadmin.command_line.declarations import Flags, RequiredUnless, command
from nsadmin.command_line.registry import CommandEntry
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.output import AnyColumn, Column
from nsadmin.help_pages.command_page import command_text
from tests.nsadmin.conftest import Run

PERM: AnyColumn = Column(
    "perm", "permission: r read, w write, i inherit; a number in JSON", lambda record: record.perm
)


@command(columns=(TOPIC, PERM, TOPIC.means("another one"), BROKER_NAME))
def weigh(
    session: object,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of the topic."), Flags("-t", "--topic")],
    conf: Annotated[str | None, Argument(metavar="CONF", help="What to write."), Flags("-v")],
    when: Annotated[str | None, Option("-s", metavar="TIME", help="When."), RequiredUnless("count")] = None,
    count: Annotated[int | None, Option("-o", metavar="N", help="How many.")] = None,
    level: Annotated[int, Option("--level", metavar="N", help="How far.")] = 7,
) -> None:
    """Say what it does.

    More about it.

    Examples:
        # Brokers of a topic
        nsadmin topicRoute orders
        # Of none (exit code 5)
        nsadmin topicRoute no-such-topic
    """


def entry_of(name: str) -> CommandEntry:
    entry = registry.find_command(name)
    assert entry is not None
    return entry


def test_a_page_has_usage_description_options_examples_and_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CommandEntry, "load_function", lambda _: weigh)
    assert (
        command_text(entry_of("topicRoute"))
        == """\
Usage: nsadmin topicRoute TOPIC [CONF] (-s TIME | -o N) [OPTIONS]
Also: nsadmin topic show

Say what it does.

More about it.

Arguments, by position or as options:
  -t, --topic TOPIC  Name of the topic.
  -v CONF            What to write.

Options:
  -s TIME    When.
  -o N       How many.
  --level N  How far. Default: 7.

Examples:
  # Brokers of a topic
  nsadmin topicRoute orders
  # Of none (exit code 5)
  nsadmin topicRoute no-such-topic

Columns: topic, perm, brokerName

Shared options: nsadmin help options (-n, --context, --output, --columns,
--sort, --filter, --limit, --watch, --timeout, ...)
Guide: nsadmin guide find-a-topic-message-or-client
Related commands: topicList, topicClusterList, deleteTopic
See also: nsadmin help columns topicRoute, nsadmin help exit-codes"""
    )


def test_the_page_of_kv_get_has_at_most_25_lines(run: Run) -> None:
    assert len(run("kv", "get", "--help").out.splitlines()) <= 25


def test_every_command_has_a_page_and_a_default_is_written_once() -> None:
    for entry in registry.COMMANDS:
        page = command_text(entry)
        assert page.startswith(f"Usage: nsadmin {entry.typed_name} "), page
        assert page.count("nsadmin help options") == (entry.kind != "program"), page
        assert "Default: ." not in page, page
        for option_text in page.split("\n  -"):
            assert option_text.partition("\n\n")[0].lower().count("default:") <= 1, option_text


def test_exit_codes_are_on_the_page_where_they_differ() -> None:
    texts = {name: command_text(entry_of(name)) for name in ("topicRoute", "kvDiff", "checkLag")}
    assert "Exit codes:" not in texts["topicRoute"]
    assert "Exit codes: 0 equal; 1 different; 3 a name server did not answer." in texts["kvDiff"]
    assert "Exit codes: 0 OK; 1 warning; 2 critical; 3 unknown" in texts["checkLag"]
