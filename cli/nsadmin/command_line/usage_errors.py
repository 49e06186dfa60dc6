"""Words the mistakes of a command line: the same mistake has the same text in every parser."""

from collections.abc import Sequence
from typing import Any

from nsadmin.command_line.declarations import Parameter
from nsadmin.did_you_mean import did_you_mean, find_similar_names
from nsadmin.exit_codes import UsageError

_EXPECTED_BY_METAVAR = {
    "SECONDS": "seconds, for example 3 or 0.5",
    "MS": "milliseconds, for example 3000",
    "BYTES": "a number of bytes, for example 1048576",
    "N": "a whole number, for example 10",
}
_WHOLE_NUMBERS = (int, int | None)


def unknown_option(flag_name: str, known_flags: Sequence[str], advice: str) -> UsageError:
    """An option that does not exist; `advice` is for an option that is similar to none."""
    # Every short option is similar to every other one.
    is_long = flag_name.startswith("--") and len(flag_name) > 3
    near_flags = find_similar_names(flag_name, (*known_flags, "--help"), 0.6, max_names=1) if is_long else []
    return UsageError(f'unknown option "{flag_name}": {did_you_mean(near_flags) if near_flags else advice}')


def unexpected_argument(word: str, usage: str) -> UsageError:
    return UsageError(f'unexpected argument "{word}": usage: {usage}')


def missing_argument(metavar: str, usage: str, example: str | None = None) -> UsageError:
    example_hint = f", for example {example}" if example else ""
    return UsageError(f"missing argument {metavar}{example_hint}: usage: {usage}")


def missing_option(*alternatives: str, usage: str) -> UsageError:
    """A required option with its value is missing, or each of its alternatives. One can be an argument."""
    noun = "option " if all(alternative.startswith("-") for alternative in alternatives) else ""
    return UsageError(f"missing {noun}{' or '.join(alternatives)}: usage: {usage}")


def missing_value(flag_name: str, metavar: str | None) -> UsageError:
    return UsageError(f"missing value for {flag_name}: write {flag_name} {metavar or 'VALUE'}")


def unwanted_value(flag_name: str) -> UsageError:
    return UsageError(f"{flag_name} takes no value: write {flag_name} alone")


def invalid_value(value_text: str, flag_name: str, expected: str) -> UsageError:
    return UsageError(f'invalid value "{value_text}" for {flag_name}: expected {expected}')


def expected_value(parameter: Parameter) -> str:
    """What an option accepts, for `invalid_value`."""
    declaration: Any = parameter.declaration
    minimum = getattr(declaration, "minimum", None)
    if minimum is not None:
        return f"a whole number of at least {minimum}"
    is_whole = parameter.value_type in _WHOLE_NUMBERS
    return _EXPECTED_BY_METAVAR.get(
        declaration.metavar or "", "a whole number, for example 10" if is_whole else "a number"
    )
