"""Brokers of the inventory that no name server lists."""

from pathlib import Path

from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.missing_brokers import poll_missing_brokers
from nsadmin.tui.polling.poll_records import (
    BrokerGroupListing,
    MissingBrokerRecord,
    MissingBrokersPolled,
    NameServerPolled,
    decode_poll,
    encode_poll,
)
from nsadmin.tui.views.brokers.broker_table import BrokersView

NOW = 1_800_000_000_000
SILENT = NameServerPolled(NOW, "ns-2:9876", error="closed")


def listing(*names: str) -> NameServerPolled:
    groups = {name: BrokerGroupListing("C", {0: f"{name}:1"}) for name in names}
    return NameServerPolled(NOW, "ns-1:9876", groups=groups)


def test_what_was_listed_once_is_missing_later(tmp_path: Path) -> None:
    inventory = InventoryKeeper(lambda: "k", (), {"NSADMIN_STATE": str(tmp_path)}, lambda: NOW)
    known = poll_missing_brokers(inventory, [listing("a", "b"), SILENT], lambda: NOW)
    assert known == MissingBrokersPolled(NOW, [])
    poll = poll_missing_brokers(inventory, [listing("a"), SILENT], lambda: NOW)
    assert poll == MissingBrokersPolled(NOW, [MissingBrokerRecord("C", "b", 0, "b:1", NOW)])
    assert decode_poll(encode_poll(poll)) == poll


def test_silent_name_servers_tell_of_no_missing_broker(tmp_path: Path) -> None:
    inventory = InventoryKeeper(lambda: "k", (), {"NSADMIN_STATE": str(tmp_path)}, lambda: NOW)
    assert poll_missing_brokers(inventory, [SILENT], lambda: NOW) is None


def test_a_damaged_inventory_is_told_and_lets_nothing_disappear(tmp_path: Path) -> None:
    inventory = InventoryKeeper(lambda: "k", (), {"NSADMIN_STATE": str(tmp_path)}, lambda: NOW)
    poll_missing_brokers(inventory, [listing("a", "b"), SILENT], lambda: NOW)
    model = ClusterModel()
    missing = poll_missing_brokers(inventory, [listing("a"), SILENT], lambda: NOW)
    assert missing is not None
    model.apply_poll(missing)
    [file] = tmp_path.rglob("brokers.json")
    file.write_text("{")
    damaged = poll_missing_brokers(inventory, [listing("a"), SILENT], lambda: NOW)
    assert damaged is not None
    model.apply_poll(damaged)
    assert [key.name for key in model.brokers] == ["b"]
    line = "".join(cell.text for cell in BrokersView().render_headline(model))
    assert f"missing brokers are unknown: the inventory {file} cannot be read" in line
