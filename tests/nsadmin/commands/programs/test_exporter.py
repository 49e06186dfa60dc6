"""exporter, as a command line."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nsadmin.commands.programs import exporter
from nsadmin.operations.exporter.exporter_server import ExporterPlan
from tests.nsadmin.conftest import Run
from tests.support.examples import list_cases_elsewhere, split_example
from tests.support.fake_servers import FakeNameServer

ROOT = Path(__file__).parents[4]


def test_wrong_options(run: Run) -> None:
    for options, message in (
        (("--http", "x:y"), 'invalid address "x:y": write PORT or HOST:PORT'),
        (("--interval", "1ms"), 'invalid time "1ms" for --interval: use 1s to 1h, such as 15s or 1m'),
        (
            ("--topic-interval", "2h"),
            'invalid time "2h" for --topic-interval: use 1s to 1h, such as 15s or 1m',
        ),
        (
            ("--contexts", ","),
            'invalid list "," for --contexts: write names separated by commas, such as A,B',
        ),
        (("--contexts", "nowhere"), 'no context "nowhere"'),
    ):
        result = run("exporter", *options, "-n", "127.0.0.1:1")
        assert (result.code, result.out) == (2, ""), result
        assert message in result.err


def test_its_examples(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[ExporterPlan] = []

    def keep_plan(plan: ExporterPlan, *_: object) -> str:
        plans.append(plan)
        return "SIGTERM"

    monkeypatch.setattr(exporter, "run_exporter", keep_plan)
    for name in ("prod", "backup"):
        assert run("context", "set", name, "-n", f"{name}:9876").code == 0
    [case] = list_cases_elsewhere("exporter")
    for example in case.examples:
        assert run(*split_example(example), "-n", "127.0.0.1:1").code == 0
    usual, remote, several, compat = plans
    assert remote.listen_text == "0.0.0.0:9557"
    assert (usual.listen_text, len(usual.sources), usual.read_plan.interval_seconds) == ("9557", 1, 30)
    assert [source.context_name for source in several.sources] == ["prod", "backup"]
    with several.sources[1].open_client() as admin:
        assert admin.addresses.addrs == ("backup:9876",)
    assert several.read_plan.choice.name_filter.excluded_patterns == ("test-*",)
    assert compat.read_plan.is_compat
    assert compat.read_plan.choice.name_filter.shows_system


def test_a_port_that_is_taken(run: Run) -> None:
    with FakeNameServer() as server:
        result = run("exporter", "--http", server.addr, "-n", server.addr)
    assert result.code == 2
    assert f'cannot listen on "{server.addr}": ' in result.err


def test_it_says_where_it_serves_and_what_stopped_it() -> None:
    command = [sys.executable, "-m", "nsadmin", "exporter", "--http", "0", "-n", "127.0.0.1:1"]
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}", "PATH": ""}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("nsadmin: serving http://127.0.0.1:")
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0
        assert running.stderr.read() == "nsadmin: stopped by SIGINT\n"
