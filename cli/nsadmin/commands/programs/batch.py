"""batch: runs many commands, one per line, in one process."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Annotated

from nsadmin import confirmation, stderr
from nsadmin.command_line.declarations import Argument, Option
from nsadmin.exit_codes import EXIT_CODE_MEANINGS, ExitCode, UsageError
from nsadmin.session import Session


def batch(
    session: Session,
    batch_file: Annotated[str, Argument(("-f", "--file"), "FILE", "A file of command lines; - is stdin.")],
    stop_on_error: Annotated[bool, Option("--stop-on-error", help="End at the first that fails.")] = False,
) -> int:
    """Run many commands, one a line, each as if it were typed by itself.

    Lines are written as in a shell: quotes and backslashes, # for comments; "nsadmin" may stand before the
    command. Options given to batch count for each line that does not say otherwise. A line that fails is
    named on stderr as FILE:LINE, and the others are run all the same. The exit code is that of the first
    line that failed. Connections stay open between the lines, which makes it fast. Questions are asked on
    the terminal, also where lines come from stdin.

    Examples:
        # What the lines of a file show, one JSON object a row
        nsadmin batch round.txt --output jsonl
        # What they would change
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
                stderr.write_stderr_line(
                    f"{line_place}: {line_text}: exit code {exit_code:d}{_exit_code_meaning(exit_code)}"
                )
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
        raise UsageError(f"batch: {batch_file} cannot be read: {error.strerror}") from None


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


def _exit_code_meaning(exit_code: int) -> str:
    return next(
        (f" ({meaning})" for known_code, meaning in EXIT_CODE_MEANINGS if known_code == exit_code), ""
    )
