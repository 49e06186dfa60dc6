"""Certificates of servers and of files."""

import time
from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings
from nsadmin import Access, AdminClient
from nsadmin.client.access.certificates import NoTls, read_certificate_file
from tests.support.certificates import Authority, CertificatePair
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port

DAY = 86_400


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def test_each_server_shows_its_own(authority: Authority) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    context = authority.issue("old", days=-1).for_servers()
    with FakeBroker(tls=context) as broker, FakeNameServer() as plain, AdminClient(plain.addr) as admin:
        old, none, silent = admin.certificates.get_first_expiring([broker.addr, plain.addr, gone])
        assert admin.certificates.get_first_expiring([]) == []
    assert old.result is not None
    assert old.result.subject_name == "old"
    assert -1.01 * DAY < old.result.ends_at_seconds - time.time() < -0.99 * DAY
    assert isinstance(none.error, NoTls)
    assert (silent.addr, str(silent.error)) == (gone, f"{gone}: Connection refused")


def test_a_mapped_broker_is_reached_where_it_is(authority: Authority) -> None:
    with FakeBroker(tls=authority.issue("b").for_servers()) as broker:
        access = Access(address_map=(("10.0.0.1:10911", broker.addr),))
        with AdminClient("h:1", access=access) as admin:
            [expiring] = admin.certificates.get_first_expiring(["10.0.0.1:10911"])
    assert expiring.addr == "10.0.0.1:10911"
    assert expiring.result is not None


def test_all_certificates_of_a_file(authority: Authority, tmp_path: Path) -> None:
    short, longer = authority.issue("short", days=1), authority.issue("longer", days=9)
    both = tmp_path / "both.pem"
    both.write_bytes(b"a comment\n" + short.cert.read_bytes() + longer.cert.read_bytes())
    assert [certificate.subject_name for certificate in read_certificate_file(both)] == ["short", "longer"]
    first, second = read_certificate_file(both)
    assert 7.99 * DAY < second.ends_at_seconds - first.ends_at_seconds < 8.01 * DAY


def test_what_is_no_certificate(authority: Authority, tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"no PEM certificate in"):
        read_certificate_file(authority.issue("k").key)
    with pytest.raises(BadSettings, match=r"cannot read the TLS certificate file .*: No such file"):
        read_certificate_file(tmp_path / "missing.pem")
    damaged = tmp_path / "damaged.pem"
    damaged.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(BadSettings, match=r'damaged certificate in ".*"'):
        read_certificate_file(damaged)


def test_the_server_s_own_certificate_and_whether_anybody_else_signed_it(authority: Authority) -> None:
    signed, own = (
        authority.issue("signed").for_servers(),
        CertificatePair(authority.ca, authority._key).for_servers(),
    )
    with FakeBroker(tls=signed) as signed_broker, FakeBroker(tls=own) as other, AdminClient("h:1") as admin:
        certificates = admin.certificates.get_own([signed_broker.addr, other.addr])
    assert [
        (certificate.result.subject_name, certificate.result.is_self_signed)
        for certificate in certificates
        if certificate.result
    ] == [
        ("signed", False),
        ("test CA", True),
    ]
