"""Lines completed by a real fish, and sourced by one at a terminal."""

import shutil
import subprocess

import pytest

from tests.completions.conftest import LIVE, STATIC, meant
from tests.support.shells import COMPLETIONS, ShellHome

pytestmark = pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")


SCRIPT = COMPLETIONS / "nsadmin.fish"


def candidates(world: ShellHome, line: str) -> list[str]:
    """What fish would choose from, each with what it is behind a tab."""
    result = subprocess.run(
        [
            "fish",
            "--no-config",
            "-c",
            f"source {COMPLETIONS / 'nsadmin.fish'}; complete -C $argv[1]",
            f"nsadmin {line}",
        ],
        env=world.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    return result.stdout.splitlines()


@pytest.mark.parametrize(("line", "words"), [*STATIC, *LIVE])
def test_a_line_is_completed(world: ShellHome, line: str, words: list[str]) -> None:
    [candidate] = candidates(world, meant(line, world))
    assert candidate.partition("\t")[0] == meant(words[-1], world)


def test_candidates_say_what_they_are(world: ShellHome) -> None:
    assert "--raw\tPrint the JSON of the name server." in candidates(world, "topicRoute -")
    assert candidates(world, "wipeWritePerm ") == ["broker-a\tDefaultCluster"]
    assert candidates(world, "contextShow ") == ["prod\th:1"]
    assert "get\tShow a value of the KV config" in candidates(world, "kv ")
    assert candidates(world, "KV ge") == ["get\tShow a value of the KV config"]
