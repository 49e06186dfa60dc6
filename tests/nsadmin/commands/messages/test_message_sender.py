"""sendMessage."""

import pytest

from namesrv_core.protocol.stored_messages import parse_properties
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.message_brokers import MessageBroker


def table(message_broker: MessageBroker, at: int = 0) -> dict[str, str]:
    return parse_properties(((message_broker.sent[at].ext or {})["i"] or "").encode())


@pytest.mark.parametrize(
    "words", [("T", " 中 "), ("-t", "T", "-p", " 中 "), ("--topic", "T", "--body", " 中 ")]
)
def test_both_forms_send_the_body_as_it_is(
    run_json: Run, message_broker: MessageBroker, words: tuple[str, ...]
) -> None:
    result = run_json("sendMessage", *words)
    assert (result.code, result.err) == (0, "")
    [row] = result.json
    assert row["costMs"] >= 0
    assert table(message_broker)["UNIQ_KEY"] == row["msgId"]
    assert row | {"queueId": 0, "msgId": "ID", "costMs": 0} == {
        "topic": "T", "brokerName": "broker-a", "brokerAddr": message_broker.addr, "queueId": 0,
        "msgId": "ID", "offsetMsgId": "7F000001" + "0" * 24, "queueOffset": 7, "costMs": 0,
        "result": "done", "error": None,
    }  # fmt: skip
    assert message_broker.sent[0].body == " 中 ".encode()


def test_its_flags(run_json: Run, message_broker: MessageBroker) -> None:
    words = ("-k", "a b", "-c", "A", "-b", "broker-a", "-i", "5", "-m", "false", "--property", "x=y=z")
    [row] = run_json("sendMessage", "T", "hello", *words).json
    assert row["queueId"] == 5
    sent = table(message_broker)
    assert (sent["KEYS"], sent["TAGS"], sent["x"], len(message_broker.sent)) == ("a b", "A", "y=z", 1)


def test_a_trace_is_sent_too(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    first_server.routes[TRACE_TOPIC] = {"broker-a": 6}
    [row] = run_json("sendMessage", "T", "hello", "-k", "k", "-m", "true").json
    assert (message_broker.sent[1].ext or {})["b"] == TRACE_TOPIC
    assert table(message_broker, 1)["KEYS"] == f"{row['msgId']} k"


def test_a_trace_that_cannot_be_sent_is_told(run_json: Run, message_broker: MessageBroker) -> None:
    result = run_json("sendMessage", "T", "hello", "-m", "true")
    assert (result.code, result.json[0]["result"], len(message_broker.sent)) == (3, "done", 1)
    assert (
        "the message was sent, but its trace was not written to RMQ_SYS_TRACE_TOPIC: TOPIC_NOT_EXIST (17)"
    ) in result.err


def test_a_dry_run_sends_nothing(run_json: Run, message_broker: MessageBroker) -> None:
    [row] = run_json("sendMessage", "T", "hello", "-b", "broker-a", "-i", "2", "--dry-run").json
    assert (row["queueId"], row["msgId"], row["result"]) == (2, None, "dry-run")
    assert message_broker.sent == []


def test_a_refusal(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.handlers[310] = refuse_with(16, "the broker is not writable")
    result = run_json("sendMessage", "T", "hello")
    assert result.code == 1
    reason = "NO_PERMISSION (16): the broker is not writable"
    assert result.err.startswith(f"nsadmin: failed on 1 of 1 server: {reason}\n")
    [row] = result.json
    assert (row["result"], row["error"]) == ("failed", "NO_PERMISSION (16): the broker is not writable")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("U", "x"), 5, "No topic route info"),
        (("T", "x", "-b", "broker-x"), 5, 'no broker "broker-x"; did you mean "broker-a"?'),
        (("T", "x", "-i", "1"), 2, "-i needs -b BROKER: each broker has its own queues"),
        (("T", "x", "-b", "broker-a", "-i", "9"), 5, "T has no write queue 9 on broker-a: it has 8"),
        (("T", ""), 2, "missing argument BODY: usage: nsadmin sendMessage TOPIC BODY"),
        (("T", "x", "-m", "maybe"), 2, 'invalid value "maybe" for -m: expected true or false'),
        (
            ("T", "x", "--property", "novalue"),
            2,
            'invalid property "novalue" for --property: write NAME=VALUE',
        ),
    ],
)
def test_bad_input_is_one_line(run_json: Run, words: tuple[str, ...], code: int, text: str) -> None:
    result = run_json("sendMessage", *words)
    assert (result.code, result.out) == (code, "")
    assert text in result.err.splitlines()[0]
