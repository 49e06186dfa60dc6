"""A request to an endpoint that wants to be slow, endless, or somewhere else."""

from collections.abc import Iterator

import pytest

from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.endpoint_request import fetch_endpoint_text
from tests.support.endpoint import FakeEndpoint, SlowEndpoint


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with FakeEndpoint("a:9876;b:1") as running:
        yield running


def fetch(url: str, timeout_seconds: float = 60) -> str:
    return fetch_endpoint_text(url, {"Client-Version": "V5_5_0"}, timeout_seconds)


def test_the_headers_of_the_caller_are_sent(endpoint: FakeEndpoint) -> None:
    assert fetch(endpoint.url) == "a:9876;b:1"
    [(path, headers)] = endpoint.asked
    assert path == "/rocketmq/nsaddr"
    assert headers["Client-Version"] == "V5_5_0"
    assert headers["Accept-Encoding"] == "identity"


def test_an_error_in_the_thread_reaches_the_caller() -> None:
    with pytest.raises(CallError):
        fetch("http://127.0.0.1:0/")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://localhost:{port}/rocketmq/nsaddr", "redirects to another host, http://localhost:"),
        ("//[::1]:{port}/", "redirects to another host, http://[::1]:"),
        ("ftp://127.0.0.1:{port}/", "redirects to another host, ftp://127.0.0.1:"),
        ("", "HTTP status 302 instead of 200"),
    ],
)
def test_a_redirect_to_another_host_is_refused(endpoint: FakeEndpoint, location: str, said: str) -> None:
    port = endpoint.domain.rpartition(":")[2]
    with FakeEndpoint(status=302) as moved:
        moved.headers = {"Location": location.format(port=port)} if location else {}
        with pytest.raises(CallError) as failed:
            fetch(moved.url)
    assert said in failed.value.reason
    assert endpoint.asked == []


def test_redirects_in_a_circle_end() -> None:
    with FakeEndpoint(status=302) as moved:
        moved.headers = {"Location": moved.url}
        with pytest.raises(CallError, match="more than 5 redirects"):
            fetch(moved.url)
        assert len(moved.asked) == 6


HEAD = b"HTTP/1.1 200 OK\r\nX: " + b"y" * 40 + b"\r\n\r\n"


@pytest.mark.parametrize("begun", [b"", HEAD], ids=["headers", "body"])
def test_an_endpoint_that_drips_is_left_at_the_deadline(begun: bytes) -> None:
    answer = (HEAD + b"a:9876" + b" " * 60).removeprefix(begun)
    # The whole answer would take thirty times the time limit.
    pieces = [begun or answer[:1], *(bytes([byte]) for byte in answer[not begun :])]
    with SlowEndpoint(pieces, seconds=0.1) as slow:
        with pytest.raises(CallError, match=r"no answer within 0\.2 s"):
            fetch(slow.url, 0.2)
        # The connection is closed as well: the endpoint cannot send to the end.
        assert slow.ended.wait(60)
        assert slow.sent < len(begun + answer)


def test_an_answer_that_is_compressed_is_refused(endpoint: FakeEndpoint) -> None:
    endpoint.headers = {"Content-Encoding": "gzip"}
    with pytest.raises(CallError, match="the answer has the encoding gzip, which was not requested"):
        fetch(endpoint.url)
    assert endpoint.asked[0][1]["Accept-Encoding"] == "identity"


def test_an_answer_without_an_end_is_left_at_64_kib() -> None:
    with SlowEndpoint([b"HTTP/1.1 200 OK\r\n\r\n", *[b" " * 65536] * 1024]) as endless:
        with pytest.raises(CallError, match="the answer has more than 65536 bytes"):
            fetch(endless.url, 60)
        assert endless.ended.wait(60)
        assert endless.sent < 1024 * 65536


def test_an_answer_of_64_kib_is_read(endpoint: FakeEndpoint) -> None:
    endpoint.text = "a:1;b:2\n".ljust(65536)
    assert fetch(endpoint.url) == endpoint.text
