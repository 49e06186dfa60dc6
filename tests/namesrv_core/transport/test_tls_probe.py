"""The certificates that servers show, to whoever shakes hands with them."""

import ssl
from pathlib import Path

import pytest

from namesrv_core.transport.multiplexed_client import CallError
from namesrv_core.transport.tls_client import TlsClient, name_of_certificate
from namesrv_core.transport.tls_probe import can_connect, fetch_certificates
from tests.support.certificates import Authority
from tests.support.fake_servers import Server, closed_port

ANYBODY = TlsClient(is_verifying=False)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def test_a_certificate_that_nobody_trusts_is_seen(authority: Authority) -> None:
    with Server(tls=authority.issue("broker").for_servers()) as server:
        assert [name_of_certificate(c) for c in fetch_certificates(server.addr, ANYBODY, 5)] == ["broker"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_so_is_that_of_a_server_that_demands_one(authority: Authority, version: ssl.TLSVersion) -> None:
    context = authority.issue("strict").for_servers(authority.ca)
    context.minimum_version = context.maximum_version = version
    with Server(tls=context) as server:
        assert [
            name_of_certificate(certificate) for certificate in fetch_certificates(server.addr, ANYBODY, 5)
        ] == ["strict", "test CA"]


def test_who_speaks_no_tls_shows_nothing() -> None:
    with Server() as server:
        assert fetch_certificates(server.addr, ANYBODY, 5) == []


def test_who_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(CallError) as caught:
        fetch_certificates(f"127.0.0.1:{closed_port()}", ANYBODY, 5)
    assert (caught.value.kind, caught.value.reason) == ("unconnected", "Connection refused")
    with pytest.raises(CallError, match="invalid address"):
        fetch_certificates("nowhere", ANYBODY, 5)


def test_whether_connections_are_taken_is_seen_without_a_word() -> None:
    with Server() as server:
        assert can_connect(server.addr, 5)
    assert server.asked == []
    assert not can_connect(f"127.0.0.1:{closed_port()}", 5)
    assert not can_connect("no address", 5)
