"""What a backup has of the lab."""

from pathlib import Path
from typing import Any

import pytest

from namesrv_core.errors import NotSupported, RequestError
from nsadmin import AdminClient
from nsadmin.client import NotFound, ServerResult
from nsadmin.operations import access_tables
from nsadmin.operations.backups.observer import observe_backup
from tests.support.lab import start_lab


def test_a_backup_has_the_items_of_each_master(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        backup = observe_backup(admin, "cluster-a", 5, ["DEPLOYMENT"])
        with pytest.raises(NotFound):
            observe_backup(admin, "nope", 5)
    broker = backup.brokers["broker-a-0"]
    assert (backup.cluster_name, backup.created_ms, broker.release) == ("cluster-a", 5, "5.5.0")
    assert {"orders", "warehouse"} <= broker.topics.keys() | broker.groups.keys()
    assert any(saved.store_ms for by_queue in broker.offsets.values() for saved in by_queue.values())
    assert "brokerName" in broker.settings
    assert not any("secret" in name.lower() for name in broker.settings)
    assert [user.username for user in broker.users] == ["operator-1"]
    assert list(broker.acls) == ["User:operator-1"]
    assert not backup.remarks
    assert set(backup.kv) == {"ORDER_TOPIC_CONFIG", "DEPLOYMENT"}


def test_a_broker_that_is_gone_is_a_remark_and_the_others_are_saved(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        listed = admin.clusters.get_info()
        there.kill("broker-a-1", 0)
        assert listed.broker_groups
        backup = observe_backup(admin, "cluster-a", 5)
    assert "broker-a-0" in backup.brokers
    assert "broker-a-1" not in backup.brokers
    assert any(remark.startswith("missing in the backup: broker broker-a-1") for remark in backup.remarks)


@pytest.mark.parametrize(
    ("error", "is_missing"),
    [(RequestError("the store is broken"), True), (NotSupported("no provider is set"), False)],
)
def test_users_that_a_broker_keeps_and_does_not_show_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: RequestError, is_missing: bool
) -> None:
    """A broker that keeps none is not asked."""
    monkeypatch.setattr(
        access_tables,
        "list_users",
        lambda _, addrs: [ServerResult[Any](addr, None, error) for addr in addrs],
    )
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        backup = observe_backup(admin, "cluster-a", 5)
    is_named = any("missing in the backup: users of 127.0.0.1:" in remark for remark in backup.remarks)
    assert is_named is is_missing
