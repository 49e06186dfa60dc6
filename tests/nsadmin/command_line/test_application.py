"""The words that TAB offers, in a shell and in the prompt of the screen."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.command_line.application import complete_line
from nsadmin.command_line.completion import lookup
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer

ROOT = Path(__file__).parents[3]


def words(line: str, typed: str = "") -> list[str]:
    return [word for word, _ in complete_line(line.split(), typed, time.time() + 2)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeNameServer]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "cli")]))
    with FakeNameServer({"C": {"broker-a": {0: "h:1"}}}) as running:
        running.routes = {"orders": {"broker-a": 6}, "users": {"broker-a": 6}}
        running.kv = {"N": {"k": "v"}}
        yield running


def offered(server: FakeNameServer, line: str, typed: str = "") -> list[tuple[str, str]]:
    """What servers are asked for comes with the second TAB on a slow machine."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        candidates = complete_line(["-n", server.addr, *line.split()], typed, time.time() + 2)
        if candidates:
            return candidates
    return []


def test_the_first_word_is_a_command_or_a_group() -> None:
    assert words("", "topicr") == ["topicRoute"]
    assert {"kv", "topicList", "help", "version"} <= {*words("")}
    assert dict(complete_line([], "topicRoute"))["topicRoute"]


def test_the_second_word_of_a_group_is_one_of_its_commands() -> None:
    assert words("kv", "g") == ["get"]
    assert words("unheard") == []
    assert words("kv unheard") == []


def test_options_choices_and_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The account that runs the tests may have the topics of a lab in its cache.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert words("topicRoute", "--outp") == ["--output"]
    assert "-n" in words("topicRoute", "-")
    assert words("topicRoute --output", "js") == ["json", "jsonl"]
    assert words("topicRoute", "--output=csv") == ["--output=csv"]
    assert words("topicRoute", "--yes=") == []
    assert words("updateTopic orders -o", "t") == ["true"]
    assert words("topicList --columns topic,-", "") == []
    assert words("clusterList --columns", "brokerName,brokerI") == ["brokerName,brokerId"]


def test_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plan.yaml").touch()
    (tmp_path / ".plan").touch()
    monkeypatch.chdir(tmp_path)
    assert words("apply", "pl") == ["plan.yaml", "plans/"]
    assert words("journal stat", "pl") == ["plans/"]
    assert words("apply", "none/") == []


def test_values_of_the_servers_of_the_screen(server: FakeNameServer) -> None:
    assert offered(server, "topicRoute", "o") == [("orders", "")]
    assert offered(server, "wipeWritePerm", "b") == [("broker-a", "C")]
    assert offered(server, "kv get N", "") == [("k", "")]
    assert offered(server, "topicRoute", "-t") == [
        ("-t", "A topic, several as a,b or a pattern such as 'test-*'.")
    ]
    assert offered(server, "kvGet -s N", "") == [("k", "")]
    assert offered(server, "--json kv-get N", "") == [("k", "")]
    assert words("kv get -s N k", "") == words("kvGet N k more", "") == []


def test_contexts_need_no_server(run: Run) -> None:
    assert run("contextSet", "prod", "-n", "a:1;b:2").code == 0
    assert complete_line(["--context"], "p") == [("prod", "a:1;b:2")]
    assert complete_line(["topicRoute", "-n"], "") == [("a:1;b:2", "prod")]


@pytest.mark.parametrize(
    "line", ["", "unheard", "topicRoute --context unknown", "topicRoute -n a:b:c:d", "kvGet --wrong"]
)
def test_a_shell_never_gets_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("_NSADMIN_COMPLETE", "1")
    result = run(*line.split(), "zzz")
    assert result == (0, "", "")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
@pytest.mark.parametrize(
    ("seconds", "age"),
    [(0.25, 0.25), (7.0, lookup._USUAL_START_SECONDS), (-1.0, lookup._USUAL_START_SECONDS)],
)
def test_the_age_of_the_process_counts_if_it_can_be_true(
    monkeypatch: pytest.MonkeyPatch, seconds: float, age: float
) -> None:
    started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf(
        "SC_CLK_TCK"
    )
    monkeypatch.setattr("time.clock_gettime", lambda clock: started + seconds)
    assert lookup._process_age_seconds() == pytest.approx(age)


def test_where_nobody_tells_the_age_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(clock: int) -> float:
        raise OSError

    monkeypatch.setattr("time.clock_gettime", refuse)
    assert lookup._process_age_seconds() == lookup._USUAL_START_SECONDS
