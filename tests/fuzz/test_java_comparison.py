"""nsadmin's own server behind sockets in place of Java's: every difference is an error of the comparison."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.java_comparison import Versus
from tests.support.name_servers import ServerProgram, start_program


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    logger = logging.getLogger("namesrv")
    level = logger.level
    logger.setLevel(logging.ERROR)
    with asyncio.Runner() as runner:
        yield runner
    logger.setLevel(level)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[ServerProgram]:
    flags = ("--home", str(tmp_path / "other"), "--bind", "127.0.0.1", "--port", "0", "--log-level", "ERROR")
    with start_program(*flags) as running:
        yield running


def port(other: ServerProgram) -> int:
    return int(other.address.rpartition(":")[2])


def test_a_server_is_like_itself_with_and_without_sockets(
    tmp_path: Path, loop: asyncio.Runner, other: ServerProgram
) -> None:
    versus = Versus(1, tmp_path / "ours", port(other), loop)
    assert versus.run(1_500) == []
    assert versus.frames >= 1_500
    assert not versus.differences
    assert {"closed", "silent", "code 0", "code 1", "code 3", "code 17", "code 22"} <= versus.verdicts.keys()


def test_a_server_that_answers_otherwise_is_told_with_what_repeats_it(
    tmp_path: Path, loop: asyncio.Runner, other: ServerProgram
) -> None:
    versus = Versus(1, tmp_path / "ours", port(other), loop)
    # Ours has become another one.
    versus._near.server._handle_request = lambda state, asked, *_: (_ for _ in ()).throw(
        RuntimeError("broken")
    )
    logging.getLogger("namesrv").setLevel(logging.CRITICAL)
    unlike = versus.run(50)
    assert unlike
    assert f"--seed 1 --at {unlike[0].number}: ours: 1 #" in str(unlike[0])
    assert versus.one(unlike[0].number)
