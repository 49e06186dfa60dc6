"""The files of an inventory: nothing is lost, and damage is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nsadmin.operations.inventory.records import ExpectedBroker
from nsadmin.operations.inventory.store import (
    DamagedInventoryError,
    InventoryBusyError,
    InventoryStore,
    inventory_folder_of,
)
from nsadmin.operations.process_lock import ProcessLock

BROKER = ExpectedBroker("C", "broker-ä", 0, "10.0.0.1:10911", 5, 7, True)

ADD_BROKER = """
import sys
from nsadmin.operations.inventory.records import ExpectedBroker
from nsadmin.operations.inventory.store import InventoryStore
own_broker = ExpectedBroker("C", sys.argv[2], 0, "a:1")
InventoryStore(sys.argv[1]).change_brokers(lambda known_brokers: [*known_brokers, own_broker])
"""


def test_what_was_saved_is_read_again(tmp_path: Path) -> None:
    store = InventoryStore(str(tmp_path / "inventory" / "prod"))
    store.change_brokers(lambda known: [*known, BROKER])
    store.change_topics(lambda known: {"T": {"broker-a": 6}, "U": {"broker-a": 6}, "V": {"broker-b": 4}})
    assert store.load_brokers() == (BROKER,)
    assert store.load_topics() == {"T": {"broker-a": 6}, "U": {"broker-a": 6}, "V": {"broker-b": 4}}


def test_topics_with_the_same_brokers_share_one_record(tmp_path: Path) -> None:
    store = InventoryStore(str(tmp_path))
    store.change_topics(lambda known: {f"topic-{number}": {"broker-a": 6} for number in range(1000)})
    assert len(json.loads((tmp_path / "topics.json").read_bytes())["placements"]) == 1


def test_processes_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    names = [f"broker-{number}" for number in range(6)]
    adding = [subprocess.Popen([sys.executable, "-c", ADD_BROKER, str(tmp_path), name]) for name in names]
    assert [process.wait(60) for process in adding] == [0] * len(names)
    assert sorted(broker.broker_name for broker in InventoryStore(str(tmp_path)).load_brokers()) == names


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"format": 2, "brokers": [{}]}',
        b'{"format": 1, "brokers": 5, "placements": 5}',
        b'{"format": 1, "brokers": [5, {"broker_name": 1}], "placements": [5, {"brokers": {"a": "x"}}]}',
        b'{"format": 1, "brokers": null}',
        b"[" * 50_000,
    ],
)
def test_a_damaged_file_is_an_error_that_names_it_and_stays(tmp_path: Path, content: bytes) -> None:
    for name in ("brokers.json", "topics.json"):
        (tmp_path / name).write_bytes(content)
    store = InventoryStore(str(tmp_path))
    for name, use in (
        ("brokers.json", store.load_brokers),
        ("topics.json", store.load_topics),
        ("brokers.json", lambda: store.change_brokers(lambda known: [*known, BROKER])),
        ("topics.json", lambda: store.change_topics(lambda known: known)),
    ):
        with pytest.raises(DamagedInventoryError, match=f"the inventory {tmp_path / name} cannot be read: "):
            use()
        assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("look", ["[5]", '["5", 6]', "{}"])
def test_a_damaged_time_of_the_last_look_is_an_error_too(tmp_path: Path, look: str) -> None:
    (tmp_path / "look.json").write_text(f'{{"format": 1, "look": {look}}}')
    with pytest.raises(DamagedInventoryError, match=r"look.json cannot be read: look "):
        InventoryStore(str(tmp_path)).load_brokers()


def test_an_empty_time_of_the_last_look_is_what_a_loss_of_power_left(tmp_path: Path) -> None:
    store = InventoryStore(str(tmp_path))
    store.change_brokers(lambda known: [BROKER])
    (tmp_path / "look.json").touch()
    assert store.load_brokers() == (BROKER,)
    later = BROKER._replace(last_seen_ms=(BROKER.last_seen_ms or 0) + 5)
    store.change_brokers(lambda known: [later])
    assert store.load_brokers() == (later,)


def test_an_inventory_that_another_process_holds_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.operations.inventory.store._LOCK_ATTEMPTS", 1)
    lock = ProcessLock(tmp_path / "lock")
    assert lock.acquire()
    with pytest.raises(InventoryBusyError):
        InventoryStore(str(tmp_path)).change_brokers(lambda known: known)
    lock.release()


def test_long_lists_of_name_servers_have_folders_of_their_own(tmp_path: Path) -> None:
    addrs = ";".join(f"name-server-{number}.example.com:9876" for number in range(20))
    folders = {
        Path(inventory_folder_of(str(tmp_path), key)) for key in (f"servers {addrs}", f"servers {addrs}0")
    }
    assert len(folders) == 2
    assert all(len(folder.name) <= 255 for folder in folders)
    assert Path(inventory_folder_of(str(tmp_path), "context ../x")).parent == tmp_path / "inventory"
