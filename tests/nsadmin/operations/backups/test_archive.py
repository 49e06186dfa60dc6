"""The file of a backup: the same comes back, and anything else is refused."""

import zipfile
from pathlib import Path

import pytest

from nsadmin.operations.backups.archive import (
    BackupKeys,
    InvalidBackupError,
    list_backup_files,
    load_backup,
    name_backup_file,
    save_backup,
)
from nsadmin.operations.backups.records import ClusterBackup
from nsadmin.operations.backups.signatures import InvalidKeyError
from tests.support.cluster_backups import BACKUP


def without_secrets(backup: ClusterBackup) -> ClusterBackup:
    brokers = {
        name: broker._replace(
            users=[user._replace(password=None) for user in broker.users],
            accounts=[account._replace(secret_key=None) for account in broker.accounts],
        )
        for name, broker in backup.brokers.items()
    }
    return backup._replace(brokers=brokers)


def test_a_backup_is_loaded_as_it_was_saved_without_secrets(tmp_path: Path) -> None:
    file = tmp_path / "a.nsbackup.zip"
    size = save_backup(file, BACKUP)
    loaded = load_backup(file)
    assert loaded.backup == without_secrets(BACKUP)
    assert (loaded.is_signed, loaded.has_secrets, loaded.size_bytes) == (False, False, size)
    assert file.stat().st_mode & 0o077 == 0
    assert b"s3cret" not in file.read_bytes()
    assert all(
        "s3cret" not in zipfile.ZipFile(file).read(name).decode() for name in zipfile.ZipFile(file).namelist()
    )


def test_passwords_need_the_passphrase_that_they_were_saved_with(tmp_path: Path) -> None:
    file = tmp_path / "a.nsbackup.zip"
    save_backup(file, BACKUP, BackupKeys("right"))
    assert load_backup(file).backup == without_secrets(BACKUP)
    assert load_backup(file).has_secrets
    assert load_backup(file, BackupKeys("right")).backup == BACKUP
    with pytest.raises(InvalidKeyError, match="the passphrase does not open the passwords"):
        load_backup(file, BackupKeys("wrong"))


@pytest.mark.parametrize("kept_bytes", [0, 10, 200, -30])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, kept_bytes: int) -> None:
    file = tmp_path / "a.nsbackup.zip"
    save_backup(file, BACKUP)
    file.write_bytes(file.read_bytes()[:kept_bytes])
    with pytest.raises(InvalidBackupError, match="is damaged, or is not a backup of nsadmin"):
        load_backup(file)


def rewrite(source: Path, target: Path, old: bytes, new: bytes) -> None:
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, archive.read(name).replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'"readQueueNums":8', b'"readQueueNums":9', r"was changed: brokers/broker-a.json is not as"),
        (b'"format":1', b'"format":2', "has the format 2, but this nsadmin reads format 1"),
        (b'{"cluster"', b'["cluster"', "manifest.json is not readable"),
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path: Path, old: bytes, new: bytes, reason: str) -> None:
    save_backup(tmp_path / "a.zip", BACKUP)
    rewrite(tmp_path / "a.zip", tmp_path / "b.zip", old, new)
    with pytest.raises(InvalidBackupError, match=reason):
        load_backup(tmp_path / "b.zip")


def test_an_archive_of_another_program_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InvalidBackupError, match="it has no manifest"):
        load_backup(tmp_path / "a.zip")


def test_the_files_of_a_folder_are_listed_by_time_and_cluster(tmp_path: Path) -> None:
    later = BACKUP._replace(created_ms=BACKUP.created_ms + 60_000)
    other = BACKUP._replace(cluster_name="cluster-b")
    for backup in (later, BACKUP, other):
        save_backup(tmp_path / name_backup_file(backup), backup)
    (tmp_path / "notes.txt").write_text("")
    assert name_backup_file(BACKUP) == "cluster-a-20231114T221320Z.nsbackup.zip"
    assert [file.name for file in list_backup_files(tmp_path, "cluster-a")] == [
        name_backup_file(BACKUP),
        name_backup_file(later),
    ]
    assert len(list_backup_files(tmp_path)) == 3
