"""ClusterBackups, copies of the state of name servers in files: `admin.backups.take_snapshot()`."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from time import time

from namesrv_core import private_files
from nsadmin.client import snapshots
from nsadmin.client.admin import AdminClient
from nsadmin.client.snapshots import ClusterSnapshot


class ClusterBackups:
    """Snapshots of brokers, topics, KV config and settings (`admin.backups`). `admin.plans` exports YAML.

    Args:
        admin: The client.
    """

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin

    def take_snapshot(self, namespaces: Sequence[str] = ()) -> ClusterSnapshot:
        """Read the state of a name server, without secrets: brokers, topics, KV config, settings.

        Args:
            namespaces: KV namespaces to include, besides that of order configurations.

        Returns:
            The snapshot.

        Raises:
            RocketMQError: A request failed. An incomplete snapshot would be misleading.
        """
        return snapshots.take_cluster_snapshot(self._admin, int(time() * 1000), tuple(namespaces))

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
