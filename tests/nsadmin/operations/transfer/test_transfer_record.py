"""The record of a transfer on the name servers of the target."""

import pytest

from nsadmin.client.results import NotApplied
from nsadmin.operations.transfer.queue_map import QueueId
from nsadmin.operations.transfer.transfer_record import QueueRecord, TransferRecord, TransferStore, record_key
from tests.support.transfer_clusters import ClusterPair

RECORD = TransferRecord(
    "run", {"--tag": ("A", "B")}, {QueueId("broker/a", 3): QueueRecord(QueueId("x", 1), 5, 9, 100, 104, 2)}
)


def test_a_record_is_read_as_it_was_written(pair: ClusterPair) -> None:
    store = TransferStore(pair.clusters.target, record_key("C", "T", "U"))
    assert store.load() is None
    assert store.save(RECORD) is None
    assert store.load() == RECORD
    assert list(pair.target_server.kv["NSADMIN_TRANSFER"]) == ["C/T/U"]


def test_a_record_of_an_earlier_release_is_read_and_written_alike(pair: ClusterPair) -> None:
    recorded = '{"run":"r1","rules":{"--tag":["A"]},"queues":{"broker-a/0":["broker-b/1",5,9,100,104,2]}}'
    pair.target_server.kv["NSADMIN_TRANSFER"] = {"C/T/T": recorded}
    store = TransferStore(pair.clusters.target, "C/T/T")
    record = store.load()
    assert record == TransferRecord(
        "r1",
        {"--tag": ("A",)},
        {QueueId("broker-a", 0): QueueRecord(QueueId("broker-b", 1), 5, 9, 100, 104, 2)},
    )
    assert store.save(record) is None
    assert pair.target_server.kv["NSADMIN_TRANSFER"] == {"C/T/T": recorded}


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", '{"run":"r","rules":{},"queues":{"a/0":["b/x",1,2,3,4]}}', "[]", "[" * 50_000,
        '{"run":"r","rules":{},"queues":{"a/0":["b/x",1,2,3,4,5]}}', '{"run":"r","rules":{},"queues":null}',
        '{"run":"r","rules":{},"queues":{"a/0":["b/0","1",2,3,4,5]}}', '{"run":1,"rules":{},"queues":{}}',
    ],
)  # fmt: skip
def test_an_unreadable_record_is_an_error_with_advice(pair: ClusterPair, text: str) -> None:
    pair.target_server.kv["NSADMIN_TRANSFER"] = {"C/T/U": text or "no json"}
    advice = "begin again, delete it there: `nsadmin deleteKvConfig NSADMIN_TRANSFER"
    with pytest.raises(NotApplied, match=advice):
        TransferStore(pair.clusters.target, "C/T/U").load()
