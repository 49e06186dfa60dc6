"""Every limit on real sockets: who is over it is refused or cut off, counted, and said in the log."""

import asyncio
import logging
import resource
import zlib
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from namesrv_core.server.connection_limits import raise_file_limit
from namesrv_core.server.name_server import NameServer
from namesrv_core.state.kv_config import ENTRY_OVERHEAD_BYTES
from namesrv_core.state.refusals import RefusalReason
from namesrv_core.transport.answer_work import AnswerWork, WorkMemory
from namesrv_core.transport.command_stream import CommandStream
from tests.support.name_servers import Peer, run_on_loop, start_name_server, wait_until
from tests.support.wire import broker_ext, registration_body


def met(server: NameServer) -> dict[str, int]:
    return {limit: times for limit, times in server.state.limit_hits.hit_counts.items() if times}


async def test_one_connection_too_many_is_closed_and_there_is_room_again_when_one_goes(
    tmp_path: Path,
) -> None:
    async with start_name_server(tmp_path, maxConnections=4) as server, AsyncExitStack() as stack:
        first = await stack.enter_async_context(Peer.connect(server.namesrv_addr))
        await first.send_request(106)
        others = [await stack.enter_async_context(Peer.connect(server.namesrv_addr)) for _ in range(2)]
        for other in others:
            await other.send_request(106)
        # Three of four places is all that one address may have.
        async with Peer.connect(server.namesrv_addr) as refused:
            assert await refused.is_closed()
        assert met(server) == {"maxConnectionsPerAddress": 1}
        await first.close()
        await wait_until(lambda: len(server.open_streams) == 2)
        async with Peer.connect(server.namesrv_addr) as another:
            assert (await another.send_request(106)).code == 0


async def test_connections_in_total(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, maxConnections=1) as server,
        Peer.connect(server.namesrv_addr) as first,
    ):
        assert (await first.send_request(106)).code == 0
        async with Peer.connect(server.namesrv_addr) as second:
            assert await second.is_closed()
        assert met(server) == {"maxConnections": 1}


def test_there_are_never_more_connections_than_files_that_may_be_open(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, hard))
    try:

        @run_on_loop
        async def test() -> None:
            async with start_name_server(tmp_path, maxConnections=0) as server:
                assert (
                    server.connection_limits.max_connections,
                    server.connection_limits.max_connections_per_host,
                ) == (936, 702)

        test()
        raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_frame_that_does_not_end_is_cut_off_and_one_that_does_is_not(tmp_path: Path) -> None:
    whole = codec.encode_command(build_request(106))
    async with (
        start_name_server(tmp_path, maxSecondsPerFrame=1) as server,
        Peer.connect(server.namesrv_addr) as slow,
        Peer.connect(server.namesrv_addr) as busy,
    ):
        slow.send(whole[:7])
        # Always in the middle of a frame, and never of the same.
        busy.send(whole[:5])

        async def keep_busy() -> None:
            while True:
                busy.send(whole[5:] + whole[:5])
                assert await busy.receive() is not None
                await asyncio.sleep(0.05)

        talk = asyncio.create_task(keep_busy())
        assert await slow.is_closed()
        talk.cancel()
        assert met(server) == {"maxSecondsPerFrame": 1}
        assert len(server.open_streams) == 1


async def test_a_reader_that_takes_no_answer_is_cut_off(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, maxUnsentSeconds=1) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        ext = broker_ext()
        await peer.send_request(103, ext, registration_body([f"topic-{n:0>100}" for n in range(5000)]))
        peer.send(codec.encode_command(build_request(206)) * 100)
        await wait_until(lambda: met(server))
        assert met(server) == {"maxUnsentSeconds": 1}
        await wait_until(lambda: not server.open_streams)


async def test_when_too_much_is_kept_for_peers_the_one_with_the_most_goes(tmp_path: Path) -> None:
    half = codec.encode_command(build_request(106, body=bytes(1 << 20)))[:-1]
    async with (
        start_name_server(tmp_path, maxBufferedBytes=3 << 20) as server,
        Peer.connect(server.namesrv_addr) as modest,
        Peer.connect(server.namesrv_addr) as greedy,
    ):
        modest.send(half)
        await wait_until(
            lambda: any(s.protocol_connection.unfinished_bytes == len(half) + 1 for s in server.open_streams)
        )
        greedy.send(codec.encode_command(build_request(106, body=bytes(4 << 20)))[:-1])
        assert await greedy.is_closed()
        assert met(server) == {"maxBufferedBytes": 1}
        modest.send(b"\0")
        answer = await modest.receive()
        assert answer is not None
        assert answer.code == 0


async def test_small_answers_that_many_peers_leave_unread_count_together(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, maxBufferedBytes=100_000) as server:
        limits, transports = server.connection_limits, [UnreadTransport() for _ in range(20)]
        streams = [CommandStream(server, stream_quotas=limits.stream_quotas) for _ in transports]
        for stream, transport in zip(streams, transports, strict=True):
            stream.connection_made(transport)
            transport.written = 4_000
        limits.cut_off_slow_streams()
        assert met(server) == {}
        transports[7].written = 30_000
        limits.cut_off_slow_streams()
        assert met(server) == {"maxBufferedBytes": 1}
        assert [transport.is_aborted for transport in transports].index(True) == 7
        for stream in streams:
            stream.connection_lost(None)


class UnreadTransport(asyncio.Transport):
    """A socket whose peer reads nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.is_aborted = 0, False

    def get_write_buffer_size(self) -> int:
        return self.written

    def is_closing(self) -> bool:
        return self.is_aborted

    def abort(self) -> None:
        self.is_aborted = True


async def test_the_search_for_those_with_the_most_frees_more_than_it_must(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, maxBufferedBytes=80_000) as server:
        limits, transports = server.connection_limits, [UnreadTransport() for _ in range(10)]
        streams = [CommandStream(server, stream_quotas=limits.stream_quotas) for _ in transports]
        for held, (stream, transport) in enumerate(zip(streams, transports, strict=True)):
            stream.connection_made(transport)
            limits.report_held_bytes(stream, 8_200 + held)
        # An eighth of the limit is free again.
        assert [transport.is_aborted for transport in transports] == [False] * 8 + [True] * 2
        for stream in streams:
            stream.connection_lost(None)


def bomb(size: int) -> bytes:
    """A registration that inflates to so many bytes, of which the last are not read."""
    topics = b"".join(b"\0\0\0\x12%c 4 4 6 SINGLE_TAG" % name for name in b"TU")
    head = b"\0\0\0\2{}" + b"\0\0\0\2" + topics + b"\0\0\0\2[]" + bytes(4)
    return zlib.compress(head + bytes(size))


PACKED = broker_ext() | {"compressed": "true"}


async def test_one_large_registration_is_inflated_with_the_defaults(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        answer = await peer.send_request(103, PACKED, bomb(60 << 20))
        assert (answer.code, answer.remark) == (0, None)
        assert list(server.state.tables.placements_by_topic) == ["T", "U"]


async def test_an_inflated_body_counts_as_held(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, maxBufferedBytes=1 << 20) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        peer.send(codec.encode_command(build_request(103, PACKED, bomb(1 << 22))))
        assert await peer.is_closed()
        assert met(server) == {"maxBufferedBytes": 1}
        assert not server.state.tables.placements_by_topic


async def test_many_bodies_are_inflated_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals: list[int] = []
    reserve = WorkMemory.reserve_bytes

    def reserved(self: WorkMemory, work: AnswerWork, held: int) -> None:
        reserve(self, work, held)
        totals.append(self._total_bytes)

    monkeypatch.setattr(WorkMemory, "reserve_bytes", reserved)
    size, count = 1 << 22, 12
    async with start_name_server(tmp_path, maxBufferedBytes=32 << 20) as server, AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(Peer.connect(server.namesrv_addr)) for _ in range(count)]
        for peer in peers:
            peer.send(codec.encode_command(build_request(103, PACKED, bomb(size))))
        for peer in peers:
            answer = await peer.receive()
            assert answer is not None
            assert answer.code == 0
        assert met(server) == {}
        # One, a quarter of the limit, and the first steps of the others.
        assert max(totals) <= size + (8 << 20) + (count + 1) * 3 * (1 << 16)


@pytest.mark.parametrize(
    ("limit", "value", "frames"),
    [
        ("maxHeaderBytes", 200, codec.encode_command(build_request(106, {"key": "k" * 200}))),
        ("maxExtFields", 2, codec.encode_command(build_request(106, dict.fromkeys("abc", "v")))),
        ("maxFrameBytes", 1000, codec.encode_command(build_request(106, body=bytes(1000)))),
    ],
)
def test_frames_over_a_limit_close_their_connection(
    tmp_path: Path, limit: str, value: int, frames: bytes
) -> None:
    @run_on_loop
    async def test() -> None:
        async with (
            start_name_server(tmp_path, **{limit: value}) as server,
            Peer.connect(server.namesrv_addr) as peer,
        ):
            await peer.send_request(106)
            peer.send(frames)
            assert await peer.is_closed()
            assert met(server) == {limit: 1}

    test()


@pytest.mark.parametrize("is_pipelined", [False, True])
def test_a_peer_with_an_invalid_signature_sends_no_more_large_bodies(
    tmp_path: Path, is_pipelined: bool
) -> None:
    credentials = tmp_path / "credentials.json"
    credentials.write_text('{"networks":[{"network":"10.0.0.0/8","role":"read"}]}')
    credentials.chmod(0o600)

    @run_on_loop
    async def test() -> None:
        async with (
            start_name_server(tmp_path, credentialsFile=str(credentials)) as server,
            Peer.connect(server.namesrv_addr) as peer,
        ):
            claim = {"AccessKey": "somebody", "Signature": "A" * 27 + "="}
            large = codec.encode_command(build_request(103, broker_ext() | claim, bytes(3_000_000)))
            if is_pipelined:
                peer.send(large + large)
                answer = await peer.receive()
                assert answer is not None
                assert answer.code == 16
            else:
                for code, size in ((103, 3_000_000), (105, 1_000)):
                    answer = await peer.send_request(code, broker_ext() | claim, bytes(size))
                    assert (answer.code, answer.remark) == (16, "check signature failed.")
                # The length is enough.
                peer.send(large[:8])
            assert await peer.is_closed()
            assert met(server) == {"maxFrameBytes": 1}
            assert server.state.refusals.counts_by_reason[RefusalReason.UNKNOWN_KEY] == (
                1 if is_pipelined else 2
            )

    test()


BOMB = zlib.compress(bytes(1 << 22))


@pytest.mark.parametrize(
    ("limit", "value", "code", "ext", "body"),
    [
        ("maxTopicsPerRegistration", 2, 103, broker_ext(), registration_body(["a", "b", "c"])),
        ("maxTopics", 2, 103, broker_ext(), registration_body(["a", "b", "c"])),
        ("maxRegistrationBytes", 1 << 20, 103, broker_ext() | {"compressed": "true"}, BOMB),
        ("maxJsonDepth", 5, 103, broker_ext(), b'{"a":' + b"[" * 6 + b"]" * 6 + b"}x"),
        ("maxBodyBytes", 20, 318, {}, b"a=b\n" * 6),
        ("maxOddRegistrationBytes", 20, 103, broker_ext(), b"{1:2}" + bytes(20)),
        (
            "maxFilterServersPerRegistration",
            1,
            103,
            broker_ext(),
            registration_body(["a"], filters=["a:1"] * 2),
        ),
        (
            "maxMappingsPerRegistration",
            1,
            103,
            broker_ext(),
            registration_body(["a", "b"], mappings={key: {"topic": "a", "bname": "a"} for key in "ab"}),
        ),
        (
            "maxQueueIdsPerRegistration",
            1,
            103,
            broker_ext(),
            registration_body(["a"], mappings={"a": {"topic": "a", "bname": "a", "currIdMap": {0: 0, 1: 1}}}),
        ),
        ("maxKvEntryBytes", 20, 100, {"namespace": "n", "key": "k", "value": "v" * 19}, b""),
        ("maxKvBytes", 20, 100, {"namespace": "n", "key": "k", "value": "v" * 19}, b""),
    ],
)
def test_requests_over_a_limit_are_refused_change_nothing_and_the_connection_lives(
    tmp_path: Path, limit: str, value: int, code: int, ext: dict[str, str], body: bytes
) -> None:
    @run_on_loop
    async def test() -> None:
        async with (
            start_name_server(tmp_path, **{limit: value}) as server,
            Peer.connect(server.namesrv_addr) as peer,
        ):
            answer = await peer.send_request(code, ext, body)
            assert (answer.code, f", over the limit {limit}" in (answer.remark or "")) == (1, True)
            assert met(server) == {limit: 1}
            assert not server.state.tables.broker_groups
            assert not server.state.kv_config.tables_by_namespace
            assert (await peer.send_request(106)).code == 0

    test()


async def test_one_broker_too_many_is_refused_and_those_that_are_known_go_on(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, maxBrokers=1) as server, Peer.connect(server.namesrv_addr) as peer:
        body = registration_body(["a", "b"])
        assert (await peer.send_request(103, broker_ext("a"), body)).code == 0
        assert (await peer.send_request(103, broker_ext("b", addr="10.0.0.2:1"), body)).code == 1
        assert (await peer.send_request(103, broker_ext("a"), body)).code == 0
        assert met(server) == {"maxBrokers": 1}


async def test_room_in_the_kv_config_comes_back_when_something_is_deleted(tmp_path: Path) -> None:
    size = len('"n""a""vvvvvvvvvvvvvvv"') + ENTRY_OVERHEAD_BYTES
    settings = {"maxKvBytes": 2 * size - 1}
    async with start_name_server(tmp_path, **settings) as server, Peer.connect(server.namesrv_addr) as peer:
        for key, code in (("a", 0), ("b", 1), ("a", 0)):
            entry = {"namespace": "n", "key": key, "value": "v" * 15}
            assert (await peer.send_request(100, entry)).code == code
        assert (await peer.send_request(102, {"namespace": "n", "key": "a"})).code == 0
        assert (await peer.send_request(100, {"namespace": "n", "key": "b", "value": "v" * 15})).code == 0
        assert server.state.kv_config.total_bytes == size


async def test_a_limit_that_is_met_again_and_again_is_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "namesrv")
    async with (
        start_name_server(tmp_path, maxKvEntryBytes=1) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        for _ in range(50):
            assert (await peer.send_request(100, {"namespace": "n", "key": "k", "value": "v"})).code == 1
        server.connection_limits.cut_off_slow_streams()
        assert met(server) == {"maxKvEntryBytes": 50}
    lines = [record.getMessage() for record in caplog.records if "maxKvEntryBytes" in record.getMessage()]
    assert lines == [
        "limit maxKvEntryBytes exceeded: 127.0.0.1: a KV entry of 3 bytes, over the limit maxKvEntryBytes"
    ]
