"""Owns questions to the operator: yes or no, a text, a secret. They are asked on stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from nsadmin.console.stderr import context_label_prefix, escape_unprintable


def can_ask_operator() -> bool:
    """Whether stdin and stderr are a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask_yes_no(question: str) -> bool:
    """Ask on the terminal; only y and yes mean yes."""
    shown_question = f"{context_label_prefix()}{escape_unprintable(question)} [y/N] "
    print(shown_question, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        print(file=sys.stderr)
    return answer.strip().lower() in ("y", "yes")


@contextmanager
def take_stdin() -> Iterator[TextIO]:
    """Yield stdin for reading to the end. Meanwhile, answers come from the terminal, if possible."""
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
    """Read a line of standard input; on a terminal ask for it, without echo."""
    if not can_ask_operator():
        return sys.stdin.readline().rstrip("\r\n")
    import getpass

    return getpass.getpass(f"{secret_name[0].upper()}{secret_name[1:]}: ", sys.stderr)


def ask_text(text_name: str) -> str:
    """Read a line of standard input; on a terminal ask for it."""
    if can_ask_operator():
        print(f"{text_name[0].upper()}{text_name[1:]}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().rstrip("\r\n")
