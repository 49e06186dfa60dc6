"""The PowerShell script, as far as it can be judged without one; with one, it is run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nsadmin.manual.completion_scripts import powershell
from nsadmin.manual.completion_scripts.command_shapes import CommandShapes
from tests.nsadmin.manual.completion_scripts.conftest import LIVE, SPELLED, STATIC, meant
from tests.support.shells import ShellHome

_PAIRS = {")": "(", "]": "[", "}": "{"}


def without_texts(script: str) -> str:
    """The script without comments and what is between quotes; a quote within single quotes is doubled."""
    return re.sub(r"'(?:[^']|'')*'|\"(?:[^\"`]|`.)*\"|(?<!\S)#[^\n]*", "''", script)


def test_brackets_and_quotes_are_paired(found: CommandShapes) -> None:
    rest = without_texts(powershell.render_script(found))
    opened: list[str] = []
    for letter in rest:
        if letter in "([{":
            opened.append(letter)
        elif letter in _PAIRS:
            assert opened.pop() == _PAIRS[letter]
    assert opened == []
    assert '"' not in rest
    assert rest.replace("''", "").count("'") == 0


def test_every_command_is_in_the_table(found: CommandShapes) -> None:
    script = powershell.render_script(found)
    names = re.findall(r"^            name = '([\w ]+)'; family = '(\w+)'", script, re.MULTILINE)
    assert names == [(shape.command_name, shape.family_name) for shape in found.command_shapes]
    for shape in found.command_shapes:
        assert f"'{shape.plain_name}' = @{{" in script
        for option in (*shape.own_options, *shape.positional_choices):
            assert f"'{option.flag_spec} {option.help_text.replace(chr(39), chr(39) * 2)}'" in script
    assert "@CASES@" not in script
    assert "@FAMILIES@" not in script


def test_functions_and_families_that_are_used_are_there(found: CommandShapes) -> None:
    script = powershell.render_script(found)
    functions = set(re.findall(r"function ([\w-]+)\(", script))
    assert set(re.findall(r"\b((?:Offer|Find|Test)(?:-\w+)?)\b", without_texts(script))) == functions
    assert {shape.family_name for shape in found.command_shapes} | {"front"} == set(
        re.findall(r"^        '(\w+)' = @\(", script, re.MULTILINE)
    )


def test_every_quote_that_ends_a_text_in_powershell_is_doubled(found: CommandShapes) -> None:
    assert "($full -replace '[''\\u2018-\\u201b]', '$0$0')" in powershell.render_script(found)


def test_it_is_a_native_completer_of_nsadmin(found: CommandShapes) -> None:
    lines = powershell.render_script(found).splitlines()
    assert "Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {" in lines
    assert "    param($wordToComplete, $commandAst, $cursorPosition)" in lines
    assert lines[-1] == "}"


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="PowerShell is not installed")
@pytest.mark.parametrize(
    ("line", "words"), [case for case in (*STATIC, *SPELLED, *LIVE) if "$" not in case[0]]
)
def test_a_line_is_completed(
    found: CommandShapes, world: ShellHome, tmp_path: Path, line: str, words: list[str]
) -> None:
    (tmp_path / "nsadmin.ps1").write_text(powershell.render_script(found))
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
