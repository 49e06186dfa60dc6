"""Changes as mqadmin says them."""

from typing import Any

from namesrv_core.errors import RocketMQError
from nsadmin.commands.mqadmin.output_forms import OUTPUT_FORMS
from nsadmin.console.output import ResultRow, ResultRows
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.topic_brokers import TopicBroker, topic_config

CONFIG = {
    "readQueueNums": 8, "writeQueueNums": 4, "perm": 6, "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0,
    "order": False, "attributes": {"message.type": "FIFO"},
}  # fmt: skip
CONFIG_TEXT = (
    "TopicConfig [topicName=T, readQueueNums=8, writeQueueNums=4, perm=RW-, topicFilterType=SINGLE_TAG, "
    "topicSysFlag=0, order=false, attributes={message.type=FIFO}]"
)


def lines(command: str, rows: list[ResultRow], errors: Any = (), **arguments: Any) -> list[str]:
    return OUTPUT_FORMS[command](ResultRows((), rows, errors), arguments).split("\n")[:-1]


def master(addr: str, **more: Any) -> ResultRow:
    return {"server": addr, "role": "master", "topic": "T", "before": CONFIG, "after": CONFIG, **more}


def test_a_topic_is_created_on_each_master_and_shown_once() -> None:
    rows = [master("h:1"), master("h:2", error="refused"), master("h:3")]
    assert lines("updateTopic", rows) == [
        "create topic to h:1 success.", "create topic to h:3 success.", CONFIG_TEXT,
    ]  # fmt: skip


def test_a_permission_changes_or_not() -> None:
    shut = {**CONFIG, "perm": 4}
    changed = master("h:1", before=shut)
    assert lines("updateTopicPerm", [changed, master("h:2")], cluster_name="C") == [
        "update topic perm from 4 to 6 in h:1 success.", "new perm equals to the old one!",
    ]  # fmt: skip
    assert lines("updateTopicPerm", [changed], cluster_name=None) == [
        "update topic perm from 4 to 6 in h:1 success.", f"{CONFIG_TEXT}.",
    ]  # fmt: skip


def test_a_deletion_ends_with_its_last_success() -> None:
    rows: list[ResultRow] = [
        {"server": "h:1", "role": "master", "result": "done"},
        {"server": "h:9", "role": "namesrv", "result": "done"},
    ]
    both = [
        "delete topic [T] from cluster [C] success.", "delete topic [T] from NameServer success.",
    ]  # fmt: skip
    assert lines("deleteTopic", rows, topic="T", cluster_name="C") == both
    rows[1] = {**rows[1], "result": "failed"}
    assert lines("deleteTopic", rows, topic="T", cluster_name="C") == both[:1]
    assert lines("deleteTopic", [{**rows[0], "result": "failed"}], topic="T", cluster_name="C") == []


def test_small_changes() -> None:
    perms: list[ResultRow] = [
        {"namesrvAddr": "h:1", "brokerName": "a", "topicCount": 4},
        {"namesrvAddr": "h:2", "brokerName": "a", "error": "refused"},
    ]
    assert lines("addWritePerm", perms) == [
        "add write perm of broker[a] in name server[h:1] OK, 4",
        "add write perm of broker[a] in name server[h:2] Failed",
    ]
    assert lines("deleteKvConfig", [], [None, None]) == ["delete kv config from namespace success."]
    assert lines("deleteKvConfig", [], [RocketMQError("no")]) == []
    settings: list[ResultRow] = [{"brokerAddr": "h:1"}, {"brokerAddr": "h:2", "error": "refused"}]
    assert lines("updateBrokerConfig", settings) == ["update broker config success, h:1"]


def test_real_rows_have_what_the_forms_read(run: Run, first_server: FakeNameServer) -> None:
    where = ("-n", first_server.addr, "--output", "mqadmin", "-y")
    with TopicBroker(topic_config("T")) as broker:
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        assert run("updateTopic", "T", "-c", "C", "-r", "4", *where).out.startswith(
            f"create topic to {broker.addr} success.\nTopicConfig [topicName=T, readQueueNums=4, "
        )
        assert run("updateTopicPerm", "T", "4", "-b", broker.addr, *where).out.startswith(
            f"update topic perm from 6 to 4 in {broker.addr} success.\nTopicConfig [topicName=T, "
        )
        assert run("updateBrokerConfig", "fileReservedTime", "48", "-b", broker.addr, *where).out == (
            f"update broker config success, {broker.addr}\n"
        )
