"""The same fuzz against a server with and one without the fast path gives equal answers and tables."""

from pathlib import Path
from random import Random

import pytest

from namesrv_core.handlers import registration_precompute
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol import codec, registration_steps
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.state import registration
from namesrv_core.transport.event_loop import run_coroutine
from tests.fuzz.frames import kept, pieces, stream
from tests.fuzz.server_check import Judge
from tests.support.brokers import queues_in
from tests.support.wire import broker_ext, registration_body, topic_config

CONNECTIONS = 3000


@pytest.fixture
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every registration count as large."""
    for name, size in (("LARGE_BODY_BYTES", 1), ("_LARGE_JSON_BYTES", 1), ("_PIECE_BYTES", 64)):
        monkeypatch.setattr(registration_precompute, name, size)
    monkeypatch.setattr(registration_steps, "_PIECE_BYTES", 64)
    monkeypatch.setattr(registration, "_TOPICS_PER_STEP", 1)


class Twin(Judge):
    """Its clock is moved by hand, since versions without a time have that of their arrival."""

    def __init__(self, home: Path, is_quick: bool) -> None:
        self.time = 1_000_000.0
        super().__init__(home, clock=lambda: self.time, fastPath=is_quick)
        # Without the disk, for which nobody knows how long an answer waits.
        self.server.state_persistence.persister_of_request = lambda code, events: None  # type: ignore[method-assign]
        self.answers: list[tuple[object, ...]] = []

    def settle(self, number: int) -> None:
        """Now and then a broker registers whose connection stays."""
        if number % 20 == 0:
            body = registration_body([topic_config(f"t{topic}") for topic in range(number % 300)])
            asked = RemotingCommand(103, broker_ext("a", 0, "10.0.0.9:1", "c"), body)
            handle_request(self.server.state, asked, 0, self.server.now_ms())

    def _look(self, sent: bytes, written: bytes, closed: bool) -> None:
        super()._look(sent, written, closed)
        self.answers = [*map(_plain, ProtocolConnection().feed_bytes(written)), (closed,)]


def _plain(answer: RemotingCommand) -> tuple[object, ...]:
    # The settings tell the twins apart.
    body = answer.body.replace(b"fastPath=false\n", b"")
    return answer.code, answer.opaque, answer.ext, answer.remark, answer.flag, answer.header_type, body


def _lookups(rng: Random, topics: list[str]) -> list[bytes]:
    """Of topics that are there: those are what is answered quickly."""
    return [
        codec.encode_command(RemotingCommand(105, {"topic": rng.choice(topics)}, opaque=rng.randrange(10**9)))
        for _ in range(rng.randrange(4) if topics else 0)
    ]


@pytest.mark.usefixtures("_everything_is_large")
def test_with_and_without_the_fast_path_any_frames_are_answered_alike(tmp_path: Path) -> None:
    async def both() -> None:
        twins = [Twin(tmp_path, is_quick) for is_quick in (True, False)]
        quick, usual = (twin.server.state.tables for twin in twins)
        corpus = kept()
        for number in range(CONNECTIONS):
            rng = Random(f"twins:{number}")
            data, _ = stream(rng, corpus)
            sent = [*_lookups(rng, sorted(usual.placements_by_topic)), *pieces(rng, data)]
            for twin in twins:
                twin.time += 1
                twin.settle(number)
                # Twice: what was answered or registered once is found quickly the next time.
                for _ in range(2):
                    await twin.send(sent)
            assert twins[0].answers == twins[1].answers, f"connection {number}: {data!r}"
            assert queues_in(quick) == queues_in(usual), f"connection {number}: {data!r}"
            assert quick.queue_mappings == usual.queue_mappings
            assert quick.filter_servers == usual.filter_servers
            assert {
                key: (live.data_version, live.heard_at_ms) for key, live in quick.live_brokers.items()
            } == {key: (live.data_version, live.heard_at_ms) for key, live in usual.live_brokers.items()}
        for twin in twins:
            await twin.end()
        assert twins[0].server.counters.cached_answer_count > 100
        assert twins[1].server.counters.cached_answer_count == 0

    run_coroutine(both())
