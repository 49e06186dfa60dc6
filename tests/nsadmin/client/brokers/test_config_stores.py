"""Who can write JSON files of what it keeps in RocksDB, and the order to do so."""

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from tests.support.fake_servers import closed_port
from tests.support.topic_brokers import TopicBroker

IN_ROCKSDB = {"storeType": "defaultRocksDB", "configManagerVersion": "v1", "storePathRootDir": "/data"}


def test_who_can_write_files_and_what_they_are_asked_for() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with TopicBroker() as broker, TopicBroker() as v2, TopicBroker() as plain, AdminClient("h:1") as admin:
        broker.items |= IN_ROCKSDB
        v2.items |= {**IN_ROCKSDB, "configManagerVersion": "v2"}
        broker.handlers[355] = build_reply
        kept = admin.upkeep.config_stores.check_json_export([broker.addr, v2.addr, plain.addr, dead])
        assert [item.result and item.result.reason for item in kept] == [
            None,
            "a broker with configManagerVersion=v2 cannot export it",
            "the broker keeps JSON files anyway (storeType=default)",
            None,
        ]
        assert kept[0].result
        assert kept[0].result.folder == "/data/config"
        assert kept[3].error
        done = admin.upkeep.config_stores.export_json(
            [broker.addr, plain.addr], ["topics", "consumerOffsets"]
        )
        assert [(item.result, item.error is None) for item in done] == [(True, True), (None, False)]
        [ext] = [item.ext for item in broker.asked if item.code == 355]
        assert ext
        assert ext["configType"] == "topics;consumerOffsets;"
