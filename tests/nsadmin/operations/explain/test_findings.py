"""Findings in sentences."""

import pytest

from nsadmin.operations.explain.findings import Advice, listed, typed


@pytest.mark.parametrize(
    ("names", "text"),
    [("", ""), ("a", "a"), ("abcde", "a, b, c, d, e"), ("abcdef", "a, b, c, d and 2 more")],
)
def test_of_many_names_the_first_few(names: str, text: str) -> None:
    assert listed(names) == text


def test_what_to_type_is_as_a_shell_takes_it() -> None:
    advice = typed("updateTopic", "T", "-n", "a:1;b:2", words="create it")
    assert advice.typed == "nsadmin updateTopic T -n 'a:1;b:2'"
    assert str(advice) == f"create it: {advice.typed}"
    assert (str(Advice("wait")), Advice("wait").typed) == ("wait", None)
    assert str(typed("where")) == "nsadmin where"
