"""The same mutated frames to a released 5.5.0 name server and to ours; `make fuzz-java` sends more."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.java_comparison import Versus, quiet
from tests.interop.java_parts import JavaNameServer

FRAMES = 8_000


@pytest.fixture
def java(released: None, tmp_path: Path) -> Iterator[JavaNameServer]:
    with JavaNameServer(quiet(tmp_path / "java")) as running:
        yield running


def test_each_frame_has_the_same_verdict_from_both(tmp_path: Path, java: JavaNameServer) -> None:
    logging.getLogger("namesrv").setLevel(logging.ERROR)
    try:
        with asyncio.Runner() as loop:
            versus = Versus(7, tmp_path / "ours", java.port, loop)
            unlike = versus.run(FRAMES)
    finally:
        logging.getLogger("namesrv").setLevel(logging.NOTSET)
    assert not unlike, "\n".join(map(str, unlike))
    assert versus.frames >= FRAMES
    # Of every kind; what follows a difference on its connection is not said to Java.
    assert sum(versus.verdicts.values()) > 0.9 * FRAMES
    assert min(versus.verdicts[kind] for kind in ("closed", "silent", "code 0", "code 1", "code 17")) > 50
    # Whether Java's brokers come and go beside it has nothing to do with frames: that is seldom.
    assert versus.once < 20
