"""The PowerShell script, as far as it can be judged without one; with one, it is run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.completions.conftest import LIVE, SPELLED, STATIC, meant
from tests.support.shells import COMPLETIONS, ShellHome

_PAIRS = {")": "(", "]": "[", "}": "{"}


SCRIPT = COMPLETIONS / "nsadmin.ps1"


def without_texts(script: str) -> str:
    """The script without comments and what is between quotes; a quote within single quotes is doubled."""
    return re.sub(r"'(?:[^']|'')*'|\"(?:[^\"`]|`.)*\"|(?<!\S)#[^\n]*", "''", script)


def test_brackets_and_quotes_are_paired() -> None:
    rest = without_texts(SCRIPT.read_text())
    opened: list[str] = []
    for letter in rest:
        if letter in "([{":
            opened.append(letter)
        elif letter in _PAIRS:
            assert opened.pop() == _PAIRS[letter]
    assert opened == []
    assert '"' not in rest
    assert rest.replace("''", "").count("'") == 0


def test_every_quote_that_ends_a_text_in_powershell_is_doubled() -> None:
    assert "($full -replace '[''\\u2018-\\u201b]', '$0$0')" in SCRIPT.read_text()


def test_it_is_a_native_completer_of_nsadmin() -> None:
    lines = SCRIPT.read_text().splitlines()
    assert "Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {" in lines
    assert "    param($wordToComplete, $commandAst, $cursorPosition)" in lines
    assert lines[-1] == "}"


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="PowerShell is not installed")
@pytest.mark.parametrize(
    ("line", "words"), [case for case in (*STATIC, *SPELLED, *LIVE) if "$" not in case[0]]
)
def test_a_line_is_completed(world: ShellHome, tmp_path: Path, line: str, words: list[str]) -> None:
    (tmp_path / "nsadmin.ps1").write_text(SCRIPT.read_text())
    typed = f"nsadmin {meant(line, world)}".replace("'", "''")
    program = (
        f". {tmp_path / 'nsadmin.ps1'}; "
        f"(TabExpansion2 -inputScript '{typed}' -cursorColumn {len(typed)}).CompletionMatches.CompletionText"
    )
    result = subprocess.run(
        ["pwsh", "-NoProfile", "-NonInteractive", "-Command", program],
        env=world.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[0].strip("'\"") == meant(words[-1], world)
