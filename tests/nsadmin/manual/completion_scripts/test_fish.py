"""Lines completed by a real fish, and sourced by one at a terminal."""

import shutil
import subprocess
from pathlib import Path

import pytest

from nsadmin.manual.completion_scripts import fish
from nsadmin.manual.completion_scripts.command_shapes import CommandShapes
from tests.nsadmin.manual.completion_scripts.conftest import LIVE, STATIC, meant
from tests.support.shells import ShellHome

pytestmark = pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")


@pytest.fixture(scope="module")
def script(found: CommandShapes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fish") / "nsadmin.fish"
    path.write_text(fish.render_script(found))
    return path


def candidates(script: Path, world: ShellHome, line: str) -> list[str]:
    """What fish would choose from, each with what it is behind a tab."""
    result = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; complete -C $argv[1]", f"nsadmin {line}"],
        env=world.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    return result.stdout.splitlines()


@pytest.mark.parametrize(("line", "words"), [*STATIC, *LIVE])
def test_a_line_is_completed(script: Path, world: ShellHome, line: str, words: list[str]) -> None:
    [candidate] = candidates(script, world, meant(line, world))
    assert candidate.partition("\t")[0] == meant(words[-1], world)


def test_candidates_say_what_they_are(script: Path, world: ShellHome) -> None:
    assert "--raw\tPrint the JSON of the name server." in candidates(script, world, "topicRoute -")
    assert candidates(script, world, "wipeWritePerm ") == ["broker-a\tDefaultCluster"]
    assert candidates(script, world, "contextShow ") == ["prod\th:1"]
    assert "get\tShow a value of the KV config" in candidates(script, world, "kv ")
    assert candidates(script, world, "KV ge") == ["get\tShow a value of the KV config"]
