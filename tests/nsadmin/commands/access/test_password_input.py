"""Where passwords come from."""

import sys
from io import StringIO
from pathlib import Path

import pytest

from nsadmin.commands.access import password_input
from nsadmin.console import confirmation
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session, SharedOptions


def given(
    text: str | None = None,
    file: str | None = None,
    stdin: bool = False,
    visible: bool = False,
    wanted: bool = True,
) -> str | None:
    return password_input.read_password(
        Session(SharedOptions()), text, file, stdin, visible, prompt_if_missing=wanted
    )


def refused(text: str | None = None, file: str | None = None, stdin: bool = False) -> str:
    with pytest.raises(UsageError) as caught:
        given(text, file, stdin)
    return str(caught.value)


def test_on_the_line_only_if_one_insists() -> None:
    message = refused("hunter2")
    assert message == (
        "a password on the command line is visible in the process list and the shell's "
        "history: pipe it in with --passwordStdin, or name a file with --passwordFile, or "
        "pass --passwordVisible"
    )
    assert given("hunter2", visible=True) == "hunter2"


def test_two_ways_are_one_too_many() -> None:
    assert refused("a", "f") == "-p and --passwordFile exclude each other: pass only one of them"


def test_from_a_file_that_is_one_line_and_nobody_else_s(tmp_path: Path) -> None:
    file = tmp_path / "p"
    assert "No such file or directory" in refused(None, str(file))
    for content in (b"", b"a\nb\n"):
        file.write_bytes(content)
        file.chmod(0o600)
        assert refused(None, str(file)) == f"{file} must contain one line: the password"
    file.write_bytes(b"\xff\n")
    assert refused(None, str(file)) == f"{file} is not a text file"
    file.write_bytes(b" s3cret \r\n")
    assert given(file=str(file)) == " s3cret "
    file.chmod(0o644)
    assert "run `chmod 600" in refused(None, str(file))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such a file has a mode of its own")
def test_the_mode_of_a_file_that_the_shell_opened_is_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "p"
    file.write_text("s3cret\n")
    file.chmod(0o644)
    with file.open() as opened:
        device = f"/dev/fd/{opened.fileno()}"
        assert refused(None, device) == (
            f"nothing was changed: all users of this machine can read the secret in {device}: "
            "pass --passwordStdin"
        )


def test_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("s3cret\n"))
    assert given(stdin=True) == "s3cret"
    assert refused(stdin=True) == "missing password: standard input has no line for it"


def test_without_a_terminal_nothing_is_asked() -> None:
    assert given(wanted=False) is None
    assert refused() == (
        "missing password, and there is no terminal to ask on: pipe it in with "
        "--passwordStdin, or name a file with --passwordFile"
    )


@pytest.mark.parametrize("answers", [("one", "one"), ("one", "two")])
def test_on_a_terminal_it_is_asked_for_twice(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[str, str]
) -> None:
    left = list(answers)
    monkeypatch.setattr(confirmation, "can_ask_operator", lambda: True)
    monkeypatch.setattr(confirmation, "ask_secret", lambda what: left.pop(0))
    if answers[0] == answers[1]:
        assert given() == "one"
    else:
        assert (
            refused()
            == "the second password differs from the first, nothing was changed: run the command again"
        )
