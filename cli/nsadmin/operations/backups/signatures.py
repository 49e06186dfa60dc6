"""Signatures of backups (Ed25519), and the encryption of their passwords (scrypt and Fernet).

Both need the library `cryptography`, the extra `nsadmin[tls]`.
"""

import base64
import os
from pathlib import Path
from typing import Any

from namesrv_core.errors import BadSettings
from nsadmin.client.extras import describe_missing

_SALT_BYTES = 16
_SCRYPT_COST = 1 << 15


class InvalidKeyError(BadSettings):
    """A key or passphrase is wrong or missing, or a signature does not match."""


def sign_bytes(content: bytes, key_file: Path) -> bytes:
    """Return the signature of the content by the private key in a PEM file."""
    return bytes(_load_key(key_file, is_private=True).sign(content))


def verify_signature(content: bytes, signature: bytes | None, key_file: Path) -> None:
    """Raise InvalidKeyError if the public key in a PEM file did not sign the content."""
    if signature is None:
        raise InvalidKeyError("the backup is not signed: omit --verify-key to use it anyway")
    public_key = _load_key(key_file, is_private=False)
    from cryptography.exceptions import InvalidSignature

    try:
        public_key.verify(signature, content)
    except InvalidSignature:
        raise InvalidKeyError(f"the backup was not signed with the key of {key_file}") from None


def encrypt_secrets(content: bytes, passphrase: str) -> bytes:
    """Encrypt with a key that is derived from the passphrase."""
    salt = os.urandom(_SALT_BYTES)
    return salt + bytes(_derive_cipher(passphrase, salt).encrypt(content))


def decrypt_secrets(encrypted: bytes, passphrase: str) -> bytes:
    """Decrypt the result of `encrypt_secrets`. Raises InvalidKeyError for another passphrase."""
    from cryptography.fernet import InvalidToken

    try:
        cipher = _derive_cipher(passphrase, encrypted[:_SALT_BYTES])
        return bytes(cipher.decrypt(encrypted[_SALT_BYTES:]))
    except InvalidToken:
        raise InvalidKeyError("the passphrase does not open the passwords of this backup") from None


def _derive_cipher(passphrase: str, salt: bytes) -> Any:
    _require_cryptography()
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    key = Scrypt(salt=salt, length=32, n=_SCRYPT_COST, r=8, p=1).derive(passphrase.encode())
    return Fernet(base64.urlsafe_b64encode(key))


def _load_key(key_file: Path, *, is_private: bool) -> Any:
    _require_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    try:
        pem_bytes = key_file.read_bytes()
    except OSError as error:
        raise InvalidKeyError(f"cannot read the key {key_file}: {error.strerror}") from None
    try:
        key = load_pem_private_key(pem_bytes, None) if is_private else load_pem_public_key(pem_bytes)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey if is_private else Ed25519PublicKey):
        key_kind = "a private" if is_private else "a public"
        raise InvalidKeyError(f"{key_file} is not {key_kind} Ed25519 key in PEM form")
    return key


def _require_cryptography() -> None:
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        raise InvalidKeyError(describe_missing("cryptography", "tls"))
