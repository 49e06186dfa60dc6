"""What a command learns from the inventory, and what it costs."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.console.session import SharedOptions
from nsadmin.operations.inventory.keeper import InventoryKeeper, find_inventory_key
from nsadmin.operations.inventory.store import InventoryStore

GROUP = BrokerAddrGroup("C", "broker-a", {0: "10.0.0.1:10911"})
NOW = 1_800_000_000_000


class Clock:
    now = NOW

    def __call__(self) -> int:
        return self.now


def keeper(home: Path, clock: Clock) -> InventoryKeeper:
    return InventoryKeeper(lambda: "context prod", (), {"NSADMIN_STATE": str(home)}, clock)


def snapshot(topics: dict[str, dict[str, dict[str, int]]], *names: str) -> ClusterSnapshot:
    brokers = {name: {"clusterName": "C", "brokerAddrs": {"0": f"{name}:1"}} for name in names}
    return ClusterSnapshot("ns:1", 0, brokers, topics, {}, {})


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were written."""
    written: list[str] = []
    replace = InventoryStore._replace_file

    def counting(store: InventoryStore, file_name: str, record: Mapping[str, object]) -> None:
        written.append(file_name)
        replace(store, file_name, record)

    monkeypatch.setattr(InventoryStore, "_replace_file", counting)
    return written


def test_a_read_without_news_writes_one_small_file(tmp_path: Path, writes: list[str]) -> None:
    clock = Clock()
    other = BrokerAddrGroup("C", "broker-b", {0: "10.0.0.2:10911"})
    for listed in ([GROUP, other], [GROUP, other], [GROUP, other], [GROUP], [GROUP], [GROUP]):
        clock.now += 1000
        keeper(tmp_path, clock).observe_brokers(listed)
    assert writes == ["brokers.json", *["look.json"] * 2] * 2
    inventory = keeper(tmp_path, clock)
    assert [b.last_seen_ms for b in inventory.store.load_brokers()] == [NOW + 6000, NOW + 3000]
    # An edit keeps the times.
    inventory.mark_leaving("broker-b")
    clock.now += 1000
    inventory.observe_brokers([GROUP])
    assert [b.last_seen_ms for b in inventory.store.load_brokers()] == [NOW + 7000, NOW + 3000]


def test_snapshots_teach_which_topics_a_broker_has(tmp_path: Path, writes: list[str]) -> None:
    inventory = keeper(tmp_path, Clock())
    queues = {"perm": 6}
    shared = {"broker-a": queues, "broker-b": queues}
    first = snapshot({"T": shared, "U": shared}, "broker-a", "broker-b")
    # The other name server has one topic more, and lacks a broker.
    second = snapshot({"T": {"broker-a": queues}, "V": {"broker-a": {"perm": 4}}}, "broker-a")
    assert inventory.observe_snapshots([first, second]).missing_brokers == ()
    assert inventory.store.load_topics() == {
        "T": {"broker-a": 6, "broker-b": 6},
        "U": {"broker-a": 6, "broker-b": 6},
        "V": {"broker-a": 4},
    }
    inventory.observe_snapshots([first, second])
    assert writes == ["brokers.json", "topics.json"]
    lost = inventory.observe_snapshots([second])
    assert [missing.broker.label for missing in lost.missing_brokers] == ["broker-b:0"]
    assert lost.topic_placements["U"] == {"broker-b": 6}


def test_without_a_snapshot_nothing_is_missing(tmp_path: Path) -> None:
    inventory = keeper(tmp_path, Clock())
    inventory.observe_brokers([GROUP])
    assert inventory.observe_snapshots([]).missing_brokers == ()


def test_nothing_is_kept_for_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    inventory = InventoryKeeper(lambda: "context prod", (), {}, Clock())
    assert inventory.observe_brokers([GROUP]) == ()
    inventory.mark_leaving("broker-a")


def test_a_full_disk_hides_no_missing_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inventory = keeper(tmp_path, Clock())
    inventory.observe_brokers([GROUP])

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("namesrv_core.storage.atomic_write.replace_file", fail)
    other = BrokerAddrGroup("C", "broker-b", {0: "10.0.0.2:10911"})
    assert [missing.broker.label for missing in inventory.observe_brokers([other])] == ["broker-a:0"]


def test_an_inventory_belongs_to_the_context_or_to_the_name_servers() -> None:
    prod = SharedOptions(context="prod")
    overruled = SharedOptions(context="prod", overruled_sources=("context prod (a:1)",))
    assert find_inventory_key(NameServerList(("a:1",), "context", "prod"), prod) == "context prod"
    assert find_inventory_key(NameServerList(("a:1",), "endpoint", "http://e"), prod) == "context prod"
    assert find_inventory_key(NameServerList(("b:1", "a:1"), "endpoint", "http://e"), overruled) == (
        "servers a:1;b:1"
    )
    assert find_inventory_key(NameServerList(("b:1", "a:1"), "given"), prod) == "servers a:1;b:1"


def test_a_problem_lasts_until_the_file_is_readable_again(tmp_path: Path) -> None:
    reported: list[str] = []
    damaged = InventoryKeeper(
        lambda: "context prod", (), {"NSADMIN_STATE": str(tmp_path)}, Clock(), reported.append
    )
    damaged.observe_brokers([GROUP])
    assert damaged.problem is None
    [file] = tmp_path.rglob("brokers.json")
    whole = file.read_text()
    file.write_text("{")
    damaged.observe_brokers([GROUP])
    assert damaged.find_former_addrs() == {}
    assert damaged.problem == reported[0]
    file.write_text(whole)
    damaged.observe_brokers([GROUP])
    assert (damaged.problem, len(reported)) == (None, 1)
