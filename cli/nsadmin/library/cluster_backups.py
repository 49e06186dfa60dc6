"""ClusterBackups, copies of clusters and of name servers in files: `admin.backups.create_backup(...)`."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from namesrv_core import private_files
from nsadmin.client import snapshots
from nsadmin.client.admin import AdminClient
from nsadmin.client.results import ReadOnlyAccess
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.backups.archive import NO_KEYS, BackupKeys, LoadedBackup, load_backup, save_backup
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import ClusterBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_run import RestoreRun
from nsadmin.operations.backups.restore_scope import RestoreScope, select_backup


class ClusterBackups:
    """Backups of clusters, and snapshots of name servers (`admin.backups`). `admin.plans` exports YAML.

    Args:
        admin: The client.
    """

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin

    def create_backup(
        self,
        cluster_name: str,
        path: str | PathLike[str],
        namespaces: Sequence[str] = (),
        keys: BackupKeys = NO_KEYS,
    ) -> ClusterBackup:
        """Save topics, groups, offsets, users, ACLs, settings and KV config of a cluster in a file.

        Args:
            cluster_name: The cluster.
            path: The file, which is replaced. Only its owner can read it.
            namespaces: KV namespaces to include, besides that of order configurations.
            keys: With a passphrase, the file has the passwords of users; with a key, it is signed.

        Returns:
            The backup. Its remarks name the servers that did not answer, whose items are missing.

        Raises:
            NotFound: No such cluster.
            InvalidKeyError: The key is invalid, or the library cryptography is missing.
            OSError: The file cannot be written.
        """
        backup = observe_backup(
            self._admin,
            cluster_name,
            self._admin.clock_ms,
            namespaces,
            with_secrets=keys.passphrase is not None,
        )
        save_backup(Path(path), backup, keys)
        return backup

    def load_backup(self, path: str | PathLike[str], keys: BackupKeys = NO_KEYS) -> LoadedBackup:
        """Load and verify a backup.

        Args:
            path: A file of `create_backup`.
            keys: The passphrase of its passwords, and the key that its signature must match.

        Returns:
            The backup, and whether it is signed and has passwords.

        Raises:
            InvalidBackupError: The file is not a backup, is damaged or was changed.
            InvalidKeyError: The passphrase or the key is wrong.
            OSError: The file cannot be read.
        """
        return load_backup(Path(path), keys)

    def restore_backup(
        self, backup: ClusterBackup, scope: RestoreScope | None = None, *, dry_run: bool = False
    ) -> list[RestoreOutcome]:
        """Create the items of a backup again, and read every change back. Deletes nothing.

        Args:
            backup: The backup.
            scope: What to restore, and where. Default: everything except settings, into its own cluster.
            dry_run: Only return the changes.

        Returns:
            One outcome for each item on each server. A failure is an outcome, not an exception.

        Raises:
            NotFound: No such cluster.
            ReadOnlyAccess: The client is read-only. Nothing was changed.
        """
        if self._admin.is_read_only and not dry_run:
            raise ReadOnlyAccess("the backup was not restored: this client is read-only")
        scope = scope or RestoreScope(backup.cluster_name, frozenset(Section) - {Section.SETTINGS})
        restore_run = RestoreRun(
            self._admin,
            select_backup(backup, scope),
            is_dry_run=dry_run,
            overwrites_offsets=scope.overwrites_offsets,
        )
        return list(restore_run.restore_all())

    def take_snapshot(self, namespaces: Sequence[str] = ()) -> ClusterSnapshot:
        """Read the state of a name server, without secrets: brokers, topics, KV config, settings.

        Args:
            namespaces: KV namespaces to include, besides that of order configurations.

        Returns:
            The snapshot.

        Raises:
            RocketMQError: A request failed. An incomplete snapshot would be misleading.
        """
        return snapshots.take_cluster_snapshot(self._admin, self._admin.clock_ms, tuple(namespaces))

    def save_snapshot(self, snapshot: ClusterSnapshot, path: str | PathLike[str]) -> None:
        """Save a snapshot in a new file, which only the owner can read. Needs zstandard.

        Args:
            snapshot: The snapshot.
            path: The file. It must not exist.

        Raises:
            OSError: The file exists, or cannot be written.
        """
        file_content = snapshots.encode_snapshot(snapshot)
        with open(path, "xb", opener=private_files.open_private_file) as snapshot_file:
            snapshot_file.write(file_content)

    def load_snapshot(self, path: str | PathLike[str]) -> ClusterSnapshot:
        """Load a snapshot from a file. Needs zstandard.

        Args:
            path: A file of `save_snapshot`, or of `nsadmin snapshot save`.

        Returns:
            The snapshot.

        Raises:
            InvalidSnapshotError: The file is not a snapshot.
            OSError: The file cannot be read.
        """
        return snapshots.decode_snapshot(Path(path).read_bytes())
