"""Lines typed into a real bash."""

import shutil
from collections.abc import Iterator
from pathlib import Path

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

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@pytest.fixture(scope="module")
def terminal(world: ShellHome) -> Iterator[ShellTerminal]:
    setup = f"PS1='> '; bind 'set bell-style none'; source {COMPLETIONS / 'nsadmin.bash'}"
    terminal = ShellTerminal(["bash", "--norc", "--noprofile", "-i"], world.environ, setup)
    yield terminal
    terminal.close()


@pytest.fixture(scope="module")
def hostile_terminal(hostile_world: ShellHome) -> Iterator[ShellTerminal]:
    setup = (
        f"cd; PS1='> ' PS2='{CONTINUED[:2]}''{CONTINUED[2:]}'; bind 'set bell-style none'; "
        f"source {COMPLETIONS / 'nsadmin.bash'}"
    )
    terminal = ShellTerminal(["bash", "--norc", "--noprofile", "-i"], hostile_world.environ, setup)
    yield terminal
    terminal.close()


@pytest.mark.parametrize("quote", ["", '"', "'"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_bash_would_interpret_runs_nothing(
    hostile_terminal: ShellTerminal, hostile_world: ShellHome, name: str, quote: str
) -> None:
    check_hostile_name(hostile_terminal, hostile_world, name, quote)


@pytest.mark.parametrize("has_compopt", [True, False])
@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_the_name_of_a_file_runs_nothing(
    hostile_terminal: ShellTerminal, hostile_world: ShellHome, quote: str, has_compopt: bool
) -> None:
    home = Path(hostile_world.environ["HOME"])
    name = f"z{quote and 'q'}{has_compopt:d}$(touch run-{has_compopt:d})"
    (home / name).write_text("")
    hostile_terminal.type_text(f"enable {'' if has_compopt else '-n'} compopt\n")
    words = hostile_terminal.complete_line(f"namesrv -c {quote}{name[:3]}", quote)
    assert words[:2] == ["namesrv", "-c"]
    assert (words[2] == name) is has_compopt
    (home / name).unlink()
    assert list(home.glob("run*")) == []


@pytest.mark.parametrize(("line", "words"), [*STATIC, *SPELLED, *LIVE])
def test_a_line_is_completed(terminal: ShellTerminal, world: ShellHome, line: str, words: list[str]) -> None:
    assert terminal.complete_line(meant(line, world)) == [meant(word, world) for word in words]


def test_what_there_is_to_choose_from_is_listed(terminal: ShellTerminal) -> None:
    terminal.type_text("nsadmin topicRoute \t\t")
    assert terminal.read_until("users").split()[-2:] == ["orders", "pi\\|pe"]
    terminal.type_text("\x15")


def test_a_path_to_the_program_is_taken_as_it_is(terminal: ShellTerminal) -> None:
    terminal.type_text("~/bin/nsadmin topicRoute or\t\n")
    assert terminal.read_until("END").endswith("<topicRoute><orders>")
