"""Exit codes, and what stderr says."""

import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from namesrv_core.errors import RequestError, RocketMQError, TopicNotExist
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import NoneReachable, NotApplied, NotFound
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.exit_codes import (
    ChangeDeclined,
    CommandInterrupted,
    ExitCode,
    UsageError,
    ask_secret,
    ask_text,
    ask_yes_no,
    exit_code_of_outcomes,
    report_failure,
    set_context_label,
    write_stderr_line,
)

DEAD = CallError("a:1", "unconnected", "nobody there")
REFUSED = RequestError("no")
MISSING = NotFound("not there")


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ([], ExitCode.DONE),
        ([None, None], ExitCode.DONE),
        ([None, DEAD], ExitCode.PARTLY),
        ([None, MISSING], ExitCode.PARTLY),
        ([DEAD, DEAD], ExitCode.UNREACHABLE),
        ([MISSING, MISSING], ExitCode.NOT_FOUND),
        ([MISSING, DEAD], ExitCode.NOT_FOUND),
        ([REFUSED, DEAD], ExitCode.FAILED),
        ([REFUSED, MISSING], ExitCode.FAILED),
        ([NotApplied("ignored")], ExitCode.FAILED),
    ],
)
def test_the_exit_code_of_what_happened_on_each_server(errors: list[RocketMQError | None], code: int) -> None:
    assert exit_code_of_outcomes(errors) == code


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("type this"), 2, "nsadmin: type this\n"),
        (BadAddress("'x' is no address"), 2, "nsadmin: 'x' is no address\n"),
        (ChangeDeclined(), 1, "nsadmin: nothing was changed\n"),
        (NoneReachable([DEAD]), 4, "nsadmin: no name server answered: a:1: nobody there\n"),
        (TopicNotExist("No route\nSee the FAQ"), 5, "nsadmin: TOPIC_NOT_EXIST (17): No route\n"),
        (REFUSED, 1, "nsadmin: SYSTEM_ERROR (1): no\n"),
        (KeyError("x"), 1, "nsadmin: KeyError: 'x' (run it again with --debug to see where)\n"),
        (KeyboardInterrupt(), 130, "nsadmin: interrupted\n"),
        (CommandInterrupted("interrupted; done: x"), 130, "nsadmin: interrupted; done: x\n"),
    ],
)
def test_an_early_end_is_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_failure(error, with_traceback=False) == code
    assert capsys.readouterr() == ("", line)


def test_with_debug_the_traceback_comes_too(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise KeyError("x")
    except KeyError as error:
        report_failure(error, with_traceback=True)
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_line_stays_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    write_stderr_line("a\nb\x1b[2J é")
    assert capsys.readouterr().err == "nsadmin: a\\nb\\x1b[2J é\n"


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


def test_off_a_terminal_lines_are_as_without_a_context(capsys: pytest.CaptureFixture[str]) -> None:
    set_context_label("prod", "red")
    write_stderr_line("hello")
    set_context_label(None)
    assert capsys.readouterr().err == "nsadmin: hello\n"


def test_a_text_is_asked_for_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("one\r\ntwo\n"))
    assert ask_text("access key") == "one"
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("nsadmin.exit_codes.can_ask_operator", lambda: True)
    assert ask_text("access key") == "two"
    assert capsys.readouterr().err == "Access key: "


def test_a_secret_is_a_line_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("one\r\ntwo"))
    assert [ask_secret("key") for _ in range(3)] == ["one", "two", ""]
