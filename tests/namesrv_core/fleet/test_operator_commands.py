"""Orders to a simulated broker: what it does, and what it refuses in 5.5.0's words."""

import json
from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.command import RemotingCommand, build_request

NOW = 1_700_000_000_000


def broker(broker_id: int = 0) -> BrokerModel:
    topics = (make_topic_config("orders", 8),)
    spec = BrokerSpec("c", "b", broker_id, topics, {"orders": ("g",)})
    return BrokerModel(spec, f"127.0.0.1:{1000 + broker_id}", [], NOW)


@pytest.fixture
def model() -> BrokerModel:
    return broker()


def ask(
    model: BrokerModel, code: int, ext: dict[str, str] | None = None, body: bytes = b""
) -> RemotingCommand:
    return handle_request(model, build_request(code, ext, body), NOW)[0]


def told(command: RemotingCommand) -> Any:
    assert command.code == 0, command.remark
    return json.loads(command.body)


def mode(topic: str, group: str) -> bytes:
    wanted = {"topic": topic, "consumerGroup": group, "mode": "POP", "popShareQueueNum": 2}
    return json.dumps(wanted).encode()


def test_a_consume_mode_is_kept(model: BrokerModel) -> None:
    assert ask(model, 401, None, mode("orders", "g")).code == 0
    modes = told(ask(model, 402))["messageRequestModeMap"]
    assert modes == {"orders": {"g": json.loads(mode("orders", "g"))}}


@pytest.mark.parametrize(
    ("topic", "group", "code"), [("%RETRY%g", "g", 16), ("no", "g", 17), ("orders", "no", 26)]
)
def test_a_consume_mode_of_what_is_not_there(model: BrokerModel, topic: str, group: str, code: int) -> None:
    assert ask(model, 401, None, mode(topic, group)).code == code
    assert told(ask(model, 402)) == {"messageRequestModeMap": {}}


def test_thresholds_for_cold_data_come_and_go(model: BrokerModel) -> None:
    assert ask(model, 2001, None, b"g=5\nh=soon\n").code == 0
    thresholds = told(ask(model, 2003))
    assert thresholds["configTable"] == {"g": 5}
    assert (thresholds["cgColdReadThreshold"], thresholds["globalColdReadThreshold"]) == (
        3_145_728,
        104_857_600,
    )
    assert ask(model, 2002, None, b"g").code == ask(model, 2002, None, b"nobody").code == 0
    assert told(ask(model, 2003))["configTable"] == {}


def test_how_the_commit_log_is_read_ahead(model: BrokerModel) -> None:
    assert (
        ask(model, 2004, {"READ_AHEAD_MODE": "1"}).remark == "set commitlog readahead mode success, mode: 1"
    )
    assert b"dataReadAheadEnable=false" in ask(model, 26).body
    assert ask(model, 2004, {"READ_AHEAD_MODE": "7"}).code == 29


def test_the_engine_of_timed_messages(model: BrokerModel) -> None:
    assert (ask(model, 5001, {"E_T": "R"}).code, ask(model, 5001, {"E_T": "X"}).code) == (29, 29)
    assert ask(model, 25, None, b"timerRocksDBEnable=true\n").code == 0
    assert ask(model, 5001, {"E_T": "R"}).remark == "switch timer engine success"
    assert b"timerRocksDBStopScan=false\n" in ask(model, 26).body
    assert b"timerStopEnqueue=true\n" in ask(model, 26).body
    assert ask(model, 5001, {"E_T": "F"}).code == 0
    assert b"timerStopEnqueue=false\n" in ask(model, 26).body


def test_a_slave_is_told_of_its_master_and_a_master_passes_over_it(model: BrokerModel) -> None:
    slave = broker(1)
    slave.peer_models = model.peer_models | slave.peer_models
    for broker_model in (model, slave):
        assert ask(broker_model, 908, {"masterFlushOffset": "5"}).code == 0
    assert told(ask(slave, 907))["haClientRuntimeInfo"]["masterFlushOffset"] == 5
    assert model.master_flush_offset is None


def test_entries_of_a_queue(model: BrokerModel) -> None:
    refused = ask(model, 321, {"topic": "orders", "queueId": "0", "index": "0", "count": "2"})
    assert (refused.code, refused.body, refused.remark) == (0, b"", "Index 0 of 0@orders is not exist!")
    low = int((ask(model, 31, {"topic": "orders", "queueId": "0"}).ext or {})["offset"] or 0)
    entries = told(ask(model, 321, {"topic": "orders", "queueId": "0", "index": str(low), "count": "2"}))
    assert (entries["minQueueIndex"], len(entries["queueData"])) == (low, 2)
    first = entries["queueData"][0]
    message = ask(model, 33, {"offset": str(first["physicOffset"])})
    assert len(message.body) == first["physicSize"]
    assert (
        ask(model, 321, {"topic": "orders", "queueId": "9", "index": "0"}).remark == "9@orders is not exist!"
    )


def test_the_hash_of_a_tag_is_javas(model: BrokerModel) -> None:
    low = int((ask(model, 31, {"topic": "orders", "queueId": "0"}).ext or {})["offset"] or 0)
    ext = {"topic": "orders", "queueId": "0", "index": str(low), "count": "20"}
    codes = {item["tagsCode"] for item in told(ask(model, 321, ext))["queueData"]}
    # "created", "updated", "cancelled" and "settled" in Java.
    assert codes == {1028554472, -234430277, 476588369, 1985943673}
