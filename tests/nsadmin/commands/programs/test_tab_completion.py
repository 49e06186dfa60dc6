"""`nsadmin complete` as shells call it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nsadmin.commands.programs.tab_completion import USUAL_START_SECONDS

from nsadmin.commands.programs import tab_completion as complete_module
from tests.nsadmin.conftest import Run
from tests.support.servers import FakeNameServer

ROOT = Path(__file__).parents[4]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeNameServer]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "cli")]))
    with FakeNameServer({"C": {"broker-a": {0: "h:1"}}}) as running:
        running.routes = {"orders": {"broker-a": 6}, "users": {"broker-a": 6}}
        running.kv = {"N": {"k": "v"}}
        yield running


def offered(run: Run, *args: str) -> str:
    """What is offered once it has been asked: a TAB gives up before a slow machine has started Python."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        result = run("complete", *args)
        assert (result.code, result.err) == (0, "")
        if result.out:
            return result.out
        time.sleep(0.05)
    return ""


def test_values_of_the_servers_on_the_line(run: Run, server: FakeNameServer) -> None:
    line = ("topicRoute", "-n", server.addr)
    assert offered(run, "described", "topics", "o", *line) == "orders\n"
    server.routes = {}
    assert run("complete", "plain", "topics", "", *line).out == "orders\nusers\n"
    assert offered(run, "described", "brokers", "b", *line) == "broker-a\tC\n"
    assert offered(run, "plain", "addresses", "h:", *line) == "h:1\n"


def test_keys_of_the_namespace_on_the_line(run: Run, server: FakeNameServer) -> None:
    assert offered(run, "quoted", "kv-keys", "", "-n", server.addr, "kvGet", "N") == "k\n"
    assert (
        run("complete", "plain", "namespaces", "", "-n", server.addr, "kvGet").out
        == "N\nORDER_TOPIC_CONFIG\n"
    )


def test_contexts_need_no_server(run: Run, server: FakeNameServer) -> None:
    assert run("contextSet", "prod", "-n", "a:1;b:2").code == 0
    assert run("complete", "described", "contexts", "p", "--context").out == "prod\ta:1;b:2\n"
    assert run("complete", "quoted", "name-servers", "", "-n").out == "a:1\\;b:2\n"


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("described",),
        ("described", "nothing", ""),
        ("unheard", "contexts", ""),
        ("described", "topics", "", "--context", "unknown"),
        ("refresh", "topics", "", "--context", "unknown"),
        ("refresh", "topics", "", "-n", "a:b:c:d"),
        ("refresh", "unheard", "", "-n", "127.0.0.1:1"),
        ("described", "kv-keys", "", "kvGet", "--wrong"),
    ],
)
def test_there_is_never_an_error(run: Run, server: FakeNameServer, args: tuple[str, ...]) -> None:
    assert run("complete", *args) == (0, "", "")


def test_it_is_named_in_no_list(run: Run) -> None:
    assert "\n  complete " not in run("--help").out
    assert "complete?" not in run("complet").err


def test_it_loads_no_parser_and_no_yaml(server: FakeNameServer) -> None:
    program = (
        "from nsadmin.app import main\n"
        f"assert main(['complete', 'plain', 'topics', '', '-n', {server.addr!r}]) == 0\n"
        "import sys\nprint(*sys.modules, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = result.stderr.split()
    assert not {"typer", "yaml", "rich", "argparse", "nsadmin.command_line.parser"} & set(loaded)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
@pytest.mark.parametrize(
    ("seconds", "age"), [(0.25, 0.25), (7.0, USUAL_START_SECONDS), (-1.0, USUAL_START_SECONDS)]
)
def test_the_age_of_the_process_counts_if_it_can_be_true(
    monkeypatch: pytest.MonkeyPatch, seconds: float, age: float
) -> None:
    started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf(
        "SC_CLK_TCK"
    )
    monkeypatch.setattr("time.clock_gettime", lambda clock: started + seconds)
    assert complete_module._process_age_seconds() == pytest.approx(age)


def test_where_nobody_tells_the_age_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(clock: int) -> float:
        raise OSError

    monkeypatch.setattr("time.clock_gettime", refuse)
    assert complete_module._process_age_seconds() == USUAL_START_SECONDS
