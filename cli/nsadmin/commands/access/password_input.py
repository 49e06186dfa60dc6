"""Reads passwords from a prompt, stdin or a file; the command line needs an explicit --passwordVisible."""

from typing import Annotated

from typer import Option

from namesrv_core import operator_files
from namesrv_core.errors import BadSettings
from nsadmin.console import confirmation
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session

PasswordFileOption = Annotated[
    str | None,
    Option(
        "--passwordFile",
        metavar="FILE",
        help="Read it from this file, which only its owner may read: run `umask 077` before you write it.",
    ),
]
PasswordStdinOption = Annotated[
    bool, Option("--passwordStdin", help="Read it from a line of standard input.")
]
PasswordVisibleOption = Annotated[
    bool,
    Option(
        "--passwordVisible",
        help="Accept it on the command line, where other users of this machine can see it.",
    ),
]
PASSWORD_ADVICE = "pipe it in with --passwordStdin, or name a file with --passwordFile"


def read_password(
    session: Session,
    typed_password: str | None,
    password_file: str | None,
    from_stdin: bool,
    allow_visible: bool,
    *,
    prompt_if_missing: bool,
    kind: str = "password",
    text_flag: str = "-p",
) -> str | None:
    """The password from the given source. Default: a prompt if `prompt_if_missing`, else None."""
    given_flags = [
        text_flag
        for text_flag, flag_value in (
            (text_flag, typed_password),
            ("--passwordFile", password_file),
            ("--passwordStdin", from_stdin),
        )
        if flag_value
    ]
    if len(given_flags) > 1:
        raise UsageError(f"{' and '.join(given_flags)} exclude each other: pass only one of them")
    if typed_password is not None:
        if not allow_visible:
            # The message does not quote the password, because error messages may end up in a log.
            raise UsageError(
                f"a {kind} on the command line is visible in the process list and the "
                f"shell's history: {PASSWORD_ADVICE}, or pass --passwordVisible"
            )
        return typed_password
    if password_file is not None:
        return _read_password_file(password_file, kind)
    if from_stdin:
        return session.ask_secret(kind, True, PASSWORD_ADVICE)
    return _prompt_password(session, kind) if prompt_if_missing else None


def _prompt_password(session: Session, kind: str) -> str:
    """Prompt twice, because the terminal does not show the typed text."""
    first_answer = session.ask_secret(kind, False, PASSWORD_ADVICE)
    if confirmation.ask_secret(f"{kind} again") != first_answer:
        raise UsageError(
            f"the second {kind} differs from the first, nothing was changed: run the command again"
        )
    return first_answer


def _read_password_file(password_file: str, kind: str) -> str:
    from pathlib import Path

    from nsadmin.client.connection.credentials import require_private_file

    file_path = Path(password_file).expanduser()
    try:
        require_private_file(file_path, instead="pass --passwordStdin")
        password_text = file_path.read_text(encoding="utf-8").rstrip("\r\n")
    except BadSettings as error:
        raise UsageError(f"nothing was changed: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(operator_files.explain_unreadable(password_file, error)) from None
    if not password_text or "\n" in password_text:
        raise UsageError(f"{password_file} must contain one line: the {kind}")
    return password_text
