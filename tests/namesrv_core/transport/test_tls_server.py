"""The answering end of TLS in memory: contexts of files, and each thing that can be wrong with a client."""

import ssl
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.state.access_policy import AccessGrant, AccessRole, PeerIdentity
from namesrv_core.transport import tls_server
from namesrv_core.transport.tls_client import TlsClient
from namesrv_core.transport.tls_server import TlsServerFiles
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
    return authority.issue("name server")


@dataclass
class Outcome:
    """What both ends made of a handshake."""

    server: ssl.SSLObject
    refusal: str = ""
    reply: bytes = b""


def meet(server: ssl.SSLContext, client: ssl.SSLContext) -> Outcome:
    """Carry bytes to and fro; the client says "ping" as soon as it may."""
    ours, theirs = (ssl.MemoryBIO(), ssl.MemoryBIO()), (ssl.MemoryBIO(), ssl.MemoryBIO())
    far = client.wrap_bio(*theirs, server_hostname="localhost")
    near = server.wrap_bio(*ours, server_side=True)
    outcome = Outcome(near)
    ready: set[ssl.SSLObject] = set()
    for _ in range(8):
        for end, (_, out), (into, _) in ((far, theirs, ours), (near, ours, theirs)):
            try:
                if end not in ready:
                    end.do_handshake()
                    ready.add(end)
                    if end is far:
                        far.write(b"ping")
                data = end.read(100)
                if end is near:
                    outcome.reply = data
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError as error:
                if end is near:
                    outcome.refusal = tls_server.describe_refusal(error)
                    return outcome
            into.write(out.read())
    return outcome


def client(
    authority: Authority, pair: CertificatePair | None = None, version: ssl.TLSVersion | None = None
) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.ca))
    if pair is not None:
        context.load_cert_chain(*pair)
    if version is not None:
        context.minimum_version = context.maximum_version = version
    return context


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("asked", ["none", "optional"])
def test_clients_without_a_certificate_are_understood_where_none_is_required(
    authority: Authority, pair: CertificatePair, version: ssl.TLSVersion, asked: str
) -> None:
    files = TlsServerFiles(*pair, client_auth=asked, trust_file=authority.ca)
    outcome = meet(tls_server.build_server_context(files), client(authority, version=version))
    assert (outcome.reply, outcome.refusal) == (b"ping", "")
    assert not outcome.server.getpeercert()
    assert outcome.server.version() == version.name.replace("_", ".", 1).replace("v1_", "v1.")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("asked", ["optional", "require"])
def test_a_verified_client_has_a_name(
    authority: Authority, pair: CertificatePair, version: ssl.TLSVersion, asked: str
) -> None:
    operator = authority.issue("operator")
    files = TlsServerFiles(*pair, client_auth=asked, trust_file=authority.ca)
    outcome = meet(tls_server.build_server_context(files), client(authority, operator, version))
    assert outcome.reply == b"ping"
    certificate_fields = outcome.server.getpeercert()
    assert certificate_fields
    assert tls_server.distinguished_name(certificate_fields) == "CN=operator"


@pytest.mark.parametrize("asked", ["optional", "require"])
def test_each_client_that_is_refused_is_told_of_with_its_reason(
    authority: Authority, stranger: Authority, pair: CertificatePair, asked: str
) -> None:
    serving = tls_server.build_server_context(
        TlsServerFiles(*pair, client_auth=asked, trust_file=authority.ca)
    )
    unknown, old = stranger.issue("intruder"), authority.issue("late", days=-1)
    for client_context, message in (
        (unknown, "presented an invalid certificate: unable to get local issuer certificate"),
        (old, "presented an invalid certificate: certificate has expired"),
    ):
        assert meet(serving, client(authority, client_context)).refusal == message
    if asked == "require":
        assert (
            meet(serving, client(authority)).refusal
            == "presented no certificate, but this server requires one"
        )


def test_a_client_that_does_not_trust_the_server_says_so(stranger: Authority, pair: CertificatePair) -> None:
    serving = tls_server.build_server_context(TlsServerFiles(*pair))
    refusal = meet(serving, client(stranger)).refusal
    assert refusal == "does not trust this server's certificate (unknown ca)"


def test_versions_older_than_1_2_are_refused(authority: Authority, pair: CertificatePair) -> None:
    old = client(authority)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    refusal = meet(tls_server.build_server_context(TlsServerFiles(*pair)), old).refusal
    assert refusal == "shares no TLS version or cipher with this server (unsupported protocol)"


def test_a_certificate_of_its_own_making_suffices_for_clients_that_verify_nothing() -> None:
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    assert meet(tls_server.build_self_signed_context(), trusting).reply == b"ping"


def test_a_key_behind_a_password(authority: Authority, pair: CertificatePair) -> None:
    locked = authority.lock_key(pair, "sesame")
    assert (
        meet(
            tls_server.build_server_context(TlsServerFiles(pair.cert, locked, "sesame")), client(authority)
        ).reply
        == b"ping"
    )


def test_each_file_that_cannot_be_used_is_named(
    authority: Authority, pair: CertificatePair, tmp_path: Path
) -> None:
    other, text, missing = authority.issue("other"), tmp_path / "text", tmp_path / "missing"
    text.write_text("no PEM")
    locked = authority.lock_key(other, "sesame")
    cert, key = pair
    for files, message in (
        (TlsServerFiles(missing, key), f'cannot read the TLS certificate file "{missing}": No such file'),
        (
            TlsServerFiles(cert, missing),
            f'cannot read the TLS key file "{missing}": No such file or directory',
        ),
        (TlsServerFiles(text, key), f'no PEM certificate in the server\'s certificate file "{text}"'),
        (TlsServerFiles(cert, text), f'no PEM private key in the server\'s key file "{text}"'),
        (TlsServerFiles(cert, other.key), f'the server\'s key "{other.key}" does not match the certificate'),
        (TlsServerFiles(other.cert, locked), f'the server\'s key "{locked}" is encrypted: give its password'),
        (TlsServerFiles(other.cert, locked, "x"), f'wrong password for the server\'s key "{locked}"'),
        (TlsServerFiles(cert, key, client_auth="require", trust_file=text), "no PEM certificate in"),
        (
            TlsServerFiles(cert, key, client_auth="require", trust_file=missing),
            f'cannot read the TLS CA file "{missing}"',
        ),
    ):
        with pytest.raises(BadSettings) as caught:
            tls_server.build_server_context(files)
        assert message in str(caught.value)


def test_a_digest_changes_with_what_any_of_the_files_holds(authority: Authority, tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("c", "k", "t")]
    for name in names:
        name.write_text("1")
    files = TlsServerFiles(names[0], names[1], trust_file=names[2])
    digests = {files.compute_digest()}
    for name in names:
        name.write_text("2")
        digests.add(files.compute_digest())
    assert len(digests) == 4
    names[0].write_text("2")
    assert files.compute_digest() in digests
    names[2].unlink()
    with pytest.raises(BadSettings, match="CA file"):
        files.compute_digest()


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ((), ""),
        (
            ((("countryName", "DE"),), (("organizationName", "A, B"),), (("commonName", "x"),)),
            "CN=x,O=A\\, B,C=DE",
        ),
        (((("commonName", "a"), ("userId", "b")),), "CN=a+UID=b"),
        (((("commonName", " #x "),), (("emailAddress", 'a"+b'),)), 'emailAddress=a\\"\\+b,CN=\\ #x\\ '),
        (((("commonName", " "),),), "CN=\\ "),
        (((("commonName", "ops-1\n"),),), "CN=ops-1\\0A"),
        (((("commonName", "\x00a\x1f\x7f\x85 "),),), "CN=\\00a\\1F\\7F\\C2\\85\\ "),
    ],
)
def test_names_are_written_as_rfc_4514_has_them(subject: object, text: str) -> None:
    assert tls_server.distinguished_name({"subject": subject}) == text


def test_a_control_character_in_a_certificate_makes_another_subject(
    authority: Authority, pair: CertificatePair
) -> None:
    serving = tls_server.build_server_context(
        TlsServerFiles(*pair, client_auth="require", trust_file=authority.ca)
    )
    for name in ("ops-1\n", "ops-1\x1f", "\tops-1", "ops-1 "):
        certificate_fields = meet(serving, client(authority, authority.issue(name))).server.getpeercert()
        assert certificate_fields
        subject = tls_server.distinguished_name(certificate_fields)
        assert not AccessGrant(AccessRole.ADMIN, subject="CN=ops-1").covers_peer(PeerIdentity("", subject))


def test_a_client_of_ours_and_a_server_of_ours_agree(authority: Authority, pair: CertificatePair) -> None:
    near = TlsClient(authority.ca).create_connection("localhost")
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    far = tls_server.build_server_context(TlsServerFiles(*pair)).wrap_bio(
        incoming, outgoing, server_side=True
    )
    near.feed_bytes(b"")
    incoming.write(near.drain_outgoing())
    with pytest.raises(ssl.SSLWantReadError):
        far.do_handshake()
    near.feed_bytes(outgoing.read())
    assert near.is_ready


def test_without_cryptography_the_test_mode_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(
        BadSettings, match=r"Python package cryptography: install it, or set tls\.server\.certPath"
    ):
        tls_server.build_self_signed_context()
