"""Owns the lines on stderr: remarks, failures, and the context that they are about.

Two other modules write to stderr: `confirmation` asks there, and `progress` draws a bar there.
"""

import os
import sys
from collections.abc import Callable

from namesrv_core import __version__
from namesrv_core.errors import BadSettings, RequestError, RocketMQError
from namesrv_core.printable_text import cut_text
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.client.results import error_text, is_unreachable
from nsadmin.console.exit_codes import (
    ChangeDeclined,
    CommandInterrupted,
    ReadOnlyContextError,
    UsageError,
    exit_code_of_error,
)

_OWN_PACKAGES = ("namesrv_core", "nsadmin", "nsreport")
_SGR_COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}
_MAX_LINE_CHARS = 8192
"""A line can have several texts of servers, which `error_text` has cut already."""
_context_label: tuple[str | None, str | None] = (None, None)
_complete_commands: Callable[[str], str] = str


def set_context_label(
    context_name: str | None, color: str | None = None, complete_commands: Callable[[str], str] = str
) -> None:
    """Set the context that questions name; with a color, every line on a terminal names it, too.

    `complete_commands` adds the options to the commands in a line that lead to the same servers.
    """
    global _context_label, _complete_commands
    _context_label, _complete_commands = (context_name, color), complete_commands


def context_label_prefix() -> str:
    """Return the context's name in brackets, in its color if stderr is a terminal; "" without a context."""
    context_name, color = _context_label
    if context_name is None:
        return ""
    if color is None or os.environ.get("NO_COLOR") or not sys.stderr.isatty():
        return f"[{escape_unprintable(context_name)}] "
    return f"\x1b[1;{_SGR_COLORS[color]}m[{escape_unprintable(context_name)}]\x1b[0m "


def write_stderr_line(line_text: str) -> None:
    """Write one line for the operator; control characters are escaped, and a long text is cut."""
    shown_prefix = context_label_prefix() if _context_label[1] is not None and sys.stderr.isatty() else ""
    shown_text = escape_unprintable(cut_text(_complete_commands(line_text), _MAX_LINE_CHARS))
    print(f"nsadmin: {shown_prefix}{shown_text}", file=sys.stderr, flush=True)


def escape_unprintable(text: str) -> str:
    """Return a text for the operator, on one line and with nothing that could control a terminal."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def report_failure(error: BaseException, with_traceback: bool) -> int:
    """Write why the command ended early, with the traceback if asked for; return the exit code."""
    if with_traceback and not isinstance(error, (BrokenPipeError, KeyboardInterrupt, CommandInterrupted)):
        import traceback

        # The text of an error may come from a server.
        traceback_lines = "".join(traceback.format_exception(error)).splitlines()
        shown_lines = (escape_unprintable(cut_text(line, _MAX_LINE_CHARS)) for line in traceback_lines)
        print("\n".join(shown_lines), file=sys.stderr)
    if isinstance(error, BrokenPipeError):
        _discard_stdout()
    else:
        write_stderr_line(_failure_text(error))
        for error_note in getattr(error, "__notes__", ()):
            write_stderr_line(error_note)
    return exit_code_of_error(error)


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
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        package_name = error.name.partition(".")[0]
        if package_name not in _OWN_PACKAGES:
            return (
                f"the Python package {package_name} is missing: run pip install "
                f"nsadmin-{__version__}-py3-none-any.whl"
            )
    return f"{type(error).__name__}: {error} (run the command again with --debug for details)"


def _discard_stdout() -> None:
    """Discard the rest of stdout, because its reader has closed it (`nsadmin topicList | head`)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
