"""Lines typed into a real zsh."""

import shutil
from collections.abc import Iterator

import pytest

from tests.completions.conftest import (
    HOSTILE,
    LIVE,
    SPELLED,
    STATIC,
    check_hostile_name,
    meant,
)
from tests.support.shells import COMPLETIONS, CONTINUED, ShellHome, ShellTerminal

pytestmark = pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")


@pytest.fixture(scope="module")
def terminal(world: ShellHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShellTerminal]:
    folder = tmp_path_factory.mktemp("zsh")
    (folder / "_nsadmin").write_text((COMPLETIONS / "_nsadmin").read_text())
    load = f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D"
    setup = f"PS1='> '; unsetopt zle_bracketed_paste beep; {load}"
    terminal = ShellTerminal(["zsh", "-f", "-i"], world.environ, setup)
    yield terminal
    terminal.close()


@pytest.fixture(scope="module")
def hostile_terminal(
    hostile_world: ShellHome, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ShellTerminal]:
    folder = tmp_path_factory.mktemp("zsh")
    (folder / "_nsadmin").write_text((COMPLETIONS / "_nsadmin").read_text())
    load = f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D"
    prompts = f"cd; PS1='> ' PS2='{CONTINUED[:2]}''{CONTINUED[2:]}'"
    setup = f"{prompts}; unsetopt zle_bracketed_paste beep; {load}"
    terminal = ShellTerminal(["zsh", "-f", "-i"], hostile_world.environ, setup)
    yield terminal
    terminal.close()


@pytest.mark.parametrize("quote", ["", '"', "'"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_zsh_would_interpret_runs_nothing(
    hostile_terminal: ShellTerminal, hostile_world: ShellHome, name: str, quote: str
) -> None:
    check_hostile_name(hostile_terminal, hostile_world, name, quote)


@pytest.mark.parametrize(("line", "words"), [*STATIC, *SPELLED, *LIVE])
def test_a_line_is_completed(terminal: ShellTerminal, world: ShellHome, line: str, words: list[str]) -> None:
    assert terminal.complete_line(meant(line, world)) == [meant(word, world) for word in words]
