"""Values of options that mqadmin wants spelt out: `-o true`, `-p 6`."""

from nsadmin.diagnostics import UsageError

_FLAGS = {"true": True, "false": False}


def flag(command: str, option: str, text: str | None) -> bool | None:
    """true or false in any case; None where nothing was given."""
    if text is None:
        return None
    value = _FLAGS.get(text.strip().lower())
    if value is None:
        raise UsageError(f"{command}: {option} {text} cannot be: give true or false")
    return value


def perm(command: str, value: int | None) -> int | None:
    """A permission that brokers take."""
    if value is not None and not 0 <= value <= 7:
        raise UsageError(f"{command}: -p {value} cannot be: give 6 (read and write), 4 (read) or 2 (write)")
    return value


def queue_number(command: str, option: str, value: int | None) -> int | None:
    """How many queues a topic is to have."""
    if value is not None and not 0 <= value <= 65536:
        raise UsageError(f"{command}: {option} {value} cannot be: give 0 to 65536 queues")
    return value


def seconds(command: str, value: float | None) -> float | None:
    """The time between two looks."""
    if value is not None and not value > 0:
        raise UsageError(f"{command}: -i {value:g} cannot be: give seconds, more than 0")
    return value


def perm_word(command: str, text: str) -> int:
    """A permission given as a word."""
    try:
        value = perm(command, int(text))
    except ValueError:
        value = None
    if value is None:
        raise UsageError(
            f"{command}: {text!r} is no permission: give 6 (read and write), 4 (read) or 2 (write)"
        )
    return value
