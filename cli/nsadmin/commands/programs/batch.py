"""Owns batch, which runs many commands, one per line, in one process."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files
from nsadmin.command_line import registry
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console import confirmation, stderr
from nsadmin.console.exit_codes import ExitCode, UsageError, meaning_of_code
from nsadmin.console.session import Session


@command()
def batch(
    session: Session,
    batch_file: Annotated[
        str,
        Argument(metavar="FILE", help="A file of command lines. - is standard input."),
        Flags("-f", "--file"),
    ],
    stop_on_error: Annotated[
        bool, Option("--stop-on-error", help="Stop at the first command that fails.")
    ] = False,
) -> int:
    """Run many commands, one per line.

    Lines use shell syntax: quotes, backslashes, and # for comments. The word nsadmin at the start is
    optional. Options of batch apply to each line without its own value. nsadmin reports a failed line as
    FILE:LINE on stderr, and runs the others. The exit code is that of the first failed line. Connections stay
    open between lines, so a batch is fast. nsadmin asks questions on the terminal, even if the lines come
    from standard input.

    Examples:
        # Run a file, and print one JSON object per row
        nsadmin batch round.txt --output jsonl
        # Preview its changes
        nsadmin batch round.txt --dry-run
    """
    first_failure_code, failure_count, command_count = 0, 0, 0
    with _open_lines(batch_file) as batch_lines:
        for line_place, line_text in _iter_command_lines(
            "stdin" if batch_file == "-" else batch_file, batch_lines
        ):
            command_count += 1
            exit_code = _run_line(session, line_text)
            if exit_code:
                first_failure_code, failure_count = first_failure_code or exit_code, failure_count + 1
                meaning = _exit_code_meaning(exit_code, line_text)
                stderr.write_stderr_line(f"{line_place}: {line_text}: exit code {exit_code:d}{meaning}")
            if exit_code and stop_on_error:
                stderr.write_stderr_line(f"{line_place}: stopped here")
                break
    if failure_count > 1:
        stderr.write_stderr_line(f"{failure_count} of {command_count} commands failed")
    return first_failure_code


def _run_line(session: Session, line_text: str) -> int:
    try:
        command_words = split_line(line_text)
    except ValueError as error:
        stderr.write_stderr_line(str(error).lower())
        return ExitCode.USAGE
    return session.run_command_line(command_words[1:] if command_words[0] == "nsadmin" else command_words)


def _open_lines(batch_file: str) -> AbstractContextManager[Iterable[str]]:
    if batch_file == "-":
        return confirmation.take_stdin()
    try:
        # A file that was written on Windows can begin with a byte order mark.
        return open(batch_file, encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(batch_file, error)) from None


def _iter_command_lines(source_name: str, batch_lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the place (FILE:LINE) and the text of each line that has a command."""
    for line_number, raw_line in enumerate(batch_lines, 1):
        line_text = raw_line.strip()
        if line_text and not line_text.startswith("#"):
            yield f"{source_name}:{line_number}", line_text


class _ShellSplitter(shlex.shlex):
    """Splits like a shell: # starts a comment only at the start of a word, as mqadmin's times contain #."""

    def __init__(self, line_text: str) -> None:
        super().__init__(line_text, posix=True)
        self.whitespace_split = True

    @property
    def commenters(self) -> str:
        return "#" if getattr(self, "state", " ") == " " else ""

    @commenters.setter
    def commenters(self, _: str) -> None:
        """Ignore the base class, whose constructor assigns a constant."""


def split_line(line_text: str) -> list[str]:
    """Split a command line into words; ValueError if a quotation mark is not closed."""
    return list(_ShellSplitter(line_text))


def _exit_code_meaning(exit_code: int, line_text: str) -> str:
    words = [word for word in line_text.split() if word != "nsadmin"] or [""]
    entry = registry.take_command(words)[0]
    meaning = meaning_of_code(exit_code, *((entry.name, entry.kind) if entry is not None else ()))
    return f" ({meaning})" if meaning else ""
