"""broker explain: what it asks a broker, the collector's journal, the notes and the exit codes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port
from tests.support.message_brokers import MessageBroker

_POLL = (
    '{{"v":1,"seq":{},"time":{},"server":"c","type":"BrokerRuntime","cause":"poll","clusterName":"C",'
    '"brokerName":"broker-a","brokerId":0,"brokerAddr":"{}","sendQueueWaitMillis":{}}}\n'
)


@pytest.fixture
def busy(first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[MessageBroker]:
    monkeypatch.setattr("nsadmin.commands.procedures.broker_explain.sleep", lambda seconds: None)
    with MessageBroker() as broker:
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        broker.table |= {"sendThreadPoolQueueHeadWaitTimeMills": "211", "putTps": "9 9 9"}
        broker.settings |= {"brokerRole": "ASYNC_MASTER", "waitTimeMillsInSendQueue": "200"}
        broker.handlers[RequestCode.GET_ALL_TOPIC_CONFIG] = lambda asked: answer_json(
            asked,
            {
                "topicConfigTable": {
                    "T": {"topicName": "T", "writeQueueNums": 1, "readQueueNums": 1, "perm": 6}
                }
            },
        )
        broker.handlers[RequestCode.VIEW_BROKER_STATS_DATA] = count_messages
        broker.store_message(b"x", "T")
        yield broker


def count_messages(asked: RemotingCommand) -> RemotingCommand:
    return answer_json(asked, {"statsMinute": {"sum": 540, "tps": 9.0, "avgpt": 1.0}})


def test_a_limit_that_is_hit_and_who_sends(
    run: Run, first_server: FakeNameServer, busy: MessageBroker
) -> None:
    result = run("broker", "explain", "broker-a", "-n", first_server.addr, "--json")
    rows = {row["step"]: row for row in result.json}
    assert (result.code, rows["sendQueueWait"]["result"]) == (1, "cause")
    assert rows["sendQueueWait"]["command"] == (
        f"nsadmin updateBrokerConfig waitTimeMillsInSendQueue 400 -b {busy.addr}"
    )
    assert rows["load"]["seen"] == (
        "messages of the last minute: 540, T 100 %; senders of the newest messages of this topic: "
        "127.0.0.1 100 %"
    )
    assert "since when the broker has this problem is unknown: pass --journal DIR" in result.err
    assert busy.asked_codes().count(RequestCode.GET_BROKER_RUNTIME_INFO) == 20
    busy.table["sendThreadPoolQueueHeadWaitTimeMills"] = "0"
    result = run("broker", "explain", "broker-a", "-n", first_server.addr)
    assert "since when" not in result.err
    assert "comes and goes: nsadmin broker explain broker-a --watch 5, or record" in result.err


def test_the_load_has_the_largest_topics_and_the_total_of_all(
    run: Run, first_server: FakeNameServer, busy: MessageBroker
) -> None:
    names = [f"t{i}" for i in range(9)]
    config = {"writeQueueNums": 1, "readQueueNums": 1, "perm": 6}
    busy.handlers[RequestCode.GET_ALL_TOPIC_CONFIG] = lambda asked: answer_json(
        asked, {"topicConfigTable": {name: {"topicName": name, **config} for name in names}}
    )
    busy.handlers[RequestCode.VIEW_BROKER_STATS_DATA] = lambda asked: answer_json(
        asked, {"statsMinute": {"sum": 10 * names.index(str((asked.ext or {})["statsKey"]))}}
    )
    result = run("broker", "explain", "broker-a", "-n", first_server.addr, "--json")
    [row] = [row for row in result.json if row["step"] == "load"]
    assert row["seen"].startswith(
        "messages of the last minute: 360, t8 22 %, t7 19 %, t6 17 %, t5 14 %, t4 11 % and 3 more"
    )


def test_a_collector_knows_since_when(
    run: Run, first_server: FakeNameServer, busy: MessageBroker, tmp_path: Path
) -> None:
    (tmp_path / "brokers").mkdir()
    file = tmp_path / "brokers" / "0000000000000001-20250201T000000000Z.jsonl"
    begin_ms = 4_102_444_800_000
    polls = enumerate((300, 0, 250, 260))
    file.write_text("".join(_POLL.format(i + 1, begin_ms + i * 1000, busy.addr, wait) for i, wait in polls))
    result = run(
        "broker", "explain", busy.addr, "--journal", str(tmp_path), "-n", first_server.addr, "--json"
    )  # fmt: skip
    [row] = [row for row in result.json if row["step"] == "sendQueueWait"]
    assert row["seen"].endswith("waited for 211 ms, since 2100-01-01T00:00:02Z by the collector")
    assert "since when" not in result.err


def test_a_broker_that_does_not_answer(run: Run, first_server: FakeNameServer) -> None:
    first_server.clusters = {"C": {"broker-a": {0: f"127.0.0.1:{closed_port()}"}}}
    result = run("broker", "explain", "broker-a", "-n", first_server.addr, "--json")
    steps = {row["step"]: row["result"] for row in result.json}
    assert (result.code, steps["brokerSilent"], steps["sendQueueWait"]) == (4, "cause", "skipped")
