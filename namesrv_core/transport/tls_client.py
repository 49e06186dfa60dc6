"""The client side of TLS as bytes in and bytes out, without a socket.

Every error message names the setting that fixes the problem. Import this module only if TLS is used, because
`ssl` costs a command 10 ms.
"""

import re
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from namesrv_core.errors import BadSettings, RocketMQError

_CHUNK_BYTES = 256 * 1024
_PEM_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\s")
_UNTRUSTED_CODES = (2, 18, 19, 20, 21)  # X509_V_ERR_…: issuer unknown, self-signed, self-signed in the chain
_NOT_YET_VALID_CODE, _EXPIRED_CODE = 9, 10
_OTHER_NAME_CODES = (62, 64)
_PLAIN_TEXT_REASONS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE", "RECORD_LAYER_FAILURE")
_NO_CERTIFICATE_ALERTS = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "HANDSHAKE_FAILURE")
_REFUSAL_ALERTS = (
    *_NO_CERTIFICATE_ALERTS, "UNKNOWN_CA", "CERTIFICATE_EXPIRED", "CERTIFICATE_REVOKED",
    "CERTIFICATE_UNKNOWN",
    "UNSUPPORTED_CERTIFICATE", "ACCESS_DENIED", "DECRYPT_ERROR",
)  # fmt: skip


class TlsError(RocketMQError):
    """The TLS handshake with a server failed. The message gives the reason and the setting to change."""


class TlsClient:
    """The TLS settings of all connections: trusted authorities and the client's identity. Files are PEM.

    `ca_file` holds the trusted authorities; None trusts the system's. The key may be part of `cert_file`.
    `server_name` is the name that certificates must contain; None stands for the host of the connection.
    Raises BadSettings, in one line without the password, for unusable files.
    """

    def __init__(
        self,
        ca_file: Path | None = None,
        cert_file: Path | None = None,
        key_file: Path | None = None,
        key_password: str | None = None,
        server_name: str | None = None,
        is_verifying: bool = True,
    ) -> None:
        # create_default_context of Python 3.13 is stricter, and most private authorities fail its checks.
        self.ssl_context = context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        if not is_verifying:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if is_verifying or ca_file is not None:
            trust_authorities(context, ca_file)
        if cert_file is not None:
            load_identity(context, cert_file, key_file or cert_file, key_password, "client's")
        elif key_file is not None:
            raise BadSettings(f'key "{key_file}" without a certificate: pass --tlsCert FILE')
        self._has_certificate = cert_file is not None
        self._server_name = server_name
        if server_name is not None:
            try:
                self.create_connection(server_name)
            except ValueError:
                raise BadSettings(f'invalid TLS server name "{server_name}"') from None

    def create_connection(self, server_host: str) -> "TlsConnection":
        """Create the TLS state of a new connection. The host is a name or an IP address without brackets."""
        return TlsConnection(
            self.ssl_context, self._server_name or server_host.partition("%")[0], self._has_certificate
        )


class TlsConnection:
    """The TLS state of a connection.

    Pass received bytes to `feed_bytes`, plain bytes to `write_bytes` once `is_ready`, and send what
    `drain_outgoing` returns. Feeding no bytes starts the handshake. After `is_closed` no more data follows.
    """

    def __init__(self, ssl_context: ssl.SSLContext, server_name: str, has_certificate: bool) -> None:
        self._incoming_bio, self._outgoing_bio = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl_object = ssl_context.wrap_bio(
            self._incoming_bio, self._outgoing_bio, server_hostname=server_name
        )
        self._server_name = server_name
        self._has_certificate = has_certificate
        self.is_ready = False
        self.is_closed = False

    def feed_bytes(self, received: bytes) -> bytes:
        """Decrypt received bytes. Raises TlsError on failure; then send `drain_outgoing` again."""
        self._incoming_bio.write(received)
        plain = bytearray()
        try:
            if not self.is_ready:
                self._ssl_object.do_handshake()
                self.is_ready = True
            while chunk := self._ssl_object.read(_CHUNK_BYTES):
                plain += chunk
            self.is_closed = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLCertVerificationError as error:
            raise TlsError(self._describe_distrust(error)) from None
        except ssl.SSLError as error:
            if not plain:
                raise TlsError(self._describe_refusal(error)) from None
            self.is_closed = True
        return bytes(plain)

    def write_bytes(self, plain: bytes) -> None:
        self._ssl_object.write(plain)

    def drain_outgoing(self) -> bytes:
        return self._outgoing_bio.read()

    def _describe_distrust(self, error: ssl.SSLCertVerificationError) -> str:
        certificate = self._server_certificate()
        if error.verify_code in _UNTRUSTED_CODES:
            subject_name, issuer_name = (
                _find_common_name(certificate, "subject"),
                _find_common_name(certificate, "issuer"),
            )
            signer = "itself" if subject_name == issuer_name else f'"{issuer_name}"'
            return (
                f"its certificate is signed by {signer}, not by a trusted CA: pass the CA file "
                f"with --tlsCa FILE"
            )
        if error.verify_code in _OTHER_NAME_CODES:
            names = ", ".join(f"{kind} {name}" for kind, name in certificate.get("subjectAltName", ()))
            names = names or f"CN {_find_common_name(certificate, 'subject')}"
            expected = f"not {self._server_name}: pass the name with --tlsServerName"
            return f"its certificate names {names}, {expected}"
        if error.verify_code == _EXPIRED_CODE:
            return f"its certificate has expired{_format_moment(' on', certificate.get('notAfter'))}"
        if error.verify_code == _NOT_YET_VALID_CODE:
            return (
                f"its certificate is not valid "
                f"yet{_format_moment(', only from', certificate.get('notBefore'))}"
            )
        return f"its certificate is not valid: {error.verify_message}"

    def _describe_refusal(self, error: ssl.SSLError) -> str:
        reason = error.reason or "no reason given"
        _, is_alert, alert = reason.partition("_ALERT_")
        if not is_alert and reason in _PLAIN_TEXT_REASONS and not self.is_ready:
            return "does not use TLS: omit --tls"
        # A handshake that fails before the server presents a certificate is about versions and ciphers.
        if alert in _REFUSAL_ALERTS and self._server_certificate():
            if self._has_certificate:
                return f"rejects the client certificate ({format_alert(alert)}): check --tlsCert"
            if alert in _NO_CERTIFICATE_ALERTS:
                return "requires a client certificate: pass --tlsCert and --tlsKey (cert_file, key_file)"
        return f"the TLS handshake failed: {format_alert(alert or reason)}"

    def _server_certificate(self) -> Mapping[str, Any]:
        """The server's certificate, trusted or not; empty if it has presented none."""
        presented = self.presented_certificates()
        return presented[0] if presented else {}

    def presented_certificates(self) -> list[dict[str, Any]]:
        """The certificates that the server has presented, trusted or not, its own first.

        Each has the form of `ssl.SSLSocket.getpeercert`. Before Python 3.13 no public API returns a
        certificate that was refused.
        """
        try:
            chain = self._ssl_object._sslobj.get_unverified_chain()  # type: ignore[attr-defined]
            return [dict(certificate.get_info()) for certificate in chain or ()]
        except (AttributeError, ValueError, ssl.SSLError):
            return []


def trust_authorities(ssl_context: ssl.SSLContext, ca_file: Path | None) -> None:
    """Trust the authorities in a file, or the system's if None. Raises BadSettings."""
    if ca_file is None:
        ssl_context.load_default_certs()
        return
    read_tls_file("CA", ca_file)
    try:
        ssl_context.load_verify_locations(ca_file)
    except ssl.SSLError:
        raise BadSettings(f'no PEM certificate in the CA file "{ca_file}"') from None


def load_identity(
    ssl_context: ssl.SSLContext, cert_file: Path, key_file: Path, key_password: str | None, owner: str
) -> None:
    """Load a certificate and its key. `owner` names the owner in messages. Raises BadSettings."""
    data, key_bytes = read_tls_file("certificate", cert_file), read_tls_file("key", key_file)
    if b"-----BEGIN CERTIFICATE-----" not in data:
        raise BadSettings(f'no PEM certificate in the {owner} certificate file "{cert_file}"')
    if b"PRIVATE KEY-----" not in key_bytes:
        raise BadSettings(f'no PEM private key in the {owner} key file "{key_file}"')
    is_key_encrypted = b"ENCRYPTED" in key_bytes
    if is_key_encrypted and key_password is None:
        raise BadSettings(f'the {owner} key "{key_file}" is encrypted: give its password')
    try:
        # Pass an empty password, because without one OpenSSL prompts on the terminal.
        ssl_context.load_cert_chain(cert_file, key_file, key_password or "")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            problem = f'the {owner} key "{key_file}" does not match the certificate "{cert_file}"'
        elif is_key_encrypted:
            problem = f'wrong password for the {owner} key "{key_file}"'
        else:
            problem = f'the {owner} certificate "{cert_file}" or key "{key_file}" is damaged'
        raise BadSettings(problem) from None


def read_tls_file(file_kind: str, path: Path) -> bytes:
    """Read a TLS file. Raises BadSettings that names the file; errors of `ssl` do not name it."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadSettings(f'cannot read the TLS {file_kind} file "{path}": {error.strerror}') from None


def read_certificates(pem_path: Path) -> list[dict[str, Any]]:
    """Read the certificates of a PEM file in order. Raises BadSettings if there is none."""
    from tempfile import NamedTemporaryFile

    records = []
    for block in _PEM_CERTIFICATE.findall(read_tls_file("certificate", pem_path)):
        # Python's public API reads only certificates of authorities. Python's own tests read others this way.
        with NamedTemporaryFile(suffix=".pem") as file:
            file.write(block)
            file.flush()
            try:
                records.append(dict(ssl._ssl._test_decode_cert(file.name)))  # type: ignore[attr-defined]
            except (ssl.SSLError, ValueError):
                raise BadSettings(f'damaged certificate in "{pem_path}"') from None
    if not records:
        raise BadSettings(f'no PEM certificate in "{pem_path}"')
    return records


def expiry_seconds(record: Mapping[str, Any]) -> int:
    return int(ssl.cert_time_to_seconds(record["notAfter"]))


def name_of_certificate(record: Mapping[str, Any]) -> str:
    return _find_common_name(record, "subject")


def _find_common_name(record: Mapping[str, Any], name_field: str) -> str:
    """The common name, or the last part of a distinguished name without one."""
    parts = [(name, value) for part in record.get(name_field, ()) for name, value in part]
    return dict(parts).get("commonName") or next((value for _, value in reversed(parts)), "unnamed")


def _format_moment(prefix_text: str, text: str | None) -> str:
    if text is None:
        return ""
    return f"{prefix_text} {datetime.fromtimestamp(ssl.cert_time_to_seconds(text), UTC):%Y-%m-%dT%H:%M:%SZ}"


def format_alert(reason: str) -> str:
    return reason.lower().replace("_", " ")
