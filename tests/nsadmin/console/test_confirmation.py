"""Questions: on a terminal only, with the context that they are about."""

import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from nsadmin.console.confirmation import ask_secret, ask_text, ask_yes_no
from nsadmin.console.stderr import set_context_label, write_stderr_line


@pytest.fixture
def nothing_labelled() -> Iterator[None]:
    yield
    set_context_label(None)


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", StringIO(answers))


@pytest.mark.usefixtures("nothing_labelled")
def test_a_context_with_a_colour_stands_before_every_line_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch, "y\n")
    set_context_label("prod", "red")
    write_stderr_line("hello")
    assert ask_yes_no("Sure?")
    assert capsys.readouterr().err == (
        "nsadmin: \x1b[1;31m[prod]\x1b[0m hello\n\x1b[1;31m[prod]\x1b[0m Sure? [y/N] "
    )


@pytest.mark.usefixtures("nothing_labelled")
def test_without_a_colour_it_stands_in_questions_and_with_no_color_it_is_plain(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch, "n\nn\n")
    set_context_label("lab")
    write_stderr_line("hello")
    ask_yes_no("Sure?")
    monkeypatch.setenv("NO_COLOR", "1")
    set_context_label("prod", "red")
    write_stderr_line("hello")
    ask_yes_no("Sure?")
    assert capsys.readouterr().err == (
        "nsadmin: hello\n[lab] Sure? [y/N] nsadmin: [prod] hello\n[prod] Sure? [y/N] "
    )


def test_a_name_in_a_question_controls_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch, "n\n")
    assert not ask_yes_no("Wipe a\x1b[2J\nb?")
    assert capsys.readouterr().err == "Wipe a\\x1b[2J\\nb? [y/N] "


def test_a_text_is_asked_for_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("one\r\ntwo\n"))
    assert ask_text("access key") == "one"
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("nsadmin.console.confirmation.can_ask_operator", lambda: True)
    assert ask_text("access key") == "two"
    assert capsys.readouterr().err == "Access key: "


def test_a_secret_is_a_line_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("one\r\ntwo"))
    assert [ask_secret("key") for _ in range(3)] == ["one", "two", ""]
