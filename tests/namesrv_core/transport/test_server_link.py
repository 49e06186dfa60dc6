"""Links with TLS between real sockets: handshakes that are slow, end early or never end, and large bodies."""

import select
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EPIPE
from pathlib import Path
from threading import Event, Thread

import pytest

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from namesrv_core.transport.multiplexed_client import CallError, MultiplexedClient
from namesrv_core.transport.server_link import ServerLink
from namesrv_core.transport.tls_client import TlsClient
from tests.support.certificates import Authority, CertificatePair
from tests.support.fake_servers import Server, answer_garbage, answer_hang_up


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def pair(authority: Authority) -> CertificatePair:
    return authority.issue("broker")


@pytest.fixture
def calls(authority: Authority) -> Iterator[MultiplexedClient]:
    with MultiplexedClient(tls_client=TlsClient(authority.ca)) as running:
        yield running


def echo(asked: RemotingCommand) -> RemotingCommand:
    return build_reply(asked, ext=dict(asked.ext or {}), body=asked.body)


@contextmanager
def raw(serve: Callable[[socket.socket], object]) -> Iterator[str]:
    """A server that does with its first connection what it is told; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run() -> None:
            peer, _ = listener.accept()
            with peer:
                serve(peer)

        thread = Thread(target=run)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(5)


def answering(data: bytes) -> Callable[[socket.socket], None]:
    """Reads what the client says first, and says this."""

    def serve(peer: socket.socket) -> None:
        peer.recv(65536)
        peer.sendall(data)

    return serve


def error_of(calls: MultiplexedClient, addr: str, code: int = 1, timeout: float = 5) -> CallError:
    [answer] = calls.send_requests([(addr, build_request(code))], timeout)
    assert isinstance(answer, CallError)
    return answer


def answers(calls: MultiplexedClient, addr: str, *requests: RemotingCommand) -> list[RemotingCommand]:
    results = calls.send_requests([(addr, request) for request in requests], 20)
    assert all(isinstance(answer, RemotingCommand) for answer in results), results
    return [answer for answer in results if isinstance(answer, RemotingCommand)]


def test_calls_go_through_one_connection(calls: MultiplexedClient, pair: CertificatePair) -> None:
    with Server({1: echo}, tls=pair.for_servers()) as server:
        for _ in range(3):
            replies = answers(calls, server.addr, build_request(1, {"n": "0"}), build_request(1, {"n": "1"}))
            assert [answer.ext for answer in replies] == [{"n": "0"}, {"n": "1"}]
        assert len(server.connections) == 1


def test_a_host_name_is_what_a_certificate_has_to_name(
    calls: MultiplexedClient, pair: CertificatePair, authority: Authority
) -> None:
    with Server({1: echo}, tls=pair.for_servers()) as server:
        answers(calls, f"localhost:{server.port}", build_request(1))
    with Server({1: echo}, tls=authority.issue("far", "DNS:far.example").for_servers()) as server:
        error = error_of(calls, f"localhost:{server.port}")
        assert error.reason.startswith("its certificate names DNS far.example, not localhost")


def test_ipv6_in_brackets(calls: MultiplexedClient, pair: CertificatePair) -> None:
    with Server({1: echo}, host="::1", tls=pair.for_servers()) as server:
        answers(calls, server.addr, build_request(1))


def test_large_bodies_go_both_ways(calls: MultiplexedClient, pair: CertificatePair) -> None:
    body = bytes(range(256)) * 40_000
    with Server({1: echo}, tls=pair.for_servers()) as server:
        replies = answers(
            calls, server.addr, build_request(1, body=body), build_request(1), build_request(1, body=body)
        )
    assert [a.body == e for a, e in zip(replies, (body, b"", body), strict=True)] == [True] * 3


def test_more_calls_than_may_be_unanswered_all_get_their_answer(
    authority: Authority, pair: CertificatePair
) -> None:
    tls = TlsClient(authority.ca)
    with (
        Server({1: echo}, tls=pair.for_servers()) as server,
        MultiplexedClient(max_unanswered=2, tls_client=tls) as calls,
    ):
        assert len(answers(calls, server.addr, *(build_request(1) for _ in range(20)))) == 20


def test_a_handshake_in_single_bytes(calls: MultiplexedClient, pair: CertificatePair) -> None:
    """What arrives in pieces, as over a slow line, is put together."""
    with Server({1: echo}, tls=pair.for_servers()) as server:

        def relay(peer: socket.socket) -> None:
            with socket.create_connection(("127.0.0.1", server.port)) as far:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                back = Thread(target=copy, args=(far, peer, 7))
                back.start()
                copy(peer, far, 1)
                back.join(5)

        with raw(relay) as addr:
            answers(calls, addr, build_request(1))
            calls.close()


def copy(source: socket.socket, target: socket.socket, size: int) -> None:
    try:
        while data := source.recv(size):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def test_a_handshake_that_never_ends_takes_the_timeout_and_holds_up_nobody(
    calls: MultiplexedClient, pair: CertificatePair
) -> None:
    done = Event()
    with raw(lambda peer: done.wait(10)) as slow, Server({1: echo}, tls=pair.for_servers()) as server:
        late, fine = calls.send_requests([(slow, build_request(1)), (server.addr, build_request(1))], 1)
        done.set()
    assert isinstance(late, CallError)
    assert (late.kind, late.reason) == ("unconnected", "no TLS handshake within 1 s")
    assert not late.was_sent
    assert isinstance(fine, RemotingCommand)


def test_a_server_that_hangs_up_in_the_handshake(calls: MultiplexedClient) -> None:
    with raw(lambda peer: peer.recv(65536)) as addr:
        error = error_of(calls, addr)
    assert (error.kind, error.was_sent) == ("untrusted", False)
    assert (
        error.reason == "closed the connection during the TLS handshake; if it does not use TLS, omit --tls"
    )


def test_a_server_that_resets_the_handshake(calls: MultiplexedClient) -> None:
    with raw(lambda peer: peer.recv(1)) as addr:
        error = error_of(calls, addr)
    assert error.kind == "untrusted"
    assert error.reason.startswith(
        "closed the connection during the TLS handshake; if it does not use TLS, omit --tls"
    )


def test_a_server_without_tls(calls: MultiplexedClient) -> None:
    with raw(answering(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as addr:
        error = error_of(calls, addr)
    assert (error.kind, error.reason) == ("untrusted", "does not use TLS: omit --tls")


def test_a_client_without_tls(pair: CertificatePair) -> None:
    with MultiplexedClient() as calls:
        with raw(answering(b"\x15\x03\x01\x00\x02\x02\x46")) as addr:
            error = error_of(calls, addr)
        assert (error.kind, error.reason) == ("unreadable", "uses TLS: add --tls")
        with Server({1: echo}, tls=pair.for_servers()) as server:
            error = error_of(calls, server.addr)
        assert "--tls" in error.reason


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_demands_a_certificate(
    calls: MultiplexedClient, authority: Authority, pair: CertificatePair, version: ssl.TLSVersion
) -> None:
    context = pair.for_servers(authority.ca)
    context.minimum_version = context.maximum_version = version
    operator = authority.issue("operator")
    with Server({1: echo}, tls=context) as server:
        error = error_of(calls, server.addr)
        assert (error.kind, error.was_sent) == ("untrusted", False)
        assert error.reason.startswith("requires a client certificate")
        with MultiplexedClient(tls_client=TlsClient(authority.ca, operator.cert, operator.key)) as known:
            answers(known, server.addr, build_request(1))


@pytest.mark.parametrize("is_told", [True, False])
def test_the_reason_is_read_though_sending_fails_first(
    calls: MultiplexedClient,
    authority: Authority,
    pair: CertificatePair,
    monkeypatch: pytest.MonkeyPatch,
    is_told: bool,
) -> None:
    real = ServerLink.flush_queued

    def flush(link: ServerLink) -> None:
        real(link)
        if link.is_ready:
            assert link.tcp_socket is not None
            if is_told:
                # The server's refusal has come in.
                assert select.select([link.tcp_socket], [], [], 5)[0]
            raise BrokenPipeError(EPIPE, "Broken pipe")

    monkeypatch.setattr(ServerLink, "flush_queued", flush)
    with Server({1: echo}, tls=pair.for_servers(authority.ca if is_told else None)) as server:
        error = error_of(calls, server.addr)
    if is_told:
        assert error.kind == "untrusted"
        assert error.reason.startswith("requires a client certificate")
    else:
        assert (error.kind, error.reason) == (
            "closed",
            "closed the connection without an answer (Broken pipe)",
        )


def test_a_wrong_server_hears_no_request(pair: CertificatePair, tmp_path: Path) -> None:
    stranger = Authority(tmp_path / "stranger", "another CA")
    with Server({1: echo}, tls=pair.for_servers()) as server:
        with MultiplexedClient(tls_client=TlsClient(stranger.ca)) as calls:
            error = error_of(calls, server.addr)
        assert (error.kind, error.was_sent) == ("untrusted", False)
        assert server.asked == []


def test_a_server_that_hangs_up_after_the_handshake(calls: MultiplexedClient, pair: CertificatePair) -> None:
    with Server({4: answer_hang_up}, tls=pair.for_servers()) as server:
        error = error_of(calls, server.addr, 4)
    assert (error.kind, error.reason) == ("closed", "closed the connection without an answer")


def test_an_answer_that_is_no_frame(calls: MultiplexedClient, pair: CertificatePair) -> None:
    with Server({3: answer_garbage}, tls=pair.for_servers()) as server:
        error = error_of(calls, server.addr, 3)
    assert error.kind == "unreadable"
    assert error.reason.startswith("sent data that is not a RocketMQ frame")


def test_after_a_goodbye_the_next_call_takes_a_fresh_connection(
    calls: MultiplexedClient, pair: CertificatePair
) -> None:
    is_answered, is_said, is_over = Event(), Event(), Event()

    def say_goodbye(asked: RemotingCommand) -> None:
        """In the thread of the connection: two threads must not use TLS's state at the same time."""
        [first] = server.connections
        assert isinstance(first, ssl.SSLSocket)
        first.sendall(codec.encode_command(build_reply(asked)))
        assert is_answered.wait(20)
        # It does not wait for ours: its socket stays open.
        first.setblocking(False)
        with suppress(ssl.SSLWantReadError):
            first.unwrap()
        is_said.set()
        is_over.wait(20)

    with Server({1: echo, 2: say_goodbye}, tls=pair.for_servers()) as server:
        answers(calls, server.addr, build_request(2))
        is_answered.set()
        assert is_said.wait(20)
        answers(calls, server.addr, build_request(1))
        assert len(server.connections) == 2
        is_over.set()
