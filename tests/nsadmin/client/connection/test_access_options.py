"""Access as a whole: signed requests through TLS, and secrets that are nowhere to be seen."""

from pathlib import Path

import pytest

from namesrv_core.protocol.acl_signature import compute_signature, signed_content
from nsadmin import Access, AdminClient, Credentials, Tls
from nsadmin.client import BadSettings, NoneReachable
from tests.support.certificates import Authority
from tests.support.fake_servers import FakeBroker, FakeNameServer, Server

WHO = Credentials("operator", "top secret", "token of one day")


def signed_by(server: Server, who: Credentials) -> list[bool]:
    """Of each request that the server got: whether this identity signed what arrived."""
    return [
        compute_signature(who.secret_key, signed_content({k: v or "" for k, v in ext.items()}, asked.body))
        == ext.get("Signature")
        and (ext["AccessKey"], ext.get("SecurityToken")) == (who.access_key, who.security_token)
        for asked in server.asked
        for ext in [dict(asked.ext or {})]
    ]


def test_every_request_to_name_servers_and_brokers_is_signed() -> None:
    with FakeBroker() as broker, FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as server:
        server.routes = {"T": {"broker-a": 6}}
        with AdminClient(server.addr, access=Access(credentials=WHO)) as admin:
            admin.clusters.list_broker_status()
            admin.topics.get_route("T")
            admin.kv.put_value("n", "k", "Türkei")
        assert signed_by(broker, WHO) == [True] * len(broker.asked) != []
        assert signed_by(server, WHO) == [True] * len(server.asked) != []
        assert not any(signed_by(server, WHO._replace(secret_key="other")))


def test_without_credentials_nothing_is_signed() -> None:
    with FakeNameServer() as server, AdminClient(server.addr) as admin:
        admin.clusters.list_broker_status()
        assert [dict(asked.ext or {}) for asked in server.asked] == [{}] * len(server.asked)


def test_signed_and_through_tls_to_all_servers(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    operator, servers = authority.issue("operator"), authority.issue("servers").for_servers(authority.ca)
    tls = Tls(authority.ca, operator.cert, authority.lock_key(operator, "sesame"), "sesame")
    access, stranger = Access(credentials=WHO, tls=tls), Access(tls=Tls(operator.cert))
    with FakeBroker(tls=servers) as broker, FakeNameServer(tls=servers) as server:
        server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        with AdminClient(server.addr, access=access) as admin:
            [status] = admin.clusters.list_broker_status()
        assert status.broker_addr == broker.addr
        assert signed_by(broker, WHO) == [True] * len(broker.asked) != []
        with AdminClient(server.addr, access=stranger) as admin, pytest.raises(NoneReachable) as caught:
            admin.clusters.list_broker_status()
        assert "not by a trusted CA: pass the CA file with --tlsCa FILE" in str(caught.value)


def test_files_that_cannot_be_used_are_told_before_anybody_is_asked(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(BadSettings, match=r"cannot read the TLS CA file .*: No such file"):
        AdminClient("h:1", access=Access(tls=Tls(missing)))


def test_no_representation_shows_a_secret() -> None:
    representation = repr(Access(credentials=WHO, tls=Tls(key_password="sesame", server_name="broker")))
    assert "operator" in representation
    assert "server_name='broker'" in representation
    for secret in ("top secret", "token of one day", "sesame"):
        assert secret not in representation
