"""Snapshots as methods."""

from pathlib import Path

import pytest

from nsadmin import AdminClient, InvalidSnapshotError
from tests.support.fake_servers import FakeNameServer


def test_a_snapshot_is_saved_and_loaded(first_server: FakeNameServer, tmp_path: Path) -> None:
    first_server.kv = {"N": {"k": "v", "secretKey": "hush"}}
    with AdminClient(first_server.addr) as admin:
        snapshot = admin.backups.take_snapshot(["N"])
        admin.backups.save_snapshot(snapshot, tmp_path / "before.zst")
        assert admin.backups.load_snapshot(tmp_path / "before.zst") == snapshot
        with pytest.raises(FileExistsError):
            admin.backups.save_snapshot(snapshot, tmp_path / "before.zst")
        (tmp_path / "other").write_text("no snapshot")
        with pytest.raises(InvalidSnapshotError):
            admin.backups.load_snapshot(tmp_path / "other")
    assert (list(snapshot.topics), snapshot.kv["N"]) == (["T"], {"k": "v"})
    assert (tmp_path / "before.zst").stat().st_mode & 0o077 == 0
