"""Orders to brokers about their files, and what they can be read back by."""

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.brokers.upkeep import READ_AHEAD_SETTINGS, TIMER_SETTINGS
from nsadmin.client.results import NotApplied
from tests.support.fake_servers import answer_json, closed_port
from tests.support.topic_brokers import TopicBroker


def test_each_broker_gets_the_order_and_a_dead_one_is_told() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        for order, code in (
            (admin.upkeep.clean_unused_topics, 316),
            (admin.upkeep.clean_expired_consume_queues, 306),
            (admin.upkeep.delete_expired_commit_logs, 329),
        ):
            broker.handlers[code] = build_reply
            first, second = order([broker.addr, dead])
            assert (first.result, first.error, broker.asked_codes()[-1]) == (True, None, code)
            assert second.error is not None


def test_what_is_switched_is_read_back() -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        broker.handlers |= {2004: build_reply, 5001: build_reply}
        [old] = admin.upkeep.get_settings([broker.addr], READ_AHEAD_SETTINGS)
        assert isinstance(old.error, NotApplied)
        broker.items |= {"dataReadAheadEnable": "false", "timerStopEnqueue": "true"}
        [read_ahead] = admin.upkeep.set_read_ahead([broker.addr], 1)
        assert read_ahead.result == {"dataReadAheadEnable": "false"}
        [timer] = admin.upkeep.switch_timer_engine([broker.addr], "R")
        assert timer.result == {"timerStopEnqueue": "true"}
        asked = [(item.code, item.ext) for item in broker.asked if item.code in (2004, 5001)]
        assert asked == [(2004, {"READ_AHEAD_MODE": "1"}), (5001, {"E_T": "R"})]
        del broker.handlers[5001]
        [refused] = admin.upkeep.switch_timer_engine([broker.addr], "R")
        assert "not supported" in str(refused.error)
    assert len(TIMER_SETTINGS) == 3


def test_only_a_slave_is_told_of_its_master() -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        assert isinstance(admin.upkeep.reset_master_flush_offset(broker.addr, 5).error, NotApplied)
        broker.as_slave()
        link = {"masterFlushOffset": 5}
        broker.handlers |= {
            907: lambda asked: answer_json(asked, {"master": False, "haClientRuntimeInfo": link}),
            908: build_reply,
        }
        assert admin.upkeep.reset_master_flush_offset(broker.addr, 5).result is True
        link["masterFlushOffset"] = 6
        ignored = admin.upkeep.reset_master_flush_offset(broker.addr, 5)
        assert str(ignored.error) == (
            f"{broker.addr} reported success, but the master's flush offset is 6: it ignored the change, or "
            f"somebody changed it again; see `nsadmin haStatus {broker.addr}`, then run the command again"
        )
        broker.handlers[907] = lambda asked: answer_json(asked, {"master": True})
        assert isinstance(admin.upkeep.get_master_flush_offset(broker.addr).error, NotApplied)


@pytest.mark.parametrize(("writes_both", "status"), [("true", 2), ("false", None)])
def test_queues_are_compared_where_there_are_two_kinds(writes_both: str, status: int | None) -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        broker.handlers[354] = lambda asked: answer_json(asked, {"checkStatus": 2})
        broker.items["rocksdbCQDoubleWriteEnable"] = writes_both
        [result] = admin.upkeep.check_rocksdb_queues([broker.addr], "T", 5)
        assert (result.result, result.error is None) == (status, status is not None)
        asked = [item.ext for item in broker.asked if item.code == 354]
        assert asked == ([{"topic": "T", "checkStoreTime": "5"}] if status else [])


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
