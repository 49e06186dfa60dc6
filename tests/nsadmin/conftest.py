"""Running commands in this process."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from nsadmin.app import main


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line, off any terminal and without NAMESRV_ADDR."""
    monkeypatch.delenv("NAMESRV_ADDR", raising=False)

    def run(*args: str) -> Done:
        code = main(args)
        return Done(code, *capfd.readouterr())

    return run
