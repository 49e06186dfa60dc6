"""transaction: the lists name producers that do not answer, and a message is resumed after a preview."""

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client.messages.transactions import DISCARDED_TOPIC, ENDED_TOPIC
from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import HALF, DeadLetterBroker
from tests.support.fake_servers import answer_json, refuse_with
from tests.support.message_brokers import CREATED

_RESUME = RequestCode.RESUME_CHECK_HALF_MESSAGE


@pytest.fixture(autouse=True)
def _filled(store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsadmin.commands.messages.transactions.time", lambda: CREATED / 1000)
    store.settings |= {"transactionCheckMax": "15", "fileReservedTime": "72"}

    def list_producers(asked: RemotingCommand) -> RemotingCommand:
        if (asked.ext or {}).get("producerGroup") == "alive":
            return answer_json(asked, {"connectionSet": [{"clientId": "c"}]})
        return build_reply(asked, 1, remark="the producer group[dead] not exist")

    store.handlers[RequestCode.GET_PRODUCER_CONNECTION_LIST] = list_producers
    store.handlers[RequestCode.QUERY_MESSAGE] = lambda asked: build_reply(asked, 22)
    store.handlers[_RESUME] = build_reply
    for topic, msg_id, group in ((HALF, "A", "dead"), (HALF, "B", "alive"), (DISCARDED_TOPIC, "C", "dead")):
        store.store_message(b"x", topic, UNIQ_KEY=msg_id, REAL_TOPIC="T", REAL_QID="0", PGROUP=group)


def test_a_group_without_a_client_is_named(stream: Run) -> None:
    result = stream("transaction", "list", "--json")
    fields = ("msgId", "topic", "producerGroup", "connected", "checks", "maxChecks")
    assert [tuple(row[f] for f in fields) for row in result.json] == [
        ("A", "T", "dead", False, 0, 15), ("B", "T", "alive", True, 0, 15),
    ]  # fmt: skip
    assert (result.code, result.err) == (
        0,
        "nsadmin: 2 messages of 2 producer groups\n"
        "nsadmin: dead: no client is connected to broker-a, so nobody answers for 1 half message: start a "
        "producer of the group\n",
    )


@pytest.mark.parametrize(("name", "ids"), [("T", ["A", "B"]), ("alive", ["B"]), ("U", [])])
def test_a_name_is_that_of_a_topic_or_a_group(stream: Run, name: str, ids: list[str]) -> None:
    assert [row["msgId"] for row in stream("transaction", "list", name, "--json").json] == ids


def test_a_limit_is_reported(stream: Run, store: DeadLetterBroker) -> None:
    result = stream("transaction", "list", "alive", "--limit", "1", "-b", store.addr, "--json")
    assert (result.json, "1 message not examined: pass a larger --limit N" in result.err) == ([], True)
    for _ in range(2):
        store.store_message(b"0,", ENDED_TOPIC)
    result = stream("transaction", "list", "--limit", "1", "-b", store.addr)
    assert "not read: more than 1 transactions ended since the last check of the broker" in result.err
    assert (result.code, f"{store.addr}: pass a larger --limit N" in result.err) == (1, True), result.err


def test_a_discarded_message_is_resumed_after_a_preview(stream: Run, store: DeadLetterBroker) -> None:
    assert [row["msgId"] for row in stream("transaction", "discarded", "dead", "--json").json] == ["C"]
    result = stream("transaction", "resume", "C", "--dry-run", "--json")
    assert (result.json[0]["result"], _RESUME in store.asked_codes()) == ("dry-run", False)
    assert "no client of dead is connected to the broker: start one" in result.err
    result = stream("transaction", "resume", "C", "--yes", "--json")
    assert (result.json[0]["result"], store.asked_codes().count(_RESUME)) == ("done", 1)


@pytest.mark.parametrize(
    ("code", "text"),
    [(3, "the broker cannot check a discarded message again"), (1, "SYSTEM_ERROR (1): no")],
)
def test_a_broker_that_does_not_resume(stream: Run, store: DeadLetterBroker, code: int, text: str) -> None:
    store.handlers[_RESUME] = refuse_with(code, "no")
    result = stream("transaction", "resume", "C", "--yes", "--json")
    assert (result.code, text in result.err, result.json[0]["result"]) == (1, True, "failed")


def test_a_message_that_is_not_discarded(stream: Run) -> None:
    result = stream("transaction", "resume", "A", "--yes")
    assert (result.code, result.err) == (5, 'nsadmin: no discarded half message "A" on 1 broker\n')
