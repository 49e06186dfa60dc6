"""Lines typed into a real bash."""

import shutil
from collections.abc import Iterator

import pytest

from nsadmin.manual.completion_scripts import bash
from nsadmin.manual.completion_scripts.command_shapes import CommandShapes
from tests.nsadmin.manual.completion_scripts.conftest import LIVE, SPELLED, STATIC, meant
from tests.support.shells import Terminal, World

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@pytest.fixture(scope="module")
def terminal(
    found: CommandShapes, world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Terminal]:
    script = tmp_path_factory.mktemp("bash") / "nsadmin.bash"
    script.write_text(bash.render_script(found))
    setup = f"PS1='> '; bind 'set bell-style none'; source {script}"
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], world.environ, setup)
    yield terminal
    terminal.close()


@pytest.mark.parametrize(("line", "words"), [*STATIC, *SPELLED, *LIVE])
def test_a_line_is_completed(terminal: Terminal, world: World, line: str, words: list[str]) -> None:
    assert terminal.completed(meant(line, world)) == [meant(word, world) for word in words]


def test_what_there_is_to_choose_from_is_listed(terminal: Terminal) -> None:
    terminal.type("nsadmin topicRoute \t\t")
    assert terminal.until("users").split()[-2:] == ["orders", "pi\\|pe"]
    terminal.type("\x15")


def test_a_path_to_the_program_is_taken_as_it_is(terminal: Terminal) -> None:
    terminal.type("~/bin/nsadmin topicRoute or\t\n")
    assert terminal.until("END").endswith("<topicRoute><orders>")
