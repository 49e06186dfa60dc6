"""Parses and validates values of options, such as `-o true`, `-p 6` and `--interval 15s`."""

import codecs
from collections.abc import Sequence

from namesrv_core.durations import parse_duration
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.protocol import resource_attributes
from namesrv_core.protocol.resource_names import find_group_name_problem, find_topic_name_problem
from nsadmin.console.exit_codes import UsageError

_BOOLEAN_WORDS = {"true": True, "false": False}


def parse_boolean(option_flag: str, option_text: str | None) -> bool | None:
    """Parse true or false in any case; None if the option was not given."""
    if option_text is None:
        return None
    parsed_value = _BOOLEAN_WORDS.get(option_text.strip().lower())
    if parsed_value is None:
        raise UsageError(f'invalid value "{option_text}" for {option_flag}: expected true or false')
    return parsed_value


TOPIC_PERMS = (2, 4, 6)
"""Brokers accept 0 to 7 (`PermName.isValid`): 0 closes a topic, and bit 1 makes it a template (TBW102)."""


def validate_perm(perm_bits: int | None) -> int | None:
    """Return the permission bits of a topic, else raise UsageError."""
    if perm_bits is not None and perm_bits not in TOPIC_PERMS:
        raise UsageError(_invalid_perm_text(str(perm_bits)))
    return perm_bits


def _invalid_perm_text(perm_text: str) -> str:
    return f'invalid permission "{perm_text}" for -p: use 6 (read and write), 4 (read) or 2 (write)'


def validate_topic_name(topic_text: str) -> str:
    problem = _find_list_problem(topic_text, "topic", "updateTopicList")
    return _require_no_problem(topic_text, problem or find_topic_name_problem(topic_text))


def validate_group_name(group_text: str) -> str:
    problem = _find_list_problem(group_text, "group", "updateSubGroupList")
    return _require_no_problem(group_text, problem or find_group_name_problem(group_text))


def _find_list_problem(name_text: str, noun: str, list_command: str) -> str | None:
    if "," not in name_text:
        return None
    advice = f"for several, write a file for nsadmin {list_command} FILE, or for nsadmin plan"
    return f'invalid {noun} name "{escape_unsafe(name_text)}": this command takes one {noun}; {advice}'


def validate_setting_key(key_text: str) -> str:
    """Return the key of a setting if it has no blanks, else raise UsageError."""
    problem = f'invalid setting "{key_text}": a key has no blanks'
    return _require_no_problem(key_text, problem if any(map(str.isspace, key_text)) else None)


def _require_no_problem(text: str, problem: str | None) -> str:
    if problem is not None:
        raise UsageError(problem)
    return text


def validate_queue_count(option_flag: str, queue_count: int | None) -> int | None:
    """Return the number of queues if a topic can have that many."""
    if queue_count is not None and not 0 <= queue_count <= 65536:
        raise UsageError(f'invalid value "{queue_count}" for {option_flag}: expected 0 to 65536 queues')
    return queue_count


def validate_interval(interval_seconds: float | None) -> float | None:
    """Return the seconds between two observations if they are more than 0."""
    if interval_seconds is not None and not interval_seconds > 0:
        raise UsageError(f'invalid value "{interval_seconds:g}" for -i: expected a number of seconds above 0')
    return interval_seconds


def parse_perm(perm_text: str) -> int:
    try:
        perm_bits = validate_perm(int(perm_text))
    except ValueError:
        perm_bits = None
    if perm_bits is None:
        raise UsageError(_invalid_perm_text(perm_text))
    return perm_bits


def parse_duration_seconds(
    option_flag: str, duration_text: str, min_seconds: float, max_seconds: float
) -> float:
    """Parse "500ms", "15s" or "1h30m" into seconds; a number without a unit is in seconds."""
    duration_seconds = parse_duration(duration_text.strip())
    if duration_seconds is None or not min_seconds <= duration_seconds <= max_seconds:
        raise UsageError(
            f'invalid time "{duration_text}" for {option_flag}: use {_format_duration(min_seconds)} to'
            f" {_format_duration(max_seconds)}, such as 15s or 1m"
        )
    return duration_seconds


def _format_duration(duration_seconds: float) -> str:
    for unit_name, unit_seconds in (("h", 3600), ("m", 60), ("s", 1)):
        if duration_seconds >= unit_seconds and duration_seconds % unit_seconds == 0:
            return f"{duration_seconds / unit_seconds:g}{unit_name}"
    return f"{duration_seconds * 1000:g}ms" if duration_seconds else "0s"


def parse_choice(option_flag: str, option_text: str | None, choices: Sequence[str]) -> str | None:
    """Match the text with one of `choices` in any case; None if the option was not given."""
    if option_text is None:
        return None
    matching_choice = next((c for c in choices if c.lower() == option_text.strip().lower()), None)
    if matching_choice is None:
        raise UsageError(
            f'invalid value "{option_text}" for {option_flag}:'
            f" expected {', '.join(choices[:-1])} or {choices[-1]}"
        )
    return matching_choice


def parse_name_list(option_flag: str, list_text: str | None) -> list[str]:
    """Parse a list like A,B into distinct names; empty if the option was not given.

    An empty name is an error: it is often a variable of a script without a value.
    """
    if list_text is None:
        return []
    distinct_names = [list_item.strip() for list_item in list_text.split(",")]
    if not all(distinct_names):
        raise UsageError(
            f'invalid list "{list_text}" for {option_flag}: write names separated by commas, such as A,B'
        )
    return list(dict.fromkeys(distinct_names))


def parse_attribute_changes(kind: str, list_text: str | None) -> dict[str, str]:
    """Split "+a=1,-b" into values by signed key. UsageError for a value that brokers refuse."""
    try:
        changes = resource_attributes.parse_changes(list_text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    refusal = resource_attributes.find_refusal(kind, None, resource_attributes.apply_changes({}, changes))
    if refusal is not None:
        raise UsageError(refusal)
    return changes


def parse_number(number_name: str, number_text: str) -> int:
    """A number of 0 or more, with at most 18 digits."""
    if not (number_text.isascii() and number_text.isdigit() and len(number_text) < 19):
        raise UsageError(f'invalid value "{number_text}" for {number_name}: expected a whole number from 0')
    return int(number_text)


def parse_charset(option_flag: str, charset_name: str | None) -> str:
    """The normalized name of an encoding, utf-8 if none is given; UsageError if Python has no such codec."""
    try:
        codec_info = codecs.lookup(charset_name or "utf-8")
        "".encode(codec_info.name)
    except LookupError:
        raise UsageError(
            f'unknown encoding "{charset_name}" for {option_flag}: use utf-8, gbk, latin-1 or another one'
        ) from None
    return codec_info.name
