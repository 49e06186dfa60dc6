"""Commands through TLS over real sockets: order, flow control, who the client is, and how it ends."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport import protocol_detection, tls_server
from namesrv_core.transport.fair_scheduler import TURN_SECONDS, FairScheduler, TakeTurn
from namesrv_core.transport.protocol_detection import TlsPolicy
from namesrv_core.transport.rate_limits import StreamQuotas
from namesrv_core.transport.tls_client import TlsClient, TlsConnection, TlsError
from namesrv_core.transport.tls_server import TlsServerFiles
from namesrv_core.transport.tls_transport import TlsTransport
from tests.namesrv_core.transport.test_command_stream import GARBAGE, Echo
from tests.support.certificates import Authority, CertificatePair
from tests.support.name_servers import Peer, open_listener, run_on_loop, wait_until
from tests.support.tls_records import OldRecordForge, RecordForge

VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> TlsServerFiles:
    return TlsServerFiles(*authority.issue("name server"), client_auth="optional", trust_file=authority.ca)


def client(authority: Authority, shown: CertificatePair | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.ca))
    if shown is not None:
        context.load_cert_chain(*shown)
    return context


class Far(Echo):
    """An echo that hears why TLS failed."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[str] = []


@asynccontextmanager
async def secured(
    files: TlsServerFiles, allowance: StreamQuotas | None = None
) -> AsyncIterator[tuple[Far, str]]:
    far = Far()
    terms = TlsPolicy(
        tls_server.build_server_context(files), True, None, lambda peer, reason: far.refusals.append(reason)
    )
    async with open_listener(far, terms=terms, allowance=allowance) as listener:
        try:
            yield far, f"127.0.0.1:{listener.bound_port}"
        finally:
            for stream in far.streams:
                stream.abort()


async def shake(peer: Peer, near: TlsConnection) -> None:
    """A handshake with the bytes in the test's hand."""
    data = b""
    while not near.is_ready:
        near.feed_bytes(data)
        peer.send(near.drain_outgoing())
        data = b"" if near.is_ready else await peer._reader.read(1 << 16)


@pytest.mark.parametrize("version", VERSIONS)
def test_many_frames_are_answered_in_their_order_however_they_are_cut(
    authority: Authority, server: TlsServerFiles, version: ssl.TLSVersion
) -> None:
    @run_on_loop
    async def body() -> None:
        tls = client(authority)
        tls.minimum_version = tls.maximum_version = version
        async with secured(server) as (_, address), Peer.connect(address, tls) as peer:
            frames = b"".join(codec.encode_command(build_request(1, body=b"%d" % n * 50)) for n in range(300))
            for begin in range(0, len(frames), 7919):
                peer.send(frames[begin : begin + 7919])
            for number in range(300):
                answer = await peer.receive()
                assert answer is not None
                assert answer.body == b"%d" % number * 50

    body()


def test_a_peer_that_takes_no_answers_is_not_read_until_it_does(
    authority: Authority, server: TlsServerFiles
) -> None:
    @run_on_loop
    async def run() -> None:
        body, total = bytes(1 << 18), 200
        async with secured(server) as (far, address), Peer.connect(address, client(authority)) as peer:
            peer.send(b"".join(codec.encode_command(build_request(1, body=body)) for _ in range(total)))
            await wait_until(lambda: far.seen)
            transport = far.streams[0]._transport
            await wait_until(lambda: not transport.is_reading())
            assert len(far.seen) < total
            assert transport.get_write_buffer_size() > 0
            for _ in range(total):
                answer = await peer.receive()
                assert answer is not None
                assert len(answer.body) == len(body)
            assert len(far.seen) == total

    run()


def test_whom_a_certificate_names_is_known_to_the_stream(
    authority: Authority, server: TlsServerFiles
) -> None:
    operator = authority.issue("operator")

    @run_on_loop
    async def run() -> None:
        async with (
            secured(server) as (far, address),
            Peer.connect(address, client(authority, operator)) as named,
            Peer.connect(address, client(authority)) as nameless,
        ):
            await named.send_request(1)
            await nameless.send_request(1)
            assert [stream.subject for stream in far.streams] == ["CN=operator", None]

    run()


def test_what_the_server_says_by_itself_goes_through_tls(
    authority: Authority, server: TlsServerFiles
) -> None:
    @run_on_loop
    async def run() -> None:
        async with secured(server) as (far, address), Peer.connect(address, client(authority)) as peer:
            await peer.send_request(1)
            far.streams[0].send_command(RemotingCommand(905, flag=2))
            notice = await peer.receive()
            assert notice is not None
            assert notice.code == 905

    run()


def test_garbage_inside_closes_after_what_stood_before_it_was_answered(
    authority: Authority, server: TlsServerFiles
) -> None:
    @run_on_loop
    async def run() -> None:
        async with secured(server) as (far, address), Peer.connect(address, client(authority)) as peer:
            peer.send(codec.encode_command(build_request(1, body=b"one")) + GARBAGE)
            answer = await peer.receive()
            assert answer is not None
            assert answer.body == b"one"
            assert await peer.is_closed()
            await wait_until(lambda: far.gone)
            assert (len(far.gone), far.refusals) == (1, [])

    run()


def test_either_end_says_goodbye(authority: Authority, server: TlsServerFiles) -> None:
    @run_on_loop
    async def run() -> None:
        async with secured(server) as (far, address):
            async with Peer.connect(address, client(authority)) as peer:
                await peer.send_request(1)
                far.streams[0].close()
                # Without close_notify Python's own TLS would raise here.
                assert await peer.receive() is None
            async with Peer.connect(address, client(authority)) as peer:
                await peer.send_request(1)
            await wait_until(lambda: len(far.gone) == 2)
            far.streams[1].send_command(RemotingCommand(1))
            far.streams[1].close()
            assert far.refusals == []

    run()


def test_a_client_that_trusts_another_is_told_of(
    authority: Authority, server: TlsServerFiles, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stranger = Authority(tmp_path_factory.mktemp("stranger"), "another CA")

    @run_on_loop
    async def run() -> None:
        async with secured(server) as (far, address), Peer.connect(address) as peer:
            near = TlsClient(stranger.ca).create_connection("127.0.0.1")
            with pytest.raises(TlsError):
                await shake(peer, near)
            peer.send(near.drain_outgoing())
            await wait_until(lambda: far.refusals)
            assert far.refusals == ["does not trust this server's certificate (unknown ca)"]
            await wait_until(lambda: far.gone)

    run()


class Queue(FairScheduler):
    """Turns that are taken when the test says so."""

    def __init__(self) -> None:
        super().__init__(lambda: 0.0)
        self.waiting: list[TakeTurn] = []

    def add_work(self, take_turn: TakeTurn) -> None:
        self.waiting.append(take_turn)

    def take(self) -> None:
        for take_turn in [self.waiting.pop(0) for _ in self.waiting[:]]:
            if take_turn():
                self.add_work(take_turn)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_step_of_a_handshake_waits_for_its_turn_and_holds_up_nobody_who_is_through(
    authority: Authority, server: TlsServerFiles, version: ssl.TLSVersion
) -> None:
    @run_on_loop
    async def run() -> None:
        allowance = StreamQuotas()
        allowance.fair_scheduler = queue = Queue()
        tls = TlsClient(authority.ca)
        tls.ssl_context.minimum_version = tls.ssl_context.maximum_version = version
        async with secured(server, allowance) as (far, address), Peer.connect(address) as peer:
            near = tls.create_connection("127.0.0.1")
            near.feed_bytes(b"")
            peer.send(near.drain_outgoing())
            await wait_until(lambda: queue.waiting)
            transport = far.streams[0]._transport
            assert not transport.is_reading()
            # It says what it likes, as who is held by a test does: nothing is read before its turn.
            far.streams[0].hold_reading()
            far.streams[0].release_reading()
            await asyncio.sleep(0)
            assert not transport.is_reading()
            steps = 0
            while not near.is_ready:
                await wait_until(lambda: queue.waiting)
                queue.take()
                steps += 1
                near.feed_bytes(await peer._reader.read(1 << 16))
                if near.is_ready:
                    near.write_bytes(codec.encode_command(build_request(1, body=b"at once")))
                peer.send(near.drain_outgoing())
            if version == ssl.TLSVersion.TLSv1_3:
                await wait_until(lambda: queue.waiting)
                queue.take()
            await wait_until(lambda: far.seen)
            assert far.seen[0].body == b"at once"
            near.write_bytes(codec.encode_command(build_request(1, body=b"later")))
            peer.send(near.drain_outgoing())
            await wait_until(lambda: len(far.seen) == 2)
            assert not queue.waiting

    run()


def test_who_goes_while_he_waits_for_his_turn_is_gone(authority: Authority, server: TlsServerFiles) -> None:
    @run_on_loop
    async def run() -> None:
        allowance = StreamQuotas()
        allowance.fair_scheduler = queue = Queue()
        async with secured(server, allowance) as (far, address), Peer.connect(address) as peer:
            near = TlsClient(authority.ca).create_connection("127.0.0.1")
            near.feed_bytes(b"")
            peer.send(near.drain_outgoing())
            await wait_until(lambda: queue.waiting)
            far.streams[0].abort()
            await wait_until(lambda: far.gone)
            queue.take()
            assert not far.refusals

    run()


def test_half_a_handshake_ends_after_a_while_and_is_heard_of(server: TlsServerFiles) -> None:
    @run_on_loop
    async def run() -> None:
        async with secured(server) as (far, address), Peer.connect(address) as peer:
            peer.send(bytes.fromhex("1603010200"))
            await wait_until(lambda: far.streams and isinstance(far.streams[0]._transport, TlsTransport))
            far.streams[0].send_command(RemotingCommand(905, flag=2))
            assert await peer.is_closed()
            await wait_until(lambda: far.gone)
            assert far.refusals == ["did not finish its TLS handshake within 0.05 s"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protocol_detection, "HANDSHAKE_SECONDS", 0.05)
        run()


def test_bytes_that_only_begin_like_tls_are_refused(server: TlsServerFiles) -> None:
    @run_on_loop
    async def run() -> None:
        async with secured(server) as (far, address), Peer.connect(address) as peer:
            peer.send(b"\x16" + b"\xff" * 100)
            reader = asyncio.create_task(peer._reader.read())
            # An alert, at most.
            assert len(await reader) < 10
            await wait_until(lambda: far.gone)
            assert len(far.refusals) == 1

    run()


def test_bytes_that_are_spoiled_on_the_way_end_the_connection(
    authority: Authority, server: TlsServerFiles
) -> None:
    @run_on_loop
    async def run() -> None:
        async with secured(server) as (far, address), Peer.connect(address) as peer:
            near = TlsClient(authority.ca).create_connection("127.0.0.1")
            await shake(peer, near)
            near.write_bytes(codec.encode_command(build_request(1, body=b"whole")))
            peer.send(near.drain_outgoing())
            await wait_until(lambda: far.seen)
            near.write_bytes(codec.encode_command(build_request(1, body=b"spoiled")))
            peer.send(near.drain_outgoing()[:-1] + b"?")
            await wait_until(lambda: far.gone)
            assert [command.body for command in far.seen] == [b"whole"]
            assert far.refusals == ["ended the TLS handshake: decryption failed or bad record mac"]

    run()


@dataclass
class Stepping:
    """A work clock that goes on by as much as the test says with each look at it."""

    step: float = 0.0
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@asynccontextmanager
async def forged(
    authority: Authority,
    server: TlsServerFiles,
    folder: Path,
    allowance: StreamQuotas | None = None,
    version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
) -> AsyncIterator[tuple[Far, Peer, RecordForge | OldRecordForge]]:
    """A connection whose further records are made by hand; it has been answered once."""
    tls, key_log, first = TlsClient(authority.ca), folder / "keys", b""
    tls.ssl_context.minimum_version = tls.ssl_context.maximum_version = version
    tls.ssl_context.keylog_filename = str(key_log)
    async with secured(server, allowance) as (far, address), Peer.connect(address) as peer:
        near = tls.create_connection("127.0.0.1")
        data = b""
        while not near.is_ready:
            near.feed_bytes(data)
            peer.send(near.drain_outgoing())
            data = b"" if near.is_ready else await peer._reader.read(1 << 16)
            first = first or data
        forge: RecordForge | OldRecordForge = (
            RecordForge(near, key_log)
            if version == ssl.TLSVersion.TLSv1_3
            else OldRecordForge(near, key_log, first)
        )
        peer.send(forge.data(codec.encode_command(build_request(1, body=b"first"))))
        await wait_until(lambda: far.seen)
        yield far, peer, forge


def question(body: bytes) -> bytes:
    return codec.encode_command(build_request(1, body=body))


def empty_record(forge: RecordForge | OldRecordForge) -> bytes:
    return forge.key_update() if isinstance(forge, RecordForge) else forge.renegotiation()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_connection_that_sends_many_records_without_data_is_closed(
    authority: Authority, server: TlsServerFiles, tmp_path: Path, version: ssl.TLSVersion
) -> None:
    @run_on_loop
    async def run() -> None:
        async with forged(authority, server, tmp_path, version=version) as (far, peer, forge):
            peer.send(b"".join(empty_record(forge) for _ in range(1000)))
            await wait_until(lambda: far.gone)
            assert far.refusals == ["sent more than 32 TLS records without data in a row"]

    run()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_few_records_without_data_are_no_reason_to_close(
    authority: Authority, server: TlsServerFiles, tmp_path: Path, version: ssl.TLSVersion
) -> None:
    @run_on_loop
    async def run() -> None:
        async with forged(authority, server, tmp_path, version=version) as (far, peer, forge):
            for number in range(3):
                empty = b"".join(empty_record(forge) for _ in range(32))
                peer.send(empty + forge.data(question(b"%d" % number)))
            await wait_until(lambda: len(far.seen) == 4)
            assert [command.body for command in far.seen] == [b"first", b"0", b"1", b"2"]
            assert not far.refusals

    run()


def test_records_without_data_are_read_in_turns(
    authority: Authority, server: TlsServerFiles, tmp_path: Path
) -> None:
    @run_on_loop
    async def run() -> None:
        allowance = StreamQuotas(work_clock=(clock := Stepping()))
        async with forged(authority, server, tmp_path, allowance) as (far, peer, forge):
            assert isinstance(forge, RecordForge)
            allowance.fair_scheduler = queue = Queue()
            transport = far.streams[0]._transport
            peer.send(b"".join(forge.key_update() for _ in range(12)) + forge.data(question(b"behind them")))
            await wait_until(lambda: queue.waiting)
            assert not transport.is_reading()
            clock.step = TURN_SECONDS / 3
            turns = 0
            while queue.waiting:
                queue.take()
                turns += 1
            assert turns > 3
            assert [command.body for command in far.seen] == [b"first", b"behind them"]
            assert transport.is_reading()
            # From now on it takes turns for whatever it sends.
            peer.send(forge.data(question(b"later")))
            await wait_until(lambda: queue.waiting)
            queue.take()
            assert far.seen[-1].body == b"later"

    run()


def test_much_data_is_decrypted_in_turns(authority: Authority, server: TlsServerFiles) -> None:
    @run_on_loop
    async def run() -> None:
        allowance = StreamQuotas(work_clock=(clock := Stepping()))
        async with (
            secured(server, allowance) as (far, address),
            Peer.connect(address, client(authority)) as peer,
        ):
            await peer.send_request(1)
            allowance.fair_scheduler = queue = Queue()
            clock.step = TURN_SECONDS / 3
            peer.send(question(bytes(1 << 20)))
            turns = 0
            while len(far.seen) < 2:
                await wait_until(lambda: queue.waiting)
                queue.take()
                turns += 1
            # Its 64 records and more, of 16 KiB at most.
            assert turns >= 16
            assert len(far.seen[1].body) == 1 << 20
            answer = await peer.receive()
            assert answer is not None
            assert len(answer.body) == 1 << 20

    run()


def test_a_connection_whose_decryption_takes_long_rests_and_is_read_again(
    authority: Authority, server: TlsServerFiles, tmp_path: Path
) -> None:
    @run_on_loop
    async def run() -> None:
        allowance = StreamQuotas(work_clock=(clock := Stepping()))
        async with forged(authority, server, tmp_path, allowance) as (far, peer, forge):
            [stream] = far.streams
            clock.step = 0.0011
            for number in range(20):
                peer.send(empty_record(forge) + forge.data(question(b"%d" % number)))
            await wait_until(lambda: stream.rate_limiter.is_resting)
            assert not stream._socket_transport.is_reading()
            clock.step = 0.0
            await wait_until(lambda: len(far.seen) == 21)
            assert not stream.rate_limiter.is_resting

    run()


def test_what_tls_adds_counts_as_bytes_of_the_connection(
    authority: Authority, server: TlsServerFiles, tmp_path: Path
) -> None:
    @run_on_loop
    async def run() -> None:
        async with forged(authority, server, tmp_path) as (far, peer, forge):
            [stream] = far.streams
            before = stream.byte_count
            sent = b"".join(empty_record(forge) for _ in range(10)) + forge.data(question(b"second"))
            peer.send(sent)
            await wait_until(lambda: len(far.seen) == 2)
            assert stream.byte_count - before == len(sent)

    run()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [1, 3, 28, 130, 2000])
def test_records_are_read_however_they_are_cut(
    authority: Authority, server: TlsServerFiles, tmp_path: Path, version: ssl.TLSVersion, size: int
) -> None:
    @run_on_loop
    async def run() -> None:
        async with forged(authority, server, tmp_path, version=version) as (far, peer, forge):
            data = b"".join(forge.data(question(b"%d" % number)) + empty_record(forge) for number in range(8))
            for begin in range(0, len(data), size):
                peer.send(data[begin : begin + size])
                await asyncio.sleep(0)
            await wait_until(lambda: len(far.seen) == 9)
            assert [command.body for command in far.seen[1:]] == [b"%d" % number for number in range(8)]

    run()


def test_a_connection_asks_for_no_second_handshake(
    authority: Authority, server: TlsServerFiles, tmp_path: Path
) -> None:
    @run_on_loop
    async def run() -> None:
        version = ssl.TLSVersion.TLSv1_2
        async with forged(authority, server, tmp_path, version=version) as (far, peer, forge):
            [stream] = far.streams
            transport = stream._transport
            assert isinstance(transport, TlsTransport)
            session = transport._ssl_object.session_reused, transport._ssl_object.cipher()
            await peer._reader.read(1 << 16)
            peer.send(empty_record(forge))
            # An alert: "no_renegotiation".
            assert (await peer._reader.read(1 << 16))[:3] == b"\x15\3\3"
            peer.send(forge.data(question(b"later")))
            await wait_until(lambda: len(far.seen) == 2)
            assert (transport._ssl_object.session_reused, transport._ssl_object.cipher()) == session

    run()
