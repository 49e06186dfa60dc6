"""Everything that goes to stderr, and the exit codes; nothing else writes there."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TextIO

from namesrv_core.errors import BadSettings, RequestError, RocketMQError
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.client.results import error_text, is_not_found, is_unreachable


class ExitCode(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    PARTLY = 3
    UNREACHABLE = 4
    NOT_FOUND = 5
    READ_ONLY = 6
    INTERRUPTED = 130


EXIT_CODE_MEANINGS = (
    (ExitCode.DONE, "done"),
    (ExitCode.FAILED, "refused or failed"),
    (ExitCode.USAGE, "the command line is wrong"),
    (ExitCode.PARTLY, "partly done: some servers failed"),
    (ExitCode.UNREACHABLE, "no server could be reached"),
    (ExitCode.NOT_FOUND, "what was named does not exist"),
    (ExitCode.READ_ONLY, "the context is read-only"),
)


PLUGIN_CODE_MEANINGS = (
    (0, "OK"),
    (1, "warning"),
    (2, "critical"),
    (3, "unknown: nobody can tell, or the command line is wrong"),
)
"""What a check's exit code says, as the Monitoring Plugins Development Guidelines have it."""
PLUGIN_UNKNOWN = 3


class UsageError(Exception):
    """The command line is wrong; the text is one line that says what to type."""


class CheckUsageError(UsageError):
    """The line of a check is wrong: a plugin says so with a code of its own."""


class ReadOnlyContextError(Exception):
    """A change was asked for in a context that allows none."""


class CommandInterrupted(Exception):
    """Somebody pressed Ctrl-C; the text says what had been done by then."""


class ChangeDeclined(Exception):
    """The operator said no."""


def exit_code_of_outcomes(errors: Iterable[RocketMQError | None]) -> ExitCode:
    """The code for what happened on each server; None stands for a server where all went well.

    Where nothing went well, a refusal says more than a missing thing, and that more than silence.
    """
    outcomes = list(errors)
    failures = [error for error in outcomes if error is not None]
    if not failures:
        return ExitCode.DONE
    if len(failures) < len(outcomes):
        return ExitCode.PARTLY
    server_refusals = [error for error in failures if not is_unreachable(error)]
    if not server_refusals:
        return ExitCode.UNREACHABLE
    return ExitCode.NOT_FOUND if all(map(is_not_found, server_refusals)) else ExitCode.FAILED


_SGR_COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}
_context_label: tuple[str | None, str | None] = (None, None)


def set_context_label(context_name: str | None, color: str | None = None) -> None:
    """From now on questions name this context, and on a terminal all lines do if it has a colour."""
    global _context_label
    _context_label = (context_name, color)


def _label_prefix() -> str:
    """The context's name in its colour; without one it stands in questions only."""
    context_name, color = _context_label
    if context_name is None:
        return ""
    if color is None or os.environ.get("NO_COLOR") or not sys.stderr.isatty():
        return f"[{_escape_unprintable(context_name)}] "
    return f"\x1b[1;{_SGR_COLORS[color]}m[{_escape_unprintable(context_name)}]\x1b[0m "


def write_stderr_line(line_text: str) -> None:
    """One line for the operator."""
    shown_prefix = _label_prefix() if _context_label[1] is not None and sys.stderr.isatty() else ""
    print(f"nsadmin: {shown_prefix}{_escape_unprintable(line_text)}", file=sys.stderr, flush=True)


def _escape_unprintable(text: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def can_ask_operator() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask_yes_no(question: str) -> bool:
    """Ask on the terminal; only y or yes is a yes."""
    print(f"{_label_prefix()}{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        print(file=sys.stderr)
    return answer.strip().lower() in ("y", "yes")


@contextmanager
def take_stdin() -> Iterator[TextIO]:
    """stdin for who reads it to the end; meanwhile questions are asked on the terminal, if there is one."""
    taken_stdin, sys.stdin = sys.stdin, _open_terminal()
    try:
        yield taken_stdin
    finally:
        sys.stdin.close()
        sys.stdin = taken_stdin


def _open_terminal() -> TextIO:
    try:
        return open("/dev/tty")
    except OSError:
        return open(os.devnull)


def ask_secret(secret_name: str) -> str:
    """A line of standard input; on a terminal it is asked for and not shown."""
    if not can_ask_operator():
        return sys.stdin.readline().rstrip("\r\n")
    import getpass

    return getpass.getpass(f"{secret_name[0].upper()}{secret_name[1:]}: ", sys.stderr)


def ask_text(text_name: str) -> str:
    """A line of standard input; on a terminal it is asked for."""
    if can_ask_operator():
        print(f"{text_name[0].upper()}{text_name[1:]}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().rstrip("\r\n")


def report_failure(error: BaseException, with_traceback: bool) -> int:
    """Say in one line why the command ended early; the exit code. With `debug`, the traceback as well."""
    if with_traceback and not isinstance(error, (BrokenPipeError, KeyboardInterrupt, CommandInterrupted)):
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, BrokenPipeError):
        _discard_stdout()
    else:
        write_stderr_line(_failure_text(error))
        for error_note in getattr(error, "__notes__", ()):
            write_stderr_line(error_note)
    return exit_code_of_error(error)


def exit_code_of_error(error: BaseException) -> int:
    """The exit code of a command that ended with this error."""
    for error_types, exit_code in _CODES_BY_ERROR:
        if isinstance(error, error_types):
            return exit_code
    return exit_code_of_outcomes([error]) if isinstance(error, RocketMQError) else ExitCode.FAILED


_CODES_BY_ERROR: tuple[tuple[tuple[type[BaseException], ...], int], ...] = (
    ((KeyboardInterrupt, CommandInterrupted), ExitCode.INTERRUPTED),
    # As a program ends that is killed by SIGPIPE.
    ((BrokenPipeError,), 141),
    ((CheckUsageError,), PLUGIN_UNKNOWN),
    ((UsageError, BadAddress, BadSettings), ExitCode.USAGE),
    ((ReadOnlyContextError,), ExitCode.READ_ONLY),
)


def _failure_text(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, ChangeDeclined):
        return "nothing was changed"
    if isinstance(error, (UsageError, BadAddress, BadSettings, ReadOnlyContextError, CommandInterrupted)):
        return str(error)
    if isinstance(error, RequestError) and error.addr is not None:
        return f"{error.addr}: {error_text(error)}"
    if isinstance(error, RocketMQError):
        return str(error) if is_unreachable(error) else error_text(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return f"{type(error).__name__}: {error} (run it again with --debug to see where)"


def _discard_stdout() -> None:
    """Whoever read stdout has gone (`nsadmin topicList | head`), and nothing more can be written there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
