"""batch: runs many commands, one per line, in one process."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Annotated

from nsadmin import diagnostics
from nsadmin.commands.declared import Option, Word
from nsadmin.diagnostics import EXIT_CODES, ExitCode, UsageError
from nsadmin.session import Session


def batch(
    session: Session,
    file: Annotated[str, Word(("-f", "--file"), "FILE", "A file of command lines; - is stdin.")],
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
    first, failed, number = 0, 0, 0
    with _opened(file) as lines:
        for place, text in _numbered("stdin" if file == "-" else file, lines):
            number += 1
            code = _run(session, text)
            if code:
                first, failed = first or code, failed + 1
                diagnostics.say(f"{place}: {text}: exit code {code:d}{_meaning(code)}")
            if code and stop_on_error:
                diagnostics.say(f"{place}: stopped here")
                break
    if failed > 1:
        diagnostics.say(f"{failed} of {number} commands failed")
    return first


def _run(session: Session, text: str) -> int:
    try:
        words = split(text)
    except ValueError as error:
        diagnostics.say(str(error).lower())
        return ExitCode.USAGE
    return session.perform(words[1:] if words[0] == "nsadmin" else words)


def _opened(file: str) -> AbstractContextManager[Iterable[str]]:
    if file == "-":
        return diagnostics.stdin_taken()
    try:
        # A file that was written on Windows can begin with a byte order mark.
        return open(file, encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"batch: {file} cannot be read: {error.strerror}") from None


def _numbered(name: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the place (FILE:LINE) and the text of each line that has a command."""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield f"{name}:{number}", text


class _Words(shlex.shlex):
    """Splits like a shell: # starts a comment only at the start of a word, as mqadmin's times contain #."""

    def __init__(self, text: str) -> None:
        super().__init__(text, posix=True)
        self.whitespace_split = True

    @property
    def commenters(self) -> str:
        return "#" if getattr(self, "state", " ") == " " else ""

    @commenters.setter
    def commenters(self, _: str) -> None:
        """Ignore the base class, whose constructor assigns a constant."""


def split(text: str) -> list[str]:
    """Split a command line into words; ValueError if a quotation mark is not closed."""
    return list(_Words(text))


def _meaning(code: int) -> str:
    return next((f" ({meaning})" for known, meaning in EXIT_CODES if known == code), "")
