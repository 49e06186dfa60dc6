"""producerConnection and producer."""

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, answer_json
from tests.support.message_brokers import MessageBroker


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


def test_producers_of_every_broker(
    ask: Run, first_server: FakeNameServer, online_broker: ConsumerBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: online_broker.addr, 1: dead_addr}}}
    result = ask("producer", "--no-internal")
    assert result.code == 3
    assert [line.split()[0] for line in result.out.splitlines()] == ["producerGroup", "P"]
    assert result.err == f"nsadmin: broker {dead_addr}: connection refused, no server listens on this port\n"


def test_the_producers_of_a_topic_are_the_senders_of_its_newest_messages(
    ask: Run, message_broker: MessageBroker
) -> None:
    addrs = {"P": ["/127.0.0.1:1"], "OTHER": ["/10.0.0.9:5"], "CLIENT_INNER_PRODUCER": ["/127.0.0.1:1"]}
    message_broker.handlers[RequestCode.GET_ALL_PRODUCER_INFO] = lambda asked: answer_json(
        asked,
        {
            "data": {
                group: [
                    {
                        "clientId": group,
                        "language": "JAVA",
                        "lastUpdateTimestamp": 1,
                        "remoteIP": a,
                        "version": 1,
                    }
                    for a in group_addrs
                ]
                for group, group_addrs in addrs.items()
            }
        },
    )
    # The sender is 127.0.0.1:1.
    message_broker.store_message()
    result = ask("producer", "--topic", "T", "--json")
    assert (result.code, result.err) == (0, "")
    assert [row["producerGroup"] for row in result.json] == ["P"]
    # It connected again, from another port.
    addrs["P"] = ["/127.0.0.1:2"]
    assert [row["clientAddr"] for row in ask("producer", "-t", "T", "--json").json] == ["127.0.0.1:2"]
    addrs["P"] = []
    gone = ask("producer", "-t", "T")
    assert gone.err.startswith("nsadmin: 127.0.0.1 sent a message at 2023-11-14T22:13:20")
    assert "no broker lists it as a producer now" in gone.err
    assert ask("producer", message_broker.addr, "-t", "T").code == 2
