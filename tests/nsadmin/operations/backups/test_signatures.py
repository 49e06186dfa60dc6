"""Signatures: only the key that signed a backup verifies it."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from nsadmin.operations.backups.archive import BackupKeys, load_backup, save_backup
from nsadmin.operations.backups.signatures import InvalidKeyError, decrypt_secrets, encrypt_secrets
from tests.support.cluster_backups import BACKUP


def write_keys(folder: Path, name: str) -> tuple[Path, Path]:
    private = Ed25519PrivateKey.generate()
    sign_key, verify_key = folder / f"{name}.key", folder / f"{name}.pub"
    sign_key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    verify_key.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return sign_key, verify_key


def test_a_backup_is_verified_with_the_key_that_signed_it(tmp_path: Path) -> None:
    sign_key, verify_key = write_keys(tmp_path, "ours")
    _, other_key = write_keys(tmp_path, "other")
    file = tmp_path / "a.zip"
    save_backup(file, BACKUP, BackupKeys(None, sign_key))
    assert load_backup(file, BackupKeys(None, None, verify_key)).is_signed
    with pytest.raises(InvalidKeyError, match="was not signed with the key of"):
        load_backup(file, BackupKeys(None, None, other_key))
    save_backup(file, BACKUP)
    with pytest.raises(InvalidKeyError, match="the backup is not signed: omit --verify-key"):
        load_backup(file, BackupKeys(None, None, verify_key))


def test_a_file_that_is_no_key_is_refused(tmp_path: Path) -> None:
    sign_key, verify_key = write_keys(tmp_path, "ours")
    with pytest.raises(InvalidKeyError, match="is not a private Ed25519 key in PEM form"):
        save_backup(tmp_path / "a.zip", BACKUP, BackupKeys(None, verify_key))
    save_backup(tmp_path / "a.zip", BACKUP, BackupKeys(None, sign_key))
    with pytest.raises(InvalidKeyError, match="is not a public Ed25519 key"):
        load_backup(tmp_path / "a.zip", BackupKeys(None, None, sign_key))
    with pytest.raises(InvalidKeyError, match="cannot read the key"):
        load_backup(tmp_path / "a.zip", BackupKeys(None, None, tmp_path / "missing"))


def test_secrets_are_encrypted_anew_each_time_and_decrypted_with_the_passphrase() -> None:
    first, second = encrypt_secrets(b"secret", "p"), encrypt_secrets(b"secret", "p")
    assert first != second
    assert decrypt_secrets(first, "p") == b"secret"
    with pytest.raises(InvalidKeyError, match="passphrase"):
        decrypt_secrets(first, "q")
