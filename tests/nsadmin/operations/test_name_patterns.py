"""Names and patterns together."""

import pytest

from nsadmin.client import NotFound
from nsadmin.operations.name_patterns import expand_patterns

KNOWN = ["a", "b-1", "b-2", "%DLQ%b-1"]


def test_patterns_mean_known_names_and_plain_names_themselves() -> None:
    assert expand_patterns("topic", ["x", "b-*", "b-1"], lambda: KNOWN) == ["x", "b-1", "b-2"]
    assert expand_patterns("topic", ["%DLQ%*"], lambda: KNOWN) == ["%DLQ%b-1"]
    with pytest.raises(NotFound, match=r'no topic matches "c\*"'):
        expand_patterns("topic", ["c*"], lambda: KNOWN)
