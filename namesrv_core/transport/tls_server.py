"""The server side of TLS: contexts with certificates, and descriptions of what a client did wrong.

A context never changes once it is in use. A renewed certificate gets a new context.
"""

import hashlib
import os
import ssl
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import BadSettings
from namesrv_core.transport import tls_client
from namesrv_core.transport.cipher_suites import ANY_CIPHERS, CipherOffer, restrict_context

_VALIDITY_DAYS = 3650
_VERIFY_MODES = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "require": ssl.CERT_REQUIRED}
_DISTRUST_ALERTS = (
    "UNKNOWN_CA",
    "BAD_CERTIFICATE",
    "CERTIFICATE_UNKNOWN",
    "CERTIFICATE_EXPIRED",
    "CERTIFICATE_REVOKED",
)
_NOTHING_IN_COMMON_REASONS = (
    "UNSUPPORTED_PROTOCOL",
    "NO_SHARED_CIPHER",
    "UNKNOWN_PROTOCOL",
    "WRONG_VERSION_NUMBER",
)
_SHORT_ATTRIBUTE_NAMES = {
    "commonName": "CN", "countryName": "C", "domainComponent": "DC", "localityName": "L",
    "organizationName": "O", "organizationalUnitName": "OU", "stateOrProvinceName": "ST",
    "streetAddress": "STREET", "userId": "UID",
}  # fmt: skip


class TlsServerFiles(NamedTuple):
    """The PEM files and options of a server's TLS.

    `client_auth` is "none", "optional" or "require", as in upstream's settings. `trust_file` holds the
    authorities that client certificates are verified against; None stands for the system's.
    """

    cert_file: Path
    key_file: Path
    key_password: str | None = None
    client_auth: str = "none"
    trust_file: Path | None = None
    cipher_offer: CipherOffer = ANY_CIPHERS

    def compute_digest(self) -> bytes:
        """A digest of the files' content. Raises BadSettings if a file cannot be read."""
        content_hash = hashlib.sha256()
        files = (("certificate", self.cert_file), ("key", self.key_file), ("CA", self.trust_file))
        for kind, path in files:
            content_hash.update(
                hashlib.sha256(b"" if path is None else tls_client.read_tls_file(kind, path)).digest()
            )
        return content_hash.digest()


def build_server_context(files: TlsServerFiles) -> ssl.SSLContext:
    """Build a context for TLS 1.2 and 1.3. Raises BadSettings, in one line, for unusable files."""
    context = _build_empty_context(files.cipher_offer)
    tls_client.load_identity(context, files.cert_file, files.key_file, files.key_password, "server's")
    context.verify_mode = _VERIFY_MODES[files.client_auth]
    if context.verify_mode != ssl.CERT_NONE:
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        tls_client.trust_authorities(context, files.trust_file)
    return context


def _build_empty_context(cipher_offer: CipherOffer) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    restrict_context(context, cipher_offer)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    return context


def build_self_signed_context(cipher_offer: CipherOffer = ANY_CIPHERS) -> ssl.SSLContext:
    """Build a context with a self-signed certificate, for clients that do not verify it (test mode).

    Raises BadSettings if the package `cryptography` is not installed.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise BadSettings(
            "TLS test mode needs the Python package cryptography: install it, or set tls.server.certPath"
            " and tls.server.keyPath"
        ) from None

    private = ec.generate_private_key(ec.SECP256R1())
    common_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(common_name, common_name, private.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_VALIDITY_DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(private, hashes.SHA256())
    )
    pem_encoding = serialization.Encoding.PEM
    key_bytes = private.private_bytes(
        pem_encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = _build_empty_context(cipher_offer)
    # OpenSSL loads certificates only from files. This one is private and deleted at once.
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(key_bytes + certificate.public_bytes(pem_encoding))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def describe_refusal(error: ssl.SSLError) -> str:
    """Describe what a client did when its TLS connection failed or ended."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"presented an invalid certificate: {error.verify_message}"
    reason = error.reason or "no reason given"
    _, is_alert, alert = reason.partition("_ALERT_")
    if reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
        return "presented no certificate, but this server requires one"
    if is_alert and alert in _DISTRUST_ALERTS:
        return f"does not trust this server's certificate ({tls_client.format_alert(alert)})"
    if reason in _NOTHING_IN_COMMON_REASONS:
        return f"shares no TLS version or cipher with this server ({tls_client.format_alert(reason)})"
    return f"ended the TLS handshake: {tls_client.format_alert(alert or reason)}"


def distinguished_name(record: Mapping[str, Any]) -> str:
    """The subject of a certificate as RFC 4514 and Java write it: "CN=operator,OU=ops,O=Example"."""
    parts = record.get("subject", ())
    return ",".join(
        "+".join(f"{_SHORT_ATTRIBUTE_NAMES.get(name, name)}={_escape_value(value)}" for name, value in part)
        for part in reversed(parts)
    )


def _escape_value(value: str) -> str:
    escaped = "".join(map(_escape_character, value))
    if escaped.startswith((" ", "#")):
        escaped = f"\\{escaped}"
    return f"{escaped[:-1]}\\ " if escaped.endswith(" ") and len(value) > 1 else escaped


def _escape_character(character: str) -> str:
    if character < " " or "\x7f" <= character <= "\x9f":
        # RFC 4514, 2.4: the bytes in hexadecimal. "CN=ops" with a newline must not be taken for "CN=ops".
        return "".join(f"\\{byte:02X}" for byte in character.encode())
    return f"\\{character}" if character in ',+"\\<>;' else character
