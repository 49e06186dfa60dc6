"""TLS against a server of Python's own, in memory: what is said, and each thing that can be wrong."""

import ssl
from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.transport.tls_client import TlsClient, TlsConnection, TlsError
from tests.support.certificates import Authority, CertificatePair

VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("stranger"), "another CA")


@pytest.fixture(scope="module")
def pair(authority: Authority) -> CertificatePair:
    return authority.issue("broker", "DNS:broker.example,IP:127.0.0.1")


class Far:
    """The server's end."""

    def __init__(self, context: ssl.SSLContext, version: ssl.TLSVersion | None = None) -> None:
        if version is not None:
            context.minimum_version = context.maximum_version = version
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.is_ready = False
        self.heard = b""

    def take(self, data: bytes) -> bytes:
        """Take bytes of the client, in the handshake or after it; the bytes for the client."""
        self._incoming.write(data)
        try:
            if not self.is_ready:
                self.tls.do_handshake()
                self.is_ready = True
            while chunk := self.tls.read(65536):
                self.heard += chunk
        except ssl.SSLError:
            pass
        return self._outgoing.read()


def talk(near: TlsConnection, far: Far) -> None:
    """Carry bytes to and fro until both have nothing to say."""
    near.feed_bytes(b"")
    for _ in range(8):
        far_output = far.take(near.drain_outgoing())
        if far_output:
            near.feed_bytes(far_output)


def failure(client: TlsClient, far: Far, host: str = "127.0.0.1") -> str:
    near = client.create_connection(host)
    with pytest.raises(TlsError) as caught:
        talk(near, far)
    return str(caught.value)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("host", ["127.0.0.1", "broker.example"])
def test_both_ends_understand_each_other(
    authority: Authority, pair: CertificatePair, version: ssl.TLSVersion, host: str
) -> None:
    near, far = TlsClient(authority.ca).create_connection(host), Far(pair.for_servers(), version)
    assert not near.is_ready
    talk(near, far)
    assert near.is_ready
    near.write_bytes(b"question" * 100_000)
    answer = far.take(near.drain_outgoing())
    assert far.heard == b"question" * 100_000
    far.tls.write(b"answer" * 100_000)
    answer += far.take(b"")
    halves = answer[: len(answer) // 2], answer[len(answer) // 2 :]
    assert near.feed_bytes(halves[0]) + near.feed_bytes(halves[1]) == b"answer" * 100_000


def test_a_goodbye_closes(authority: Authority, pair: CertificatePair) -> None:
    near, far = TlsClient(authority.ca).create_connection("127.0.0.1"), Far(pair.for_servers())
    talk(near, far)
    far.tls.write(b"last")
    with pytest.raises(ssl.SSLWantReadError):
        far.tls.unwrap()
    assert near.feed_bytes(far.take(b"")) == b"last"
    assert near.is_closed


def test_what_was_said_before_a_failure_is_not_lost(authority: Authority, pair: CertificatePair) -> None:
    near, far = TlsClient(authority.ca).create_connection("127.0.0.1"), Far(pair.for_servers())
    talk(near, far)
    far.tls.write(b"whole")
    assert near.feed_bytes(far.take(b"") + b"garbage of more than five bytes") == b"whole"
    assert near.is_closed


def test_an_unknown_ca_and_what_to_set(stranger: Authority, pair: CertificatePair) -> None:
    assert failure(TlsClient(stranger.ca), Far(pair.for_servers())) == (
        'its certificate is signed by "test CA", not by a trusted CA: pass the CA file with --tlsCa FILE'
    )
    assert 'signed by "test CA"' in failure(TlsClient(), Far(pair.for_servers()))


def test_a_certificate_that_signed_itself(authority: Authority, stranger: Authority) -> None:
    alone = CertificatePair(authority.ca, authority.ca.with_suffix(".key"))
    assert "is signed by itself, not by a trusted CA" in failure(
        TlsClient(stranger.ca), Far(alone.for_servers())
    )
    near = TlsClient(authority.ca, server_name="test CA").create_connection("127.0.0.1")
    talk(near, Far(alone.for_servers()))
    assert near.is_ready


def test_a_certificate_may_be_trusted_itself_and_not_its_authority(pair: CertificatePair) -> None:
    near = TlsClient(pair.cert).create_connection("127.0.0.1")
    talk(near, Far(pair.for_servers()))
    assert near.is_ready


@pytest.mark.parametrize("version", VERSIONS)
def test_another_name_and_what_the_certificate_names(
    authority: Authority, pair: CertificatePair, version: ssl.TLSVersion
) -> None:
    names = "its certificate names DNS broker.example, IP Address 127.0.0.1, not "
    hint = ": pass the name with --tlsServerName"
    client = TlsClient(authority.ca)
    assert failure(client, Far(pair.for_servers(), version), "10.0.0.1") == f"{names}10.0.0.1{hint}"
    assert failure(client, Far(pair.for_servers(), version), "other") == f"{names}other{hint}"
    assert "names CN nameless, not other" in failure(
        client, Far(authority.issue("nameless", None).for_servers()), "other"
    )


def test_the_name_to_expect_can_be_said(authority: Authority, pair: CertificatePair) -> None:
    near = TlsClient(authority.ca, server_name="broker.example").create_connection("10.0.0.1")
    talk(near, Far(pair.for_servers()))
    assert near.is_ready
    wrong = TlsClient(authority.ca, server_name="wrong.example")
    assert "not wrong.example" in failure(wrong, Far(pair.for_servers()))


def test_an_expired_certificate(authority: Authority) -> None:
    expired = authority.issue("expired", days=-1)
    text = failure(TlsClient(authority.ca), Far(expired.for_servers()))
    assert text.startswith("its certificate has expired on 20")
    assert text.endswith("Z")


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        (9, "certificate is not yet valid", "its certificate is not valid yet"),
        (24, "invalid CA certificate", "its certificate is not valid: invalid CA certificate"),
    ],
)
def test_rarer_reasons_for_distrust(code: int, message: str, said: str) -> None:
    error = ssl.SSLCertVerificationError(1, message)
    error.verify_code, error.verify_message = code, message
    assert TlsClient().create_connection("host")._describe_distrust(error) == said


def test_without_verification_anybody_is_taken(stranger: Authority) -> None:
    near = TlsClient(is_verifying=False).create_connection("other")
    talk(near, Far(stranger.issue("expired", days=-1).for_servers()))
    assert near.is_ready


@pytest.mark.parametrize("version", VERSIONS)
def test_a_server_that_demands_a_certificate(
    authority: Authority, stranger: Authority, pair: CertificatePair, version: ssl.TLSVersion
) -> None:
    def server() -> Far:
        return Far(pair.for_servers(authority.ca), version)

    assert failure(TlsClient(authority.ca), server()) == (
        "requires a client certificate: pass --tlsCert and --tlsKey (cert_file, key_file)"
    )
    unknown = stranger.issue("operator")
    assert failure(TlsClient(authority.ca, unknown.cert, unknown.key), server()) == (
        "rejects the client certificate (unknown ca): check --tlsCert"
    )
    operator = authority.issue("operator")
    near = TlsClient(authority.ca, operator.cert, operator.key).create_connection("127.0.0.1")
    talk(near, server())
    assert near.is_ready


def test_a_server_without_tls(authority: Authority) -> None:
    for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x10\0\0\0\x0c{}"):
        near = TlsClient(authority.ca).create_connection("127.0.0.1")
        near.feed_bytes(b"")
        with pytest.raises(TlsError, match=r"^does not use TLS: omit --tls$"):
            near.feed_bytes(answer)


def test_versions_of_tls_without_one_in_common(authority: Authority) -> None:
    near = TlsClient(authority.ca).create_connection("127.0.0.1")
    near.feed_bytes(b"")
    with pytest.raises(TlsError, match=r"^the TLS handshake failed: protocol version$"):
        near.feed_bytes(b"\x15\x03\x01\x00\x02\x02\x46")


def test_a_key_in_the_file_of_its_certificate_and_one_behind_a_password(
    authority: Authority, pair: CertificatePair, tmp_path: Path
) -> None:
    operator = authority.issue("operator")
    both = tmp_path / "both.pem"
    both.write_bytes(operator.cert.read_bytes() + operator.key.read_bytes())
    locked = authority.lock_key(operator, "sesame")
    for client in (TlsClient(authority.ca, both), TlsClient(authority.ca, operator.cert, locked, "sesame")):
        near = client.create_connection("127.0.0.1")
        talk(near, Far(pair.for_servers(authority.ca)))
        assert near.is_ready


def test_each_file_that_cannot_be_used_is_named(
    authority: Authority, pair: CertificatePair, tmp_path: Path
) -> None:
    operator, missing = authority.issue("operator"), tmp_path / "missing"
    locked = authority.lock_key(operator, "sesame")
    text, broken = tmp_path / "text", tmp_path / "broken"
    text.write_text("no PEM")
    broken.write_text("-----BEGIN PRIVATE KEY-----\nabcd\n-----END PRIVATE KEY-----\n")
    ca, cert, key = authority.ca, operator.cert, operator.key
    for arguments, message in (
        ((missing,), f'cannot read the TLS CA file "{missing}": No such file or directory'),
        ((tmp_path,), f'cannot read the TLS CA file "{tmp_path}": Is a directory'),
        ((text,), f'no PEM certificate in the CA file "{text}"'),
        ((ca, missing), f'cannot read the TLS certificate file "{missing}": No such file or directory'),
        ((ca, cert, missing), f'cannot read the TLS key file "{missing}": No such file or directory'),
        ((ca, text, key), f'no PEM certificate in the client\'s certificate file "{text}"'),
        ((ca, cert, text), f'no PEM private key in the client\'s key file "{text}"'),
        ((ca, cert), f'no PEM private key in the client\'s key file "{cert}"'),
        ((ca, cert, pair.key), f'the client\'s key "{pair.key}" does not match the certificate "{cert}"'),
        ((ca, cert, broken), f'the client\'s certificate "{cert}" or key "{broken}" is damaged'),
        ((ca, cert, locked), f'the client\'s key "{locked}" is encrypted: give its password'),
        ((ca, cert, locked, "swordfish"), f'wrong password for the client\'s key "{locked}"'),
        ((ca, None, key), f'key "{key}" without a certificate: pass --tlsCert FILE'),
        ((ca, None, None, None, ".x"), 'invalid TLS server name ".x"'),
    ):
        with pytest.raises(BadSettings) as caught:
            TlsClient(*arguments)
        assert str(caught.value) == message


def test_names_of_issuers_without_a_common_name_are_found() -> None:
    from namesrv_core.transport.tls_client import _find_common_name

    certificate_fields = {"issuer": ((("countryName", "DE"),), (("organizationName", "Example"),))}
    assert _find_common_name(certificate_fields, "issuer") == "Example"
    assert _find_common_name({}, "issuer") == "unnamed"
