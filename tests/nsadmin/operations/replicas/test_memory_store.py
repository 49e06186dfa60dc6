"""The file of differences: what is saved is loaded, and a damaged file is an error."""

from pathlib import Path

import pytest

from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.replicas.memory import RememberedDifference
from nsadmin.operations.replicas.memory_store import ReplicaMemoryStore, open_replica_memory
from nsadmin.operations.run_folder import InvalidStateError

MEMORY = {
    ("C", "broker-a", 1, "offset", "T@G"): RememberedDifference(5, {0: 10, 1: 20}, 9, {0: 4}),
    ("C", "broker-a", 1, "topic", "orders"): RememberedDifference(6, {"perm": 6}, 9),
    ("C", "broker-a", 1, "group", "gone"): RememberedDifference(7, None, 9),
}


def test_the_memory_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    store = ReplicaMemoryStore(tmp_path)
    assert store.load_memory() == {}
    store.save_memory(MEMORY)
    assert ReplicaMemoryStore(tmp_path).load_memory() == MEMORY


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", '{"format":2}', '{"format":1,"differences":[[1]]}', "{",
        '{"format":1,"differences":null}', '{"format":1,"differences":[["C","b",1,"odd","T",5,null]]}',
        '{"format":1,"differences":[["C","b",1,"topic","T","5",null]]}',
        '{"format":1,"differences":[["C","b",1,"offset","T",5,{"x":1}]]}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "replicas.json").write_text(text)
    with pytest.raises(
        InvalidStateError, match=f"{tmp_path / 'replicas.json'}.*restore the file, or move it"
    ):
        ReplicaMemoryStore(tmp_path).load_memory()


def test_without_an_inventory_nothing_is_kept(tmp_path: Path) -> None:
    switched_off = InventoryKeeper(lambda: "servers h:1", environment={"NSADMIN_INVENTORY": "off"})
    for store in (open_replica_memory(None), open_replica_memory(switched_off)):
        store.save_memory(MEMORY)
        assert store.load_memory() == {}
    kept = InventoryKeeper(lambda: "servers h:1", environment={"NSADMIN_STATE": str(tmp_path)})
    open_replica_memory(kept).save_memory(MEMORY)
    assert open_replica_memory(kept).load_memory() == MEMORY


def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    (tmp_path / "replicas.json").write_text(
        '{"format":1,"differences":[["C","broker-a",1,"offset","T@G",5,{"0":10}]]}'
    )
    [(key, remembered)] = ReplicaMemoryStore(tmp_path).load_memory().items()
    assert (key[3], remembered) == ("offset", RememberedDifference(5, {0: 10}, 5))
