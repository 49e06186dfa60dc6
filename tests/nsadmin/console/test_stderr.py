"""What stderr says: lines, the context before them, and why a command ended early."""

import pytest

from namesrv_core import __version__
from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import NoneReachable
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.client.results import error_text
from nsadmin.console.exit_codes import ChangeDeclined, CommandInterrupted, UsageError
from nsadmin.console.stderr import report_failure, set_context_label, write_stderr_line

DEAD = CallError("a:1", "unconnected", "nobody there")
REFUSED = RequestError("no")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("type this"), 2, "nsadmin: type this\n"),
        (BadAddress("'x' is no address"), 2, "nsadmin: 'x' is no address\n"),
        (ChangeDeclined(), 1, "nsadmin: nothing was changed\n"),
        (NoneReachable([DEAD]), 4, "nsadmin: no name server answered: a:1: nobody there\n"),
        (TopicNotExist("No route\nSee the FAQ"), 5, "nsadmin: TOPIC_NOT_EXIST (17): No route\n"),
        (REFUSED, 1, "nsadmin: SYSTEM_ERROR (1): no\n"),
        (KeyError("x"), 1, "nsadmin: KeyError: 'x' (run the command again with --debug for details)\n"),
        (
            ModuleNotFoundError("No module named 'rich'", name="rich.table"),
            1,
            "nsadmin: the Python package rich is missing: run pip install "
            f"nsadmin-{__version__}-py3-none-any.whl\n",
        ),
        (
            ModuleNotFoundError("No module named 'nsadmin.gone'", name="nsadmin.gone"),
            1,
            "nsadmin: ModuleNotFoundError: No module named 'nsadmin.gone' (run the command again "
            "with --debug for details)\n",
        ),
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


def test_the_text_of_an_error_controls_no_terminal_in_a_traceback_either(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report_failure(RequestError("no\x1b[2J\x9b"), with_traceback=True)
    stderr = capsys.readouterr().err
    assert "RequestError: SYSTEM_ERROR (1): no\\x1b[2J\\x9b\n" in stderr
    assert [letter for letter in stderr if not letter.isprintable() and letter != "\n"] == []


def test_a_long_remark_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    error = RequestError("x" * 14_000_000)
    report_failure(error, with_traceback=False)
    report_failure(error, with_traceback=True)
    assert len(error_text(error)) < 4200
    stderr = capsys.readouterr().err
    assert len(stderr) < 30_000
    assert stderr.startswith("nsadmin: SYSTEM_ERROR (1): xxx")
    assert "... (14000018 characters)\n" in stderr


def test_a_line_stays_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    write_stderr_line("a\nb\x1b[2J é")
    assert capsys.readouterr().err == "nsadmin: a\\nb\\x1b[2J é\n"


def test_off_a_terminal_lines_are_as_without_a_context(capsys: pytest.CaptureFixture[str]) -> None:
    set_context_label("prod", "red")
    write_stderr_line("hello")
    set_context_label(None)
    assert capsys.readouterr().err == "nsadmin: hello\n"
