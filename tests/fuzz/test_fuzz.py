"""A slice of the fuzzing, the same each time; `make fuzz` and `make guided` go on with others."""

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesrv_core.transport.event_loop import run_coroutine
from tests.fuzz.__main__ import fuzz
from tests.fuzz.frames import kept, pieces, reframed, stream
from tests.fuzz.judge import Fault, Judge

SLICE = 100_000


def test_a_hundred_thousand_frames_break_nothing_and_leave_nothing_behind(tmp_path: Path) -> None:
    report = run_coroutine(fuzz(seed=1, frames=SLICE, home=tmp_path))
    assert report.frames >= SLICE
    # What is remembered of headers and routes fills up at first, and is bounded.
    assert report.grown < 64 << 20


@given(st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_what_a_connection_sends_is_judged_whatever_it_is(rng: Random) -> None:
    async def send() -> None:
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge(Path(folder))
            data, _ = stream(rng, kept())
            await judge.send(pieces(rng, data))
            await judge.end()

    run_coroutine(send())


@given(st.binary(max_size=200))
def test_a_frame_whose_lengths_were_put_right_has_right_ones(data: bytes) -> None:
    frame = reframed(data)
    assert int.from_bytes(frame[:4], "big") + 4 == len(frame)
    assert int.from_bytes(frame[5:8], "big") <= len(frame) - 8


def test_the_judge_tells_a_server_whose_handler_breaks(tmp_path: Path) -> None:
    async def broken() -> None:
        judge = Judge(tmp_path)
        judge.server.state.kv_config.tables_by_namespace = None  # type: ignore[assignment]
        for number in range(200):
            data, _ = stream(Random(number), kept())
            await judge.send([data])

    with pytest.raises(Fault, match="AttributeError"):
        run_coroutine(broken())


def test_the_corpus_is_there() -> None:
    assert len(kept()) >= 3
