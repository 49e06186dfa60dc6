"""Parses and validates values of options, such as `-o true`, `-p 6` and `--interval 15s`."""

import re
from collections.abc import Sequence

from nsadmin.diagnostics import UsageError

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_TOPIC = re.compile(r"[%|a-zA-Z0-9_-]+")
_SECONDS = {"ms": 0.001, None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_FLAGS = {"true": True, "false": False}


def flag(command: str, option: str, text: str | None) -> bool | None:
    """Parse true or false in any case; None if the option was not given."""
    if text is None:
        return None
    value = _FLAGS.get(text.strip().lower())
    if value is None:
        raise UsageError(f"{command}: {option} {text} cannot be: give true or false")
    return value


def perm(command: str, value: int | None) -> int | None:
    """Return the permission bits if brokers accept them, else raise UsageError."""
    if value is not None and not 0 <= value <= 7:
        raise UsageError(f"{command}: -p {value} cannot be: give 6 (read and write), 4 (read) or 2 (write)")
    return value


def topic_name(command: str, text: str) -> str:
    """Return the name if brokers accept it for a new topic; retry and dead-letter topics may be longer."""
    longest = 255 if text.startswith(("%RETRY%", "%DLQ%")) else 127
    if not _TOPIC.fullmatch(text) or len(text) > longest:
        raise UsageError(
            f"{command}: {text!r} is no name of a topic: letters, digits and % | _ -, {longest} at most"
        )
    return text


def queue_number(command: str, option: str, value: int | None) -> int | None:
    """Return the number of queues if a topic can have that many."""
    if value is not None and not 0 <= value <= 65536:
        raise UsageError(f"{command}: {option} {value} cannot be: give 0 to 65536 queues")
    return value


def seconds(command: str, value: float | None) -> float | None:
    """Return the seconds between two observations if they are more than 0."""
    if value is not None and not value > 0:
        raise UsageError(f"{command}: -i {value:g} cannot be: give seconds, more than 0")
    return value


def perm_word(command: str, text: str) -> int:
    """Parse a permission that was given as a positional argument."""
    try:
        value = perm(command, int(text))
    except ValueError:
        value = None
    if value is None:
        raise UsageError(
            f"{command}: {text!r} is no permission: give 6 (read and write), 4 (read) or 2 (write)"
        )
    return value


def duration(command: str, option: str, text: str, least: float, most: float) -> float:
    """Parse "500ms", "15s", "1m" or "2h" into seconds; a number without a unit is in seconds."""
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else -1.0
    if not least <= seconds <= most:
        raise UsageError(
            f"{command}: {option} {text} cannot be: give {_span(least)} to {_span(most)}, such as 15s or 1m"
        )
    return seconds


def _span(seconds: float) -> str:
    for unit, size in (("h", 3600), ("m", 60), ("s", 1)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds * 1000:g}ms"


def one_of(command: str, option: str, text: str | None, choices: Sequence[str]) -> str | None:
    """Match the text with one of `choices` in any case; None if the option was not given."""
    if text is None:
        return None
    found = next((word for word in choices if word.lower() == text.strip().lower()), None)
    if found is None:
        raise UsageError(
            f"{command}: {option} {text} cannot be: give {', '.join(choices[:-1])} or {choices[-1]}"
        )
    return found


def names(command: str, option: str, text: str | None) -> list[str]:
    """Parse a list like A,B into distinct names; empty if the option was not given."""
    if text is None:
        return []
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise UsageError(f"{command}: {option} {text!r} has an empty name: give names like A,B")
    return list(dict.fromkeys(found))
