"""Hostile brokers and producers: every command that reads messages ends, with a bounded memory."""

import zlib

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client.messages import pull_requests
from nsadmin.commands.messages import consume, message_rows, queue_reader
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.message_brokers import MessageBroker

END = 2**63 - 1
COMMANDS = [
    ("printMsg", "T"),
    ("printMsgByQueue", "T", "broker-a", "0"),
    ("printMsgByQueue", "T", "broker-a", "0", "-f", "true"),
    ("consumeMessage", "T"),
    ("consume", "T"),
    ("consume", "T", "--output", "json"),
]


@pytest.fixture
def endless_broker(
    first_server: FakeNameServer, message_broker: MessageBroker, monkeypatch: pytest.MonkeyPatch
) -> MessageBroker:
    """Its queues end at 2^63-1, and its answers have no messages."""
    monkeypatch.setattr(pull_requests, "_MAX_EMPTY_ANSWERS", 20)
    monkeypatch.setattr(consume, "_MAX_STALLED_POLLS", 3)
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}}}
    message_broker.handlers[RequestCode.GET_MAX_OFFSET] = lambda asked: build_reply(
        asked, ext={"offset": str(END)}
    )
    return message_broker


@pytest.mark.parametrize("code", [20, 21])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_empty_answers_that_advance_by_one_end(
    run: Run, first_server: FakeNameServer, endless_broker: MessageBroker, words: tuple[str, ...], code: int
) -> None:
    def answer_nothing(asked: RemotingCommand) -> RemotingCommand:
        next_offset = int((asked.ext or {}).get("queueOffset") or 0) + 1
        return build_reply(asked, code, ext={"nextBeginOffset": str(next_offset)})

    endless_broker.handlers[RequestCode.PULL_MESSAGE] = answer_nothing
    result = run(*words, "-n", first_server.addr)
    assert result.code in (1, 3)
    assert "stopped at offset 21: the broker answered 20 times in a row without a message" in result.err


def test_a_broker_that_owes_messages_ends_consume(
    run: Run, first_server: FakeNameServer, endless_broker: MessageBroker
) -> None:
    endless_broker.store_message(b"hello")
    result = run("consume", "T", "--queue", "0", "-n", first_server.addr)
    assert (result.code, "hello" in result.out) == (3, True)
    assert f"queue 0 ends at offset {END}, but the broker returns no message from offset 1 on" in result.err


def test_long_bodies_end_a_list(
    run_json: Run, message_broker: MessageBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (queue_reader, consume):
        monkeypatch.setattr(module, "MAX_KEPT_BYTES", 50)
    for _ in range(5):
        message_broker.store_message(b"x" * 20)
    result = run_json("printMsg", "T")
    assert (result.code, len(result.json)) == (0, 3)
    assert result.err == (
        "nsadmin: stopped after 3 messages, which have long bodies: use --from, --until for more\n"
    )
    result = run_json("printMsg", "T", "--last", "4")
    assert [row["queueOffset"] for row in result.json] == [3, 4]
    assert result.err == "nsadmin: shows only 2 messages, which have long bodies: -d false shows all\n"
    assert len(run_json("printMsg", "T", "--last", "4", "-d", "false").json) == 4
    monkeypatch.setattr(consume, "MAX_SHOWN_BYTES", 1)
    result = run_json("consume", "T")
    assert (result.code, len(result.json)) == (3, 3)
    assert result.err == (
        "nsadmin: stopped after 3 messages, which have long bodies: pass --output jsonl to get all\n"
    )


def test_a_body_of_17_mib_is_named_and_not_shown(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(zlib.compress(bytes(17 << 20)), sys_flag=1, UNIQ_KEY="bomb")
    message_broker.store_message(b"small")
    result = run_json("printMsg", "T")
    rows = result.json
    assert [row["body"] for row in rows] == [None, "small"]
    reason = f"{17 << 20} bytes: more than the {message_rows.MAX_SHOWN_BYTES} that nsadmin shows"
    assert (rows[0]["bodyError"], result.err) == (reason, f"nsadmin: body of bomb: {reason}\n")
