"""Running commands in this process, and servers to ask: a broker, and two name servers that know it."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nsadmin import app
from nsadmin.app import main
from nsadmin.command_line.declarations import declaration_of
from nsadmin.console import output
from nsadmin.console.output import OutputStyle, ResultRows
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeBroker, FakeNameServer
from tests.support.message_brokers import MessageBroker


class CommandResult(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON that it wrote."""
        return json.loads(self.out)


Run = Callable[..., CommandResult]


@pytest.fixture
def undeclared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Columns that a command returned and did not declare."""
    perform, write_rows = app.CommandRun.perform, output.write_rows
    undeclared_names: list[str] = []
    declared: list[str] = []

    def performing(run: app.CommandRun) -> int:
        declared[:] = declaration_of(run.function).column_names
        return perform(run)

    def writing(rows: ResultRows, style: OutputStyle) -> ResultRows:
        undeclared_names.extend(name for name in rows.columns if name not in declared)
        return write_rows(rows, style)

    monkeypatch.setattr(app.CommandRun, "perform", performing)
    monkeypatch.setattr(output, "write_rows", writing)
    return undeclared_names


_CONNECTION_WORDS = app.CommandRun._connection_words


@pytest.fixture
def carrying_advice(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, advised commands carry the options that choose servers."""
    monkeypatch.setattr(app.CommandRun, "_connection_words", _CONNECTION_WORDS)


@pytest.fixture
def run(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    undeclared: list[str],
) -> Run:
    """Run a command line, off any terminal and with nothing of the environment's that it would read."""
    for name in (
        "NAMESRV_ADDR",
        "ROCKETMQ_HOME",
        *filter(lambda name: name.startswith("NSADMIN_"), os.environ),
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NSADMIN_LANG", "en")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("NSADMIN_AUDIT", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    # Advice would carry -n with the port of this run; `carrying_advice` is the real one.
    monkeypatch.setattr(app.CommandRun, "_connection_words", lambda run, words, connection: connection)

    def run(*args: str) -> CommandResult:
        code = main(args)
        assert undeclared == [], f"{args[0]}: declare the columns of its rows with @command(columns=COLUMNS)"
        return CommandResult(code, *capfd.readouterr())

    return run


@pytest.fixture
def message_broker() -> Iterator[MessageBroker]:
    """A broker that holds messages."""
    with MessageBroker() as running:
        yield running


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker() as running:
        yield running


@pytest.fixture
def first_server(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 6}}
        yield running


@pytest.fixture
def second_server(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 6}}
        yield running


@pytest.fixture
def consumer_broker(first_server: FakeNameServer) -> Iterator[ConsumerBroker]:
    """The only broker that the first name server knows, with the topic T and the group G."""
    with ConsumerBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {"T": {"broker-a": 6}}
        yield running
