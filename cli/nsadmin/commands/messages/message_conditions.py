"""Owns the conditions for messages that an operator types: where to begin, tags, keys, properties, bodies."""

import re
from typing import Annotated

from typer import Option

from nsadmin.client.messages.topic_follower import FROM_EARLIEST, FollowStart
from nsadmin.command_line.time_arguments import TIME_HELP, parse_time_option
from nsadmin.console.exit_codes import UsageError

TagsOption = Annotated[
    list[str] | None, Option("--tag", metavar="TAG", help="Only messages with this tag. Repeatable.")
]
SqlOption = Annotated[
    str | None,
    Option("--sql", metavar="SQL92", help="Only messages that this expression matches on the broker."),
]
KeysOption = Annotated[
    list[str] | None, Option("--key", metavar="KEY", help="Only messages with this key. Repeatable.")
]
PropertiesOption = Annotated[
    list[str] | None,
    Option("--property", metavar="NAME=VALUE", help="Only messages with this property. Repeatable."),
]
BodyRegexOption = Annotated[
    str | None, Option("--body", metavar="REGEX", help="Only messages whose body matches somewhere.")
]
QueueBrokerOption = Annotated[
    str | None, Option("-b", "--broker", metavar="BROKER", help="Only queues of this broker.")
]
QueueIdOption = Annotated[
    int | None, Option("-i", "--queue", metavar="QUEUE", help="Only queues with this id.", min=0)
]
BeginTimeOption = Annotated[
    str | None,
    Option("-b", "--beginTimestamp", metavar="TIME", help=f"Only messages stored since: {TIME_HELP}"),
]
EndTimeOption = Annotated[
    str | None, Option("-e", "--endTimestamp", metavar="TIME", help="Only messages stored until this time.")
]
StoredSinceOption = Annotated[
    str | None, Option("--since", metavar="TIME", help=f"Only messages stored since: {TIME_HELP}")
]


def parse_start(command_name: str, start_text: str | None, follows: bool) -> FollowStart:
    """Parse the place where reading begins; by default the end for a follower, else the begin."""
    if start_text is None:
        return FollowStart(is_latest=follows)
    if start_text == "earliest":
        return FROM_EARLIEST
    if start_text == "latest":
        return FollowStart(is_latest=True)
    if start_text.startswith("offset:"):
        offset_text = start_text.removeprefix("offset:")
        if not (offset_text.isascii() and offset_text.isdigit()):
            raise UsageError(f'{command_name}: invalid offset "{offset_text}" in --from: use a number from 0')
        return FollowStart(offset=int(offset_text))
    return FollowStart(time_ms=parse_time_option("--from", start_text, 0))


def parse_pairs(command_name: str, option_flag: str, texts: list[str] | None) -> dict[str, str]:
    """Parse texts such as NAME=VALUE."""
    conditions = {}
    for text in texts or ():
        name, equals_sign, value = text.partition("=")
        if not (name and equals_sign):
            raise UsageError(f'{command_name}: invalid value "{text}" for {option_flag}: use NAME=VALUE')
        conditions[name] = value
    return conditions


def parse_regex(command_name: str, body_text: str | None) -> re.Pattern[str] | None:
    """Parse a regular expression for bodies."""
    try:
        return None if body_text is None else re.compile(body_text)
    except re.error as error:
        raise UsageError(
            f'{command_name}: invalid regular expression "{body_text}" for --body: {error}'
        ) from None
