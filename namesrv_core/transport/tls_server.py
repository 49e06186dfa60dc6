"""TLS of the answering end: what a server shows and demands, and what was wrong with a client.

Contexts are never changed once they are in use: a renewed certificate makes a new one.
"""

import hashlib
import os
import ssl
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.transport import tls
from namesrv_core.transport.suites import ANY, Offer, restrict

_DAYS = 3650
_DEMANDS = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "require": ssl.CERT_REQUIRED}
_DISTRUST = (
    "UNKNOWN_CA",
    "BAD_CERTIFICATE",
    "CERTIFICATE_UNKNOWN",
    "CERTIFICATE_EXPIRED",
    "CERTIFICATE_REVOKED",
)
_NOTHING_IN_COMMON = ("UNSUPPORTED_PROTOCOL", "NO_SHARED_CIPHER", "UNKNOWN_PROTOCOL", "WRONG_VERSION_NUMBER")
_SHORT = {
    "commonName": "CN", "countryName": "C", "domainComponent": "DC", "localityName": "L",
    "organizationName": "O", "organizationalUnitName": "OU", "stateOrProvinceName": "ST",
    "streetAddress": "STREET", "userId": "UID",
}  # fmt: skip


class ServerFiles(NamedTuple):
    """What a server's TLS is made of, PEM all of it. `trust` is whose certificates are taken from clients,
    the system's authorities if None; `clients` is "none", "optional" or "require", as upstream names them.
    `offer` is what is spoken.
    """

    cert: Path
    key: Path
    key_password: str | None = None
    clients: str = "none"
    trust: Path | None = None
    offer: Offer = ANY

    def digest(self) -> bytes:
        """Changes with what is in the files. BadSettings where one cannot be read."""
        content = hashlib.sha256()
        files = (("certificate", self.cert), ("key", self.key), ("CA", self.trust))
        for what, file in files:
            content.update(hashlib.sha256(b"" if file is None else tls.read(what, file)).digest())
        return content.digest()


def context(files: ServerFiles) -> ssl.SSLContext:
    """A context of these files, of TLS 1.2 and 1.3. BadSettings, in one line, where they cannot be used."""
    made = _empty(files.offer)
    tls.identify(made, files.cert, files.key, files.key_password, "server's")
    made.verify_mode = _DEMANDS[files.clients]
    if made.verify_mode != ssl.CERT_NONE:
        made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        tls.trust(made, files.trust)
    return made


def _empty(offer: Offer) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    restrict(made, offer)
    made.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    return made


def self_signed(offer: Offer = ANY) -> ssl.SSLContext:
    """A context with a certificate of its own making, for clients that verify nothing: the test mode."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    made = _empty(offer)
    # OpenSSL takes certificates from files only; this one is nobody else's and gone at once.
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(secret + certificate.public_bytes(pem))
        file.flush()
        made.load_cert_chain(file.name)
    return made


def refusal(error: ssl.SSLError) -> str:
    """Why no TLS came about with a client, or why it ended, as what that client did."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"shows a certificate that is refused: {error.verify_message}"
    reason = error.reason or "no reason given"
    _, is_alert, alert = reason.partition("_ALERT_")
    if reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
        return "shows no certificate, which is demanded here"
    if is_alert and alert in _DISTRUST:
        return f"does not trust this server's certificate ({tls.words(alert)})"
    if reason in _NOTHING_IN_COMMON:
        return f"has no version or cipher of TLS in common with this server ({tls.words(reason)})"
    return f"broke off TLS: {tls.words(alert or reason)}"


def distinguished_name(shown: Mapping[str, Any]) -> str:
    """Whose certificate it is, as RFC 4514 and Java write it: "CN=operator,OU=ops,O=Example"."""
    parts = shown.get("subject", ())
    return ",".join(
        "+".join(f"{_SHORT.get(key, key)}={_escaped(value)}" for key, value in part)
        for part in reversed(parts)
    )


def _escaped(value: str) -> str:
    text = "".join(f"\\{character}" if character in ',+"\\<>;' else character for character in value)
    if text.startswith((" ", "#")):
        text = f"\\{text}"
    return f"{text[:-1]}\\ " if text.endswith(" ") and len(value) > 1 else text
