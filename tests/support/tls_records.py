"""TLS records of a client, made by hand: Python's TLS can send no KeyUpdate and ask for no renegotiation."""

import ssl
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, HashAlgorithm
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from namesrv_core.transport.tls_client import TlsConnection

_HANDSHAKE, _DATA = 22, 23
_HASHES: dict[str, tuple[HashAlgorithm, int]] = {
    "TLS_AES_256_GCM_SHA384": (SHA384(), 32),
    "TLS_AES_128_GCM_SHA256": (SHA256(), 16),
    "ECDHE-RSA-AES256-GCM-SHA384": (SHA384(), 32),
    "ECDHE-ECDSA-AES256-GCM-SHA384": (SHA384(), 32),
}


class RecordForge:
    """The next records of a TLS 1.3 client. The peer's own TLS object must write nothing any more."""

    def __init__(self, near: TlsConnection, key_log: Path) -> None:
        self._hash, self._key_size = _HASHES[_cipher_name(near._ssl_object)]
        [(_, secret)] = _logged_secrets(key_log, "CLIENT_TRAFFIC_SECRET_0")
        self._use_secret(secret)

    def _use_secret(self, secret: bytes) -> None:
        self._secret, self._sequence = secret, 0
        self._cipher = AESGCM(self._expand(b"key", self._key_size))
        self._iv = self._expand(b"iv", 12)

    def _expand(self, label: bytes, size: int) -> bytes:
        # HKDF-Expand-Label of RFC 8446, section 7.1, without a context.
        label = b"tls13 " + label
        info = size.to_bytes(2, "big") + len(label).to_bytes(1, "big") + label + b"\0"
        return HKDFExpand(self._hash, size, info).derive(self._secret)

    def _record(self, content: bytes, content_type: int) -> bytes:
        header = b"\x17\x03\x03" + (len(content) + 17).to_bytes(2, "big")
        sealed = self._cipher.encrypt(
            _nonce(self._iv, self._sequence), content + bytes([content_type]), header
        )
        self._sequence += 1
        return header + sealed

    def data(self, plain: bytes) -> bytes:
        """A record of application data."""
        return self._record(plain, _DATA)

    def key_update(self) -> bytes:
        """A KeyUpdate that asks the other end for one (RFC 8446, section 4.6.3)."""
        record = self._record(b"\x18\0\0\1\1", _HANDSHAKE)
        self._use_secret(self._expand(b"traffic upd", self._hash.digest_size))
        return record


class OldRecordForge:
    """The same for TLS 1.2, with an AES-GCM suite. The first encrypted record was the Finished message."""

    def __init__(self, near: TlsConnection, key_log: Path, first_received: bytes) -> None:
        self._hash, key_size = _HASHES[_cipher_name(near._ssl_object)]
        self._sequence = 1
        [(client_random, secret)] = _logged_secrets(key_log, "CLIENT_RANDOM")
        # A record header, the header of the ServerHello, the version.
        server_random = first_received[11:43]
        block = self._expand(secret, b"key expansion" + server_random + client_random, 2 * key_size + 8)
        self._cipher, self._salt = AESGCM(block[:key_size]), block[2 * key_size : 2 * key_size + 4]

    def _hmac(self, secret: bytes, text: bytes) -> bytes:
        hmac = HMAC(secret, self._hash)
        hmac.update(text)
        return hmac.finalize()

    def _expand(self, secret: bytes, seed: bytes, size: int) -> bytes:
        # The pseudorandom function of RFC 5246, section 5.
        block, chain = b"", seed
        while len(block) < size:
            chain = self._hmac(secret, chain)
            block += self._hmac(secret, chain + seed)
        return block[:size]

    def _record(self, content: bytes, content_type: int) -> bytes:
        sequence = self._sequence.to_bytes(8, "big")
        self._sequence += 1
        kind = bytes([content_type]) + b"\3\3"
        sealed = self._cipher.encrypt(
            self._salt + sequence, content, sequence + kind + len(content).to_bytes(2, "big")
        )
        return kind + (len(sealed) + 8).to_bytes(2, "big") + sequence + sealed

    def data(self, plain: bytes) -> bytes:
        """A record of application data."""
        return self._record(plain, _DATA)

    def renegotiation(self) -> bytes:
        """A ClientHello on a connection that has one already."""
        hello = b"\3\3" + bytes(32) + b"\0" + b"\0\2\xc0\x30" + b"\1\0"
        return self._record(b"\1" + len(hello).to_bytes(3, "big") + hello, _HANDSHAKE)


def _nonce(iv: bytes, sequence: int) -> bytes:
    return (int.from_bytes(iv, "big") ^ sequence).to_bytes(12, "big")


def _cipher_name(ssl_object: ssl.SSLObject) -> str:
    cipher = ssl_object.cipher()
    assert cipher is not None
    return cipher[0]


def _logged_secrets(key_log: Path, label: str) -> list[tuple[bytes, bytes]]:
    """The client randoms and secrets in a log of one connection."""
    lines = [line.split() for line in key_log.read_text().splitlines()]
    return [(bytes.fromhex(line[1]), bytes.fromhex(line[2])) for line in lines if line[0] == label]
