"""The parser of the command prompt `:` and the suggestions for it. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from nsadmin.command_line import registry

MESSAGES_COMMAND = "messages"
"""Shows the messages of a topic. It takes the arguments of `nsadmin consume`."""
BUILTIN_COMMANDS = (
    "quit", "help", "log", "context", "theme", "plugin", "view", "deleteView", "columns", MESSAGES_COMMAND,
)  # fmt: skip
BUILTIN_ALIASES: Mapping[str, str] = {"q": "quit", "ctx": "context"}


class ParsedPromptLine(NamedTuple):
    """A parsed line: a screen, a built-in command with its argument, or the words of an nsadmin command.

    `filter_text` is the filter of the screen, without the slash before it. `message_words` are a topic and
    options of `nsadmin consume`, whose messages the screen shows.
    """

    screen_name: str | None = None
    filter_text: str | None = None
    builtin_command: str | None = None
    argument: str | None = None
    command_words: Sequence[str] = ()
    error_text: str | None = None
    message_words: Sequence[str] | None = None


def parse_prompt_line(
    line: str, screen_names: Sequence[str], aliases: Mapping[str, str] = BUILTIN_ALIASES
) -> ParsedPromptLine:
    """Parse a line that was typed after the colon. A command may begin with the word `nsadmin`."""
    line = expand_alias(line, aliases)
    first_word, _, rest_text = line.partition(" ")
    if first_word in screen_names and rest_text.strip().startswith("/"):
        # A filter is not split into words: a regular expression can have quotes and backslashes.
        return ParsedPromptLine(first_word, rest_text.strip()[1:])
    try:
        words = shlex.split(line)
    except ValueError as error:
        return ParsedPromptLine(error_text=str(error).lower())
    if words[:1] == ["nsadmin"]:
        words = words[1:]
    if not words:
        return ParsedPromptLine()
    if len(words) == 1 and words[0] in screen_names:
        return ParsedPromptLine(screen_name=words[0])
    if words[0] == MESSAGES_COMMAND:
        return ParsedPromptLine(message_words=words[1:])
    # `context show` is a command of nsadmin, and `context prod` chooses a context on the screen.
    is_command = len(words) == 2 and registry.take_command(words)[0] is not None
    if words[0] in BUILTIN_COMMANDS and len(words) <= 2 and not is_command:
        return ParsedPromptLine(builtin_command=words[0], argument=words[1] if len(words) > 1 else None)
    return ParsedPromptLine(command_words=words)


def name_command(words: Sequence[str]) -> list[str]:
    """The words as a command of nsadmin takes them, to complete its arguments."""
    return ["consume", *words[1:]] if words[:1] == [MESSAGES_COMMAND] else [*words]


def expand_alias(line: str, aliases: Mapping[str, str]) -> str:
    """Replace an alias at the start of the line by its text, also if that starts with an alias."""
    line = line.strip()
    for _ in aliases:
        first_word, blank, rest_text = line.partition(" ")
        if first_word not in aliases:
            break
        line = f"{aliases[first_word]}{blank}{rest_text}"
    return line


def parse_moment(text: str, now_ms: int, begin_ms: int, end_ms: int) -> int | None:
    """Parse a time (ms since 1970). A time of day means its first occurrence in the replay."""
    text = text.strip()
    if text[:1] in ("+", "-"):
        return now_ms + int(text) * 1000 if text[1:].isdecimal() else None
    time_parts = text.split(":")
    if len(time_parts) not in (2, 3) or not all(time_part.isdecimal() for time_part in time_parts):
        return None
    hours, minutes, seconds = (*map(int, time_parts), 0)[:3]
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    begin = datetime.fromtimestamp(begin_ms / 1000)
    first_midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
    local_moment = first_midnight + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    moment_ms = int(local_moment.timestamp() * 1000)
    return moment_ms + 86_400_000 if moment_ms + 86_400_000 <= end_ms and moment_ms < begin_ms else moment_ms
