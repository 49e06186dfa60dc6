"""Findings in sentences."""

import pytest

from nsadmin.operations.explain.findings import Advice, join_names


@pytest.mark.parametrize(
    ("names", "text"), [("", ""), ("a", "a"), ("abcde", "a, b, c, d, e"), ("abcdef", "a, b, c, d and 2 more")]
)
def test_of_many_names_the_first_few(names: str, text: str) -> None:
    assert join_names(names) == text


def test_what_to_type_is_as_a_shell_takes_it() -> None:
    advice = Advice("create the topic", ("updateTopic", "T", "-n", "a:1;b:2"))
    assert advice.shell_command == "nsadmin updateTopic T -n 'a:1;b:2'"
    assert str(advice) == f"create the topic: {advice.shell_command}"
    assert (str(Advice("wait")), Advice("wait").shell_command) == ("wait", None)
    assert str(Advice("", ("where",))) == "nsadmin where"
