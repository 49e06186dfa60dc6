"""queryMsgTraceById."""

from functools import partial

import pytest

from nsadmin.client.messages.message_traces import TRACE_TOPIC
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.message_brokers import MessageBroker

PUB = b"Pub\x011000\x01R\x01pg\x01T\x01ID\x01A\x01k\x01h:1\x015\x0112\x010\x01OFFSET\x01true\x02"


@pytest.fixture
def run_json(run_json: Run, first_server: FakeNameServer) -> Run:
    first_server.routes = {TRACE_TOPIC: {"broker-a": 6}, "Mine": {"broker-a": 6}}
    return partial(run_json, "queryMsgTraceById")


@pytest.mark.parametrize("words", [("ID",), ("-i", "ID"), ("--msgId", "ID")])
def test_what_was_traced(run_json: Run, message_broker: MessageBroker, words: tuple[str, ...]) -> None:
    message_broker.store_message(PUB, TRACE_TOPIC, KEYS="ID")
    result = run_json(*words)
    assert (result.code, result.err) == (0, "")
    [row] = result.json
    assert {name: value for name, value in row.items() if value is not None} == {
        "type": "Pub", "group": "pg", "clientHost": "127.0.0.1:1", "time": "1970-01-01T00:00:01.000Z",
        "costMs": 12, "status": "success", "topic": "T", "msgId": "ID", "offsetMsgId": "OFFSET", "tags": "A",
        "keys": "k", "storeHost": "h:1", "messageType": "Normal",
    }  # fmt: skip


def test_its_flags(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(PUB, "Mine", KEYS="ID")
    assert len(run_json("ID", "-t", "Mine", "-b", "5", "-e", "6", "-c", "7").json) == 1
    ext = message_broker.asked[-1].ext or {}
    assert (ext["beginTimestamp"], ext["endTimestamp"], ext["maxNum"]) == ("5", "6", "7")


def test_no_trace(run_json: Run) -> None:
    assert run_json("ID") == (
        5,
        "",
        "nsadmin: no trace of ID in RMQ_SYS_TRACE_TOPIC: only clients with enabled tracing write traces\n",
    )
    result = run_json("ID", "-t", "Nowhere")
    assert (result.code, "traceTopicEnable" in result.err) == (5, False)
    assert run_json("ID", "-c", "0").code == 2


def test_a_dead_broker_is_mentioned(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}, "broker-b": {0: dead}}}
    first_server.routes[TRACE_TOPIC]["broker-b"] = 6
    silent = f"nsadmin: broker {dead}: connection refused, no server listens on this port\n"
    nothing = f"{silent}nsadmin: no trace of ID in RMQ_SYS_TRACE_TOPIC on the brokers that answered\n"
    assert run_json("ID") == (3, "[]\n", nothing)
    message_broker.store_message(PUB, TRACE_TOPIC, KEYS="ID")
    result = run_json("ID")
    assert (result.code, result.err, len(result.json)) == (3, silent, 1)
