"""Running commands in this process, and a broker with messages."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from nsadmin.app import main
from tests.support.message_brokers import MessageBroker


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command line, off any terminal and with nothing of the environment's that it would read."""
    for name in ("NAMESRV_ADDR", "NSADMIN_CONTEXT", "NSADMIN_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NSADMIN_AUDIT", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))

    def run(*args: str) -> Done:
        code = main(args)
        return Done(code, *capfd.readouterr())

    return run


@pytest.fixture
def holder() -> Iterator[MessageBroker]:
    """A broker that holds messages."""
    with MessageBroker() as running:
        yield running
