"""`nsadmin completion`: the scripts, as shells source them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nsadmin.commands.programs import shell_completion
from tests.nsadmin.conftest import Run

ROOT = Path(__file__).parents[4]
SOURCED = {
    "bash": (["bash", "--norc", "-c"], "source <({}); complete -p nsadmin", "complete -F _nsadmin nsadmin\n"),
    "zsh": (
        ["zsh", "-f", "-c"],
        "autoload -Uz compinit; compinit -u -D; source <({}); print $_comps[nsadmin]",
        "_nsadmin\n",
    ),
    "fish": (["fish", "--no-config", "-c"], "{} | source; complete -C 'nsadmin context us'", "use"),
}


@pytest.mark.parametrize("shell", shell_completion._SCRIPT_FILES)
def test_the_file_of_the_shell_is_written(run: Run, shell: str) -> None:
    expected = (ROOT / "completions" / shell_completion._SCRIPT_FILES[shell]).read_text()
    assert run("completion", shell) == (0, expected, "")


@pytest.mark.parametrize("shell", SOURCED)
def test_the_shell_can_source_it(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    words, script, expected = SOURCED[shell]
    result = subprocess.run(
        [*words, script.format(f"{sys.executable} -m nsadmin completion {shell}")],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}",
            # fish asks this program.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
    )
    assert result.stdout.startswith(expected)
    assert result.stderr == ""


def test_help_says_where_it_goes(run: Run) -> None:
    result = run("completion", "--help")
    assert "\nbash, in ~/.bashrc: source <(nsadmin completion bash)\n" in result.out
    assert result.out.count("Examples:") == 1


def test_another_shell_is_one_line(run: Run) -> None:
    result = run("completion", "csh")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        'nsadmin: invalid value "csh" for SHELL: expected bash, zsh, fish or powershell'
    )
    assert result.err.count("\n") == 1


def test_every_shell_has_a_file_that_is_packed() -> None:
    assert {path.name for path in (ROOT / "completions").iterdir()} == set(
        shell_completion._SCRIPT_FILES.values()
    )
    assert '"completions" = "nsadmin/completions"' in (ROOT / "pyproject.toml").read_text()
