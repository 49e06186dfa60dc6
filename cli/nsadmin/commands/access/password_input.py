"""Reads passwords from a prompt, stdin or a file; the command line needs an explicit --passwordVisible."""

from typing import Annotated

from namesrv_core.errors import BadSettings
from nsadmin import confirmation
from nsadmin.command_line.declarations import Option
from nsadmin.exit_codes import UsageError
from nsadmin.session import Session

PasswordFileOption = Annotated[
    str | None,
    Option("--passwordFile", metavar="FILE", help="Read it from this file, which others may not read."),
]
PasswordStdinOption = Annotated[
    bool, Option("--passwordStdin", help="Read it from a line of standard input.")
]
PasswordVisibleOption = Annotated[
    bool,
    Option("--passwordVisible", help="Let it be on the line, where other users of this machine see it."),
]
PASSWORD_ADVICE = "pipe it in with --passwordStdin, or name a file with --passwordFile"


def read_password(
    session: Session,
    command: str,
    typed_password: str | None,
    password_file: str | None,
    from_stdin: bool,
    allow_visible: bool,
    *,
    prompt_if_missing: bool,
    kind: str = "password",
    text_flag: str = "-p",
) -> str | None:
    """The password from the given source. Without one: a prompt if `prompt_if_missing`, else None."""
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
        raise UsageError(f"{command}: give {' or '.join(given_flags)}, not both")
    if typed_password is not None:
        if not allow_visible:
            # The message does not quote the password, because error messages may end up in a log.
            raise UsageError(
                f"{command}: a {kind} on the line is seen in the list of processes and the shell's history:"
                f" {PASSWORD_ADVICE}, or insist with --passwordVisible"
            )
        return typed_password
    if password_file is not None:
        return _read_password_file(command, password_file, kind)
    if from_stdin:
        return session.ask_secret(kind, True, PASSWORD_ADVICE)
    return _prompt_password(session, command, kind) if prompt_if_missing else None


def _prompt_password(session: Session, command: str, kind: str) -> str:
    """Prompt twice, because the terminal does not show the typed text."""
    first_answer = session.ask_secret(kind, False, PASSWORD_ADVICE)
    if confirmation.ask_secret(f"{kind} once more") != first_answer:
        raise UsageError(f"{command}: these are two different texts; nothing was changed")
    return first_answer


def _read_password_file(command: str, password_file: str, kind: str) -> str:
    from pathlib import Path

    from nsadmin.client.connection.credentials import require_private_file

    file_path = Path(password_file).expanduser()
    try:
        require_private_file(file_path)
        password_text = file_path.read_text(encoding="utf-8").rstrip("\r\n")
    except BadSettings as error:
        raise UsageError(f"{command}: {error}") from None
    except OSError as error:
        raise UsageError(f"{command}: {password_file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{command}: {password_file} is no text") from None
    if not password_text or "\n" in password_text:
        raise UsageError(f"{command}: {password_file} has to be one line, the {kind}")
    return password_text
