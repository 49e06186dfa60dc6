"""Name servers from a properties file and from an endpoint; what is kept for the day it fails."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import AdminClient
from nsadmin.client.connection.addresses import BadAddress, NameServerList
from nsadmin.client.connection.discovery import build_endpoint_url, from_endpoint, from_file
from tests.support.endpoint import FakeEndpoint
from tests.support.fake_servers import FakeNameServer, closed_port


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with FakeEndpoint("a:9876;b:1") as running:
        yield running


@pytest.mark.parametrize(
    ("parts", "url"),
    [
        ((), "http://jmenv.tbsite.net:8080/rocketmq/nsaddr"),
        (("ns.example",), "http://ns.example:8080/rocketmq/nsaddr"),
        (("ns.example:80",), "http://ns.example:80/rocketmq/nsaddr"),
        (("ns.example", "blue"), "http://ns.example:8080/rocketmq/blue"),
        (("ns.example", "nsaddr", "unit1"), "http://ns.example:8080/rocketmq/nsaddr-unit1?nofix=1"),
        (("http://ns.example/list",), "http://ns.example/list"),
        (("https://ns.example:8443/",), "https://ns.example:8443/rocketmq/nsaddr"),
        (("http://ns.example", "blue", "u"), "http://ns.example/rocketmq/blue-u?nofix=1"),
    ],
)
def test_the_url_follows_the_rules_of_javas_clients(parts: tuple[str, ...], url: str) -> None:
    assert build_endpoint_url(*parts) == url


@pytest.mark.parametrize("text", ["", ":8080", "ftp://a/b", "http://", "a:b", "http://u:p@a/x", "a b", "a:0"])
def test_what_is_no_endpoint_is_refused(text: str) -> None:
    with pytest.raises(BadAddress, match=r'invalid endpoint ".*": use http://HOST:PORT/rocketmq/nsaddr'):
        build_endpoint_url(text)


def test_an_endpoint_is_asked_as_javas_clients_ask_it(endpoint: FakeEndpoint) -> None:
    addrs = from_endpoint(endpoint.domain, unit_name="unit1")
    url = f"http://{endpoint.domain}/rocketmq/nsaddr-unit1?nofix=1"
    assert addrs == NameServerList(("a:9876", "b:1"), "endpoint", url)
    [(path, headers)] = endpoint.asked
    assert path == "/rocketmq/nsaddr-unit1?nofix=1"
    assert headers["Client-Version"] == "V5_5_0"
    assert headers["Content-Type"] == "application/x-www-form-urlencoded;charset=UTF-8"
    assert headers["Metaq-Client-RequestTS"].isdigit()


@pytest.mark.parametrize(
    "text", ["  a:1;b:2\n", "a:1;b:2\r\nc:3", "a:1;b:2\nc:3\n", "\n\n a:1;b:2\rc:3\nd:4", "a:1,b:2;"]
)
def test_only_the_first_line_counts(endpoint: FakeEndpoint, text: str) -> None:
    endpoint.text = text
    assert from_endpoint(endpoint.url).addrs == ("a:1", "b:2")


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (404, "a:1", "HTTP status 404 instead of 200"),
        (204, "", "HTTP status 204 instead of 200"),
        (503, "a:1", "HTTP status 503 instead of 200"),
        (200, " \r\n", "the answer has no name server"),
        (200, "<p>a</p>", 'the answer is not a list of name servers: invalid address "<p>a</p>"'),
    ],
)
def test_what_is_no_answer_is_one_line_with_the_url(
    endpoint: FakeEndpoint, status: int, text: str, said: str
) -> None:
    endpoint.status, endpoint.text = status, text
    with pytest.raises(CallError) as failed:
        from_endpoint(endpoint.url)
    assert str(failed.value).startswith(f"{endpoint.url}: the endpoint returned no name servers: {said}")


def test_where_nothing_listens_the_reason_is_told() -> None:
    url = f"http://127.0.0.1:{closed_port()}/rocketmq/nsaddr"
    with pytest.raises(CallError, match=r"^http://127\.0\.0\.1.*refused"):
        from_endpoint(url)


def test_a_redirect_is_followed(endpoint: FakeEndpoint) -> None:
    with FakeEndpoint(status=302) as moved:
        moved.headers = {"Location": endpoint.url}
        assert from_endpoint(moved.url).addrs == ("a:9876", "b:1")


def test_an_answer_that_is_no_list_is_quoted_in_part(endpoint: FakeEndpoint) -> None:
    endpoint.text = "/" * 65536
    with pytest.raises(CallError) as failed:
        from_endpoint(endpoint.url)
    assert len(str(failed.value)) < 400


def test_when_an_endpoint_fails_what_it_said_last_counts_and_that_is_noted(
    endpoint: FakeEndpoint, tmp_path: Path
) -> None:
    cache = tmp_path / "deep" / "cache"
    assert from_endpoint(endpoint.url, cache_folder=cache).note is None
    endpoint.status = 500
    addrs = from_endpoint(endpoint.url, cache_folder=cache)
    assert addrs[:3] == (("a:9876", "b:1"), "endpoint", endpoint.url)
    assert addrs.note is not None
    assert addrs.note.startswith(f"endpoint {endpoint.url}: HTTP status 500 instead of 200; using its answer")
    assert addrs.note.endswith(": a:9876;b:1")
    with pytest.raises(CallError):
        from_endpoint(endpoint.url, unit_name="other", cache_folder=cache)
    [file] = cache.iterdir()
    file.write_text('{"namesrvAddr": "", "time": 1}')
    with pytest.raises(CallError):
        from_endpoint(endpoint.url, cache_folder=cache)


def test_a_cache_that_cannot_be_written_is_done_without(endpoint: FakeEndpoint, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert from_endpoint(endpoint.url, cache_folder=tmp_path / "file").addrs == ("a:9876", "b:1")


@pytest.mark.parametrize(
    "text",
    [
        "namesrvAddr=a:1;b:2",
        "rocketmq.namesrv.addr = a:1;b:2",
        "# of a client\nrocketmq.namesrv.addr=c:3\nnamesrvAddr: a:1;\\\n  b:2\n",
    ],
)
def test_a_properties_file_names_them(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(text)
    assert from_file(file) == NameServerList(("a:1", "b:2"), "file", str(file))


@pytest.mark.parametrize(
    "keys",
    [
        ("rocketmq.namesrv.domain", "rocketmq.namesrv.domain.subgroup"),
        ("rmqAddressServerDomain", "rmqAddressServerSubGroup"),
    ],
)
def test_a_properties_file_may_name_an_endpoint(
    endpoint: FakeEndpoint, tmp_path: Path, keys: tuple[str, str]
) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(f"{keys[0]}={endpoint.domain}\n{keys[1]}=blue\nunitName=u\n")
    url = f"http://{endpoint.domain}/rocketmq/blue-u?nofix=1"
    assert from_file(file) == NameServerList(("a:9876", "b:1"), "endpoint", url)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("brokerName=a\n", "has none of namesrvAddr, rocketmq.namesrv.addr, rmqAddressServerDomain"),
        ("namesrvAddr=a:b\n", 'invalid address "a:b"'),
        ("namesrvAddr=\\u12", "is not a valid properties file"),
        ("rocketmq.namesrv.domain=a/b@c", "invalid endpoint"),
        (None, "is not readable: No such file or directory"),
    ],
)
def test_a_file_that_does_not_help_is_one_line_with_its_name(
    tmp_path: Path, text: str | None, said: str
) -> None:
    file = tmp_path / "broker.conf"
    if text is not None:
        file.write_text(text)
    with pytest.raises(BadAddress) as failed:
        from_file(file)
    assert str(failed.value).startswith(str(file))
    assert said in str(failed.value)


def test_a_client_looks_for_name_servers_when_it_asks_the_first(endpoint: FakeEndpoint) -> None:
    with FakeNameServer({"C": {}}) as server, AdminClient(lambda: from_endpoint(endpoint.url)) as admin:
        endpoint.text = server.addr
        assert admin.brokers.get_runtime_info([]) == []
        assert endpoint.asked == []
        assert admin.clusters.get_info().cluster_names == ("C",)
        assert admin.clusters.get_info().cluster_names == ("C",)
        assert len(endpoint.asked) == 1
        assert admin.addresses.origin == endpoint.url
