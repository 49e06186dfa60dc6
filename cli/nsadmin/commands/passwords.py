"""Reads passwords from a prompt, stdin or a file; the command line needs an explicit --passwordVisible."""

from typing import Annotated

from namesrv_core.errors import BadSettings
from nsadmin import diagnostics
from nsadmin.commands.declared import Option
from nsadmin.diagnostics import UsageError
from nsadmin.session import Session

FileOption = Annotated[
    str | None,
    Option("--passwordFile", metavar="FILE", help="Read it from this file, which others may not read."),
]
StdinOption = Annotated[bool, Option("--passwordStdin", help="Read it from a line of standard input.")]
VisibleOption = Annotated[
    bool,
    Option("--passwordVisible", help="Let it be on the line, where other users of this machine see it."),
]
ADVICE = "pipe it in with --passwordStdin, or name a file with --passwordFile"


def given(
    session: Session,
    command: str,
    text: str | None,
    file: str | None,
    stdin: bool,
    visible: bool,
    *,
    wanted: bool,
    what: str = "password",
    flag: str = "-p",
) -> str | None:
    """The password from the given source. Without one: a prompt if `prompt_if_missing`, else None."""
    ways = [
        flag for flag, value in ((flag, text), ("--passwordFile", file), ("--passwordStdin", stdin)) if value
    ]
    if len(ways) > 1:
        raise UsageError(f"{command}: give {' or '.join(ways)}, not both")
    if text is not None:
        if not visible:
            # The message does not quote the password, because error messages may end up in a log.
            raise UsageError(
                f"{command}: a {what} on the line is seen in the list of processes and the shell's history:"
                f" {ADVICE}, or insist with --passwordVisible"
            )
        return text
    if file is not None:
        return _from_file(command, file, what)
    if stdin:
        return session.secret(what, True, ADVICE)
    return _asked(session, command, what) if wanted else None


def _asked(session: Session, command: str, what: str) -> str:
    """Prompt twice, because the terminal does not show the typed text."""
    first = session.secret(what, False, ADVICE)
    if diagnostics.ask_secret(f"{what} once more") != first:
        raise UsageError(f"{command}: these are two different texts; nothing was changed")
    return first


def _from_file(command: str, file: str, what: str) -> str:
    from pathlib import Path

    from nsadmin.client.credentials import require_privacy

    path = Path(file).expanduser()
    try:
        require_privacy(path)
        text = path.read_text(encoding="utf-8").rstrip("\r\n")
    except BadSettings as error:
        raise UsageError(f"{command}: {error}") from None
    except OSError as error:
        raise UsageError(f"{command}: {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{command}: {file} is no text") from None
    if not text or "\n" in text:
        raise UsageError(f"{command}: {file} has to be one line, the {what}")
    return text
