"""Owns the options that select dead letters, for all commands about them."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client.messages.dead_letter_selection import DeadLetterSelection
from nsadmin.command_line.declarations import Flags, Values
from nsadmin.command_line.time_arguments import TIME_HELP, parse_window
from nsadmin.commands.messages.message_conditions import parse_regex
from nsadmin.console.exit_codes import UsageError

GroupArgument = Annotated[
    str,
    Argument(metavar="GROUP", help="Name of a consumer group."),
    Flags("-g", "--consumerGroup"),
    Values("groups"),
]
SinceOption = Annotated[
    str | None, Option("--since", metavar="TIME", help=f"Only dead letters stored since: {TIME_HELP}")
]
UntilOption = Annotated[
    str | None, Option("--until", metavar="TIME", help="Only dead letters stored until this time.")
]
OriginOption = Annotated[
    list[str] | None,
    Option("--origin", metavar="TOPIC", help="Only messages from this topic. Repeatable, or a list: A,B."),
]
BodyOption = Annotated[
    str | None,
    Option("--body", metavar="REGEX", help="Only messages whose body matches somewhere, read as UTF-8."),
]
IdOption = Annotated[
    list[str] | None,
    Option(
        "--id",
        metavar="ID",
        help="Only the dead letter with this offsetMsgId of `dlq show`. Repeatable, or a list: A,B.",
    ),
]


def parse_selection(
    command_name: str,
    since_text: str | None,
    until_text: str | None,
    origin_topics: list[str] | None,
    keys: list[str] | None,
    tags: list[str] | None,
    body_text: str | None,
    max_messages: int | None,
    offset_ids: list[str] | None = None,
) -> DeadLetterSelection:
    """Parse the options that select dead letters."""
    begin_ms, end_ms = parse_window(since_text, until_text)
    body_pattern = parse_regex(command_name, body_text)
    if max_messages is not None and max_messages < 1:
        raise UsageError(f'{command_name}: invalid number "{max_messages}" for --limit: use 1 or more')
    return DeadLetterSelection(
        begin_ms,
        end_ms,
        frozenset(origin_topics or ()),
        frozenset(keys or ()),
        frozenset(tags or ()),
        body_pattern,
        max_messages,
        frozenset(map(str.upper, offset_ids or ())),
    )
