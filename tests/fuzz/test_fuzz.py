"""A fixed part of the fuzzing. `make fuzz` and `make guided` run more."""

import tempfile
import zlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesrv_core.transport.event_loop import run_coroutine
from tests.fuzz.__main__ import fuzz
from tests.fuzz.frames import command, in_parts, kept, pieces, reframed, stream
from tests.fuzz.server_check import Fault, Judge

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


def test_registrations_are_of_every_kind() -> None:
    commands = [command(Random(f"kinds:{number}")) for number in range(8000)]
    bodies = [(asked, asked.body) for asked in commands if asked.code == 103 and asked.body]
    packed = [body for asked, body in bodies if (asked.ext or {}).get("compressed") == "true"]
    assert any(b'"topicConfigTable":null' in body for _, body in bodies)
    assert any(b'"topicConfigSerializeWrapper":null' in body for _, body in bodies)
    assert any(0 <= asked.version < 37 and b'"currIdMap"' in body for asked, body in bodies)
    ends = [zlib.decompressobj() for _ in packed]
    texts = [end.decompress(body) for end, body in zip(ends, packed, strict=True)]
    assert {True, False} == {end.eof for end in ends}
    assert any(len(text) > 1 << 18 > 20 * len(body) for body, text in zip(packed, texts, strict=True))
    for filters in (b"null", b"", b"[]", b'{"a": 1}'):
        assert any(len(filters).to_bytes(4, "big") + filters + bytes(4) in text for text in texts)


def test_frames_have_text_that_is_no_utf_8() -> None:
    frames = [in_parts(Random(number), command(Random(number))) for number in range(2000)]
    headers = {frame[8 : 8 + int.from_bytes(frame[5:8], "big")] for frame in frames}
    assert sum(b"\xed\xa0\x80" in header for header in headers) > 3
    assert sum(b"\xff" in header for header in headers) > 3


def test_the_corpus_is_there() -> None:
    assert len(kept()) >= 3
