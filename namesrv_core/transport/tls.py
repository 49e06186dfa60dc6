"""TLS of the asking end: fed what arrives and drained of what has to be sent, it knows no socket.

Its law: whatever goes wrong says which setting would put it right. Only who wants TLS imports this module, as
`ssl` costs a command 10 ms.
"""

import re
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from namesrv_core.errors import BadSettings, RocketMQError

_CHUNK = 256 * 1024
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\s", re.S)
_UNTRUSTED = (2, 18, 19, 20, 21)  # X509_V_ERR_…: issuer unknown, self-signed, self-signed in the chain
_NOT_YET_VALID, _EXPIRED = 9, 10
_OTHER_NAME = (62, 64)
_WITHOUT_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE", "RECORD_LAYER_FAILURE")
_NO_CERTIFICATE = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "HANDSHAKE_FAILURE")
_REFUSED = (
    *_NO_CERTIFICATE, "UNKNOWN_CA", "CERTIFICATE_EXPIRED", "CERTIFICATE_REVOKED", "CERTIFICATE_UNKNOWN",
    "UNSUPPORTED_CERTIFICATE", "ACCESS_DENIED", "DECRYPT_ERROR",
)  # fmt: skip


class TlsError(RocketMQError):
    """No TLS came about with this server; the text says why, and which setting would change that."""


class TlsClient:
    """What all connections have in common: whom to trust, and who this client is. Files are PEM.

    `ca_file` is whom to trust, the system's authorities if None. `key_file` may be part of `cert_file`.
    `server_name` is what certificates have to name, the host that is asked if None. BadSettings, in one line
    without the password, for what cannot be used.
    """

    def __init__(
        self,
        ca_file: Path | None = None,
        cert_file: Path | None = None,
        key_file: Path | None = None,
        key_password: str | None = None,
        server_name: str | None = None,
        verify: bool = True,
    ) -> None:
        # Without the strictness of create_default_context of 3.13, which self-made authorities rarely pass.
        self.context = context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        if not verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if verify or ca_file is not None:
            trust(context, ca_file)
        if cert_file is not None:
            identify(context, cert_file, key_file or cert_file, key_password, "client's")
        elif key_file is not None:
            raise BadSettings(f"a key without its certificate: {key_file} needs --tlsCert (cert_file)")
        self._has_certificate = cert_file is not None
        self._server_name = server_name
        if server_name is not None:
            self._check(server_name)

    def _check(self, server_name: str) -> None:
        try:
            self.connection(server_name)
        except ValueError:
            raise BadSettings(f"{server_name!r} cannot be the name of a TLS server") from None

    def connection(self, host: str) -> "TlsConnection":
        """A new connection's; `host` is a name or an IP address without brackets."""
        return TlsConnection(self.context, self._server_name or host.partition("%")[0], self._has_certificate)


class TlsConnection:
    """One connection's: `feed` what arrives, `write` what to say once `is_ready`, send what `drain` returns.

    It begins to talk when it is fed with nothing. After `is_closed` there is nothing more to come.
    """

    def __init__(self, context: ssl.SSLContext, server_name: str, has_certificate: bool) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name)
        self._server_name = server_name
        self._has_certificate = has_certificate
        self.is_ready = False
        self.is_closed = False

    def feed(self, data: bytes) -> bytes:
        """What the server says in `data`. TlsError if that ends the connection; `drain` has the last word."""
        self._incoming.write(data)
        said = bytearray()
        try:
            if not self.is_ready:
                self._tls.do_handshake()
                self.is_ready = True
            while chunk := self._tls.read(_CHUNK):
                said += chunk
            self.is_closed = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLCertVerificationError as error:
            raise TlsError(self._distrust(error)) from None
        except ssl.SSLError as error:
            if not said:
                raise TlsError(self._refusal(error)) from None
            self.is_closed = True
        return bytes(said)

    def write(self, data: bytes) -> None:
        """All of it: the outgoing buffer has no limit."""
        self._tls.write(data)

    def drain(self) -> bytes:
        """What has to be sent next."""
        return self._outgoing.read()

    def _distrust(self, error: ssl.SSLCertVerificationError) -> str:
        shown = self._certificate()
        if error.verify_code in _UNTRUSTED:
            subject, issuer = _common_name(shown, "subject"), _common_name(shown, "issuer")
            by = "itself" if subject == issuer else f"{issuer!r}"
            return (
                f"its certificate is signed by {by}, not by a trusted CA: name the CA with --tlsCa (ca_file)"
            )
        if error.verify_code in _OTHER_NAME:
            named = ", ".join(f"{kind} {name}" for kind, name in shown.get("subjectAltName", ()))
            named = named or f"CN {_common_name(shown, 'subject')}"
            expected = f"not {self._server_name}: say whom to expect with --tlsServerName (server_name)"
            return f"its certificate names {named}, {expected}"
        if error.verify_code == _EXPIRED:
            return f"its certificate has expired{_moment(' on', shown.get('notAfter'))}"
        if error.verify_code == _NOT_YET_VALID:
            return f"its certificate is not valid yet{_moment(', only from', shown.get('notBefore'))}"
        return f"its certificate is refused here: {error.verify_message}"

    def _refusal(self, error: ssl.SSLError) -> str:
        reason = error.reason or "no reason given"
        _, is_alert, alert = reason.partition("_ALERT_")
        if not is_alert and reason in _WITHOUT_TLS and not self.is_ready:
            return "speaks no TLS: ask it without --tls (tls)"
        # A handshake that fails before the server showed itself is about versions and ciphers.
        if alert in _REFUSED and self._certificate():
            if self._has_certificate:
                return f"refuses this client's certificate ({words(alert)}): see --tlsCert (cert_file)"
            if alert in _NO_CERTIFICATE:
                return "demands a client certificate: give --tlsCert and --tlsKey (cert_file, key_file)"
        return f"no TLS came about: {words(alert or reason)}"

    def _certificate(self) -> Mapping[str, Any]:
        """What the server's certificate tells, trusted or not; empty where it has shown none."""
        shown = self.shown()
        return shown[0] if shown else {}

    def shown(self) -> list[dict[str, Any]]:
        """What the certificates tell that the server has shown, its own first, trusted or not.

        Each is as `ssl.SSLSocket.getpeercert` has it. Before 3.13 there is no public way to see one that was
        refused.
        """
        try:
            chain = self._tls._sslobj.get_unverified_chain()  # type: ignore[attr-defined]
            return [dict(one.get_info()) for one in chain or ()]
        except (AttributeError, ValueError, ssl.SSLError):
            return []


def trust(context: ssl.SSLContext, ca_file: Path | None) -> None:
    """Take certificates of the authorities in a file, the system's if None. BadSettings."""
    if ca_file is None:
        context.load_default_certs()
        return
    read("CA", ca_file)
    try:
        context.load_verify_locations(ca_file)
    except ssl.SSLError:
        raise BadSettings(f"the CA file {ca_file} has no certificate in PEM form") from None


def identify(
    context: ssl.SSLContext, cert_file: Path, key_file: Path, password: str | None, whose: str
) -> None:
    """Show this certificate from now on; `whose` it is, in words. BadSettings."""
    certificate, key = read("certificate", cert_file), read("key", key_file)
    if b"-----BEGIN CERTIFICATE-----" not in certificate:
        raise BadSettings(f"the {whose} certificate {cert_file} is no certificate in PEM form")
    if b"PRIVATE KEY-----" not in key:
        raise BadSettings(f"the {whose} key {key_file} is no private key in PEM form")
    is_locked = b"ENCRYPTED" in key
    if is_locked and password is None:
        raise BadSettings(f"the {whose} key {key_file} is encrypted: it needs its password")
    try:
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(cert_file, key_file, password or "")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            why = f"the {whose} key {key_file} does not belong to the certificate {cert_file}"
        elif is_locked:
            why = f"the password does not open the {whose} key {key_file}"
        else:
            why = f"the {whose} certificate {cert_file} or key {key_file} is damaged"
        raise BadSettings(why) from None


def read(what: str, file: Path) -> bytes:
    """Python names no file when it cannot read one of these."""
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise BadSettings(f"the TLS {what} file {file} cannot be read: {error.strerror}") from None


def in_file(path: Path) -> list[dict[str, Any]]:
    """What the certificates of a PEM file tell, in their order. BadSettings where there is none."""
    from tempfile import NamedTemporaryFile

    found = []
    for text in _PEM.findall(read("certificate", path)):
        # Python reads certificates of authorities only; this is how its own tests read others.
        with NamedTemporaryFile(suffix=".pem") as one:
            one.write(text)
            one.flush()
            try:
                found.append(dict(ssl._ssl._test_decode_cert(one.name)))  # type: ignore[attr-defined]
            except (ssl.SSLError, ValueError):
                raise BadSettings(f"a certificate in {path} is damaged") from None
    if not found:
        raise BadSettings(f"{path} has no certificate in PEM form")
    return found


def ends_at(shown: Mapping[str, Any]) -> int:
    """Until when a certificate is valid, in seconds since 1970."""
    return int(ssl.cert_time_to_seconds(shown["notAfter"]))


def name_of(shown: Mapping[str, Any]) -> str:
    """Whose certificate it is."""
    return _common_name(shown, "subject")


def _common_name(shown: Mapping[str, Any], of: str) -> str:
    """The common name, or the last part of a name without one."""
    parts = [(key, value) for part in shown.get(of, ()) for key, value in part]
    return dict(parts).get("commonName") or next((value for _, value in reversed(parts)), "nobody named")


def _moment(words: str, text: str | None) -> str:
    if text is None:
        return ""
    return f"{words} {datetime.fromtimestamp(ssl.cert_time_to_seconds(text), UTC):%Y-%m-%dT%H:%M:%SZ}"


def words(reason: str) -> str:
    return reason.lower().replace("_", " ")
