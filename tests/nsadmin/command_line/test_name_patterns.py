"""Names and patterns in one argument."""

import pytest

from nsadmin.client import NotFound
from nsadmin.command_line.name_patterns import expand_names
from nsadmin.console.exit_codes import UsageError

KNOWN = ["a", "b-1", "b-2", "%DLQ%b-1"]


def test_patterns_mean_known_names_and_plain_names_themselves() -> None:
    assert expand_names("topic", "x, b-*,b-1", lambda: KNOWN) == ["x", "b-1", "b-2"]
    assert expand_names("topic", "%DLQ%*", lambda: KNOWN) == ["%DLQ%b-1"]
    with pytest.raises(NotFound, match=r'no topic matches "c\*"'):
        expand_names("topic", "c*", lambda: KNOWN)


@pytest.mark.parametrize("text", ["", "a,,b", ",a", "a, "])
def test_an_empty_name_is_an_error(text: str) -> None:
    """A script whose variable is empty must not delete the rest."""
    with pytest.raises(UsageError, match="for GROUP: write names separated by commas"):
        expand_names("consumer group", text, lambda: KNOWN)
