"""Docstrings: paragraphs, and examples in their strict little format."""

import pytest

from nsadmin.command_line.docstrings import CommandExample, parse_docstring, strip_examples


def command() -> None:
    """Say what it does.

    More of it,
    in two lines.

    Examples:
        # Brokers of a topic
        nsadmin topicRoute orders
        # Of none (exit code 5)
        nsadmin topicRoute no-such-topic
    """


def test_paragraphs_and_examples_are_told_apart() -> None:
    documentation = parse_docstring(command)
    assert documentation.paragraphs == ["Say what it does.", "More of it, in two lines."]
    assert documentation.examples == [
        CommandExample("nsadmin topicRoute orders", "Brokers of a topic", 0),
        CommandExample("nsadmin topicRoute no-such-topic", "Of none (exit code 5)", 5),
    ]
    assert strip_examples(command.__doc__ or "").endswith("in two lines.")


@pytest.mark.parametrize(
    "lines", [["# alone"], ["nsadmin x", "# turned round"], ["# a", "ls"], ["a", "nsadmin x"]]
)
def test_an_example_in_another_form_is_refused(lines: list[str]) -> None:
    def other() -> None: ...

    other.__doc__ = "\n    ".join(["Text.\n", "Examples:", *(f"    {line}" for line in lines), ""])
    with pytest.raises(ValueError, match="write # and a description, then nsadmin and arguments, not "):
        parse_docstring(other)
