"""producerConnection and producer."""

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.console.output.timestamps import format_utc
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, answer_json
from tests.support.message_brokers import CREATED, MessageBroker


@pytest.fixture
def online_broker(consumer_broker: ConsumerBroker) -> ConsumerBroker:
    consumer_broker.producers = {"P": ["p1"], "CLIENT_INNER_PRODUCER": ["p1"]}
    return consumer_broker


@pytest.mark.parametrize("words", [("P",), ("P", "T"), ("-g", "P", "-t", "T")])
def test_clients_of_a_producer_group(ask: Run, online_broker: ConsumerBroker, words: tuple[str, ...]) -> None:
    result = ask("producerConnection", *words, "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json == [
        {
            "producerGroup": "P",
            "clientId": "p1",
            "clientAddr": "10.0.0.1:5",
            "language": "JAVA",
            "version": "V5_5_0",
            "protocol": "remoting",
            "brokerAddrs": [online_broker.addr],
        }
    ]


def test_a_producer_group_nobody_is_of(
    ask: Run, first_server: FakeNameServer, online_broker: ConsumerBroker, dead_addr: str
) -> None:
    result = ask("producerConnection", "X")
    assert (result.code, result.out) == (5, "")
    assert ask("producerConnection", "P", "NoTopic").code == 5
    first_server.clusters = {"C": {"a": {0: online_broker.addr, 1: dead_addr}}}
    result = ask("producerConnection", "P")
    assert (result.code, result.err) == (
        3,
        f"nsadmin: broker {dead_addr}: connection refused, no server listens on this port\n",
    )


@pytest.mark.parametrize("flag", [None, "-b", "--broker"])
def test_all_producers_of_one_broker_need_no_name_server(
    run: Run, online_broker: ConsumerBroker, flag: str | None
) -> None:
    result = run("producer", *([flag] if flag else []), online_broker.addr, "--json")
    assert (result.code, result.err) == (0, "")
    inner, mine = result.json
    assert inner["producerGroup"] == "CLIENT_INNER_PRODUCER"
    assert mine == {
        "producerGroup": "P",
        "clientId": "p1",
        "clientAddr": "10.0.0.1:5",
        "language": "JAVA",
        "version": "V4_9_7",
        "protocol": "remoting",
        "lastUpdated": "1970-01-01T00:00:01.000Z",
        "brokerAddr": online_broker.addr,
    }


def test_clients_with_several_rows_point_to_the_list_that_has_each_once(
    ask: Run, online_broker: ConsumerBroker
) -> None:
    command = "nsadmin client list --filter role=producer --columns clientId,clientAddr,language,version"
    assert ask("producer").err == (
        f"nsadmin: 1 client, each once for every broker and group; each producer once: {command}\n"
    )
    assert ask("producer", "--no-internal").err == ""


def test_producers_of_every_broker(
    ask: Run, first_server: FakeNameServer, online_broker: ConsumerBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: online_broker.addr, 1: dead_addr}}}
    result = ask("producer", "--no-internal")
    assert result.code == 3
    assert [line.split()[0] for line in result.out.splitlines()] == ["producerGroup", "P"]
    assert result.err == f"nsadmin: broker {dead_addr}: connection refused, no server listens on this port\n"


def test_the_machines_that_sent_the_newest_messages_of_a_topic(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker, dead_addr: str
) -> None:
    producer = {"clientId": "p1", "remoteIP": "127.0.0.1:7", "language": "JAVA", "version": 1}
    table = {"data": {"P": [producer], "CLIENT_INNER_PRODUCER": [producer]}}
    message_broker.handlers[RequestCode.GET_ALL_PRODUCER_INFO] = lambda asked: answer_json(asked, table)
    assert "no message of T is left" in run_json("producer", "--topic", "T").err
    for queue in (0, 0, 0, 5):
        message_broker.store_message(queue_id=queue)
    result = run_json("producer", "--topic", "T", "--last", "3")
    last_stored = format_utc(CREATED + 2000)
    assert result.json == [
        {
            "host": "127.0.0.1",
            "messageCount": 3,
            "lastStored": last_stored,
            "producerGroups": ["P"],
            "versions": ["V3_0_0_ALPHA1"],
            "languages": ["JAVA"],
        }
    ]
    assert (result.code, result.err) == (
        0,
        "nsadmin: looked at the newest 3 messages of T (2 of each of 2 queues): --last N looks at more\n",
    )
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}, "broker-b": {0: dead_addr}}}
    first_server.routes = {"T": {"broker-a": 6, "broker-b": 6}}
    result = run_json("producer", "--topic", "T")
    assert (result.code, result.json[0]["messageCount"]) == (3, 4)
    assert f"brokers broker-b, {dead_addr}: connection refused" in result.err
    assert run_json("producer", message_broker.addr, "--topic", "T").code == 2
    assert run_json("producer", "--topic", "none").code == 5
