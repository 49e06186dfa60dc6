"""Refuses command lines with both of two alternatives, or without either."""

from nsadmin.console.exit_codes import UsageError


def require_one_of(first_option: str, first_value: object, second_option: str, second_value: object) -> None:
    """Raise UsageError unless exactly one of the two options has a value."""
    if not first_value and not second_value:
        raise UsageError(f"missing option {first_option} or {second_option}")
    refuse_both(first_option, first_value, second_option, second_value)


def refuse_both(first_option: str, first_value: object, second_option: str, second_value: object) -> None:
    """Raise UsageError if both options have a value."""
    if first_value and second_value:
        raise UsageError(f"{first_option} and {second_option} exclude each other: pass only one of them")
