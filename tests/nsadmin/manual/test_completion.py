"""Completions, typed into the real shells."""

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from nsadmin.manual import completion
from nsadmin.manual.describe import commands

CASES = [
    (("topicR",), ["topicRoute"]),
    (("-n", "a:1", "wipe"), ["wipeWritePerm"]),
    (("topicRoute", "--ra"), ["--raw"]),
    (("topicRoute", "T", "--output", "js"), ["json", "jsonl"]),
    (("wipeWritePerm", "b", "--dry"), ["--dry-run"]),
    (("lab", "--clus"), ["--clusters"]),
]


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@needs("bash")
@pytest.mark.parametrize(("words", "found"), CASES)
def test_bash(tmp_path: Path, words: tuple[str, ...], found: list[str]) -> None:
    (tmp_path / "nsadmin.bash").write_text(completion.bash(commands()))
    script = (
        'source nsadmin.bash; COMP_WORDS=(nsadmin "$@"); COMP_CWORD=$#; _nsadmin; '
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout.split(), done.stderr) == (found, "")


@needs("fish")
@pytest.mark.parametrize(("words", "found"), CASES)
def test_fish(tmp_path: Path, words: tuple[str, ...], found: list[str]) -> None:
    (tmp_path / "nsadmin.fish").write_text(completion.fish(commands()))
    script = f"source nsadmin.fish; complete -C 'nsadmin {' '.join(words)}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == found


@needs("zsh")
@pytest.mark.parametrize(("words", "found"), [case for case in CASES if len(case[1]) == 1])
def test_zsh(tmp_path: Path, words: tuple[str, ...], found: list[str]) -> None:
    (tmp_path / "_nsadmin").write_text(completion.zsh(commands()))
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "PS1": "> ", "TERM": "dumb", "COLUMNS": "200"})
    typist = Typist(terminal)
    try:
        typist.until("> ")
        load = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste"
        typist.type(f"{load}; print -r REA''DY\n")
        typist.until("READY")
        typist.until("> ")
        typist.type(f"nsadmin {' '.join(words)}\t")
        typist.until(f"{found[0]} ")
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


class Typist:
    """Types into a terminal and reads what comes back."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._unread = ""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def until(self, wanted: str) -> None:
        """Read up to the end of `wanted`."""
        deadline = time.monotonic() + 10
        while wanted not in self._unread:
            assert time.monotonic() < deadline, self._unread
            if select.select([self._terminal], [], [], 0.2)[0]:
                self._unread += os.read(self._terminal, 65536).decode("utf-8", "replace")
        self._unread = self._unread.partition(wanted)[2]
