"""check transactions: half messages that wait for a decision, and those that brokers discarded."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.transactions import CHECK
from nsadmin.operations.half_messages import DISCARDED_TOPIC, HALF_TOPIC, OP_TOPIC, find_decided
from tests.support.checks import read_values, run_check
from tests.support.fake_servers import FakeNameServer, answer_json, refuse_with
from tests.support.message_brokers import CREATED, MessageBroker
from tests.support.messages import encode_message


@pytest.fixture
def holder(first_server: FakeNameServer) -> Iterator[MessageBroker]:
    """Three half messages, of which the first one is decided."""
    with MessageBroker() as running:
        running.handlers[RequestCode.QUERY_CONSUMER_OFFSET] = refuse_with(22, "not found")
        running.handlers[RequestCode.GET_PRODUCER_CONNECTION_LIST] = refuse_with(
            1, "the producer group not exist"
        )
        for key in ("A", "B", "C"):
            running.store_message(topic=HALF_TOPIC, UNIQ_KEY=key, PGROUP="P", REAL_TOPIC="T")
        running.store_message(b"0,", OP_TOPIC, TAGS="d")
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        yield running


def found(first_server: FakeNameServer, age_ms: int = 10_000) -> CheckFinding:
    return run_check(CHECK, first_server.addr, now_ms=CREATED + age_ms)


def test_producers_that_are_gone_are_a_warning(first_server: FakeNameServer, holder: MessageBroker) -> None:
    finding = found(first_server)
    assert finding.state is CheckState.WARNING
    assert {name: read_values(finding)[name] for name in ("half", "abandoned", "discarded")} == {
        "half": 2, "abandoned": 2, "discarded": 0,
    }  # fmt: skip
    assert finding.details[0].startswith(
        "producer group P: 2 half messages for T on broker-a, the oldest is "
    )
    assert "no client is connected: start a producer of this group" in finding.details[0]


def test_connected_producers_may_take_their_time(first_server: FakeNameServer, holder: MessageBroker) -> None:
    client = {"clientAddr": "c:1", "clientId": "c", "language": "JAVA", "version": 407}
    holder.handlers[RequestCode.GET_PRODUCER_CONNECTION_LIST] = lambda asked: answer_json(
        asked, {"connectionSet": [client]}
    )
    finding = found(first_server)
    assert finding.state is CheckState.OK
    assert found(first_server, 10_000_000).state is CheckState.CRITICAL


def test_discarded_transactions_of_the_last_hour_are_a_warning(
    first_server: FakeNameServer, holder: MessageBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder.queues.clear()
    assert (found(first_server).state, found(first_server).summary) == (CheckState.OK, "0 half messages")
    monkeypatch.setattr("nsadmin.client.admin.AdminClient.clock_ms", CREATED + 1_000)
    holder.store_message(topic=DISCARDED_TOPIC, PGROUP="P", REAL_TOPIC="T")
    finding = found(first_server)
    assert (finding.state, finding.summary) == (
        CheckState.WARNING,
        "0 half messages; brokers discarded 1 in the last hour",
    )
    assert finding.details == (
        "discarded in the last hour: 1 for T of producer group P, which did not answer the checks of the "
        "broker",
    )


def test_a_broker_that_does_not_tell_is_unknown(first_server: FakeNameServer, holder: MessageBroker) -> None:
    holder.handlers[RequestCode.QUERY_CONSUMER_OFFSET] = refuse_with(1, "no")
    finding = found(first_server)
    assert (finding.state, finding.summary) == (CheckState.UNKNOWN, "at least 0 half messages")


@pytest.mark.parametrize(("body", "offsets"), [(b"7", [7]), (b"7,8,", [7, 8]), (b"", []), (b"x", [])])
def test_the_offsets_of_decided_half_messages(body: bytes, offsets: list[int]) -> None:
    def message(tag: str) -> StoredMessage:
        return decode_messages(encode_message(body, OP_TOPIC, table={"TAGS": tag})).messages[0]

    assert list(find_decided([message("d"), message("other")])) == offsets
