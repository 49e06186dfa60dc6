"""check transactions: half messages that wait for a decision, and those that brokers discarded."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.client.messages.delayed_messages import HALF_TOPIC
from nsadmin.client.messages.transactions import DISCARDED_TOPIC, ENDED_TOPIC, TransactionAdmin
from nsadmin.operations.checks.check import WHOLE_CLUSTER
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.transactions import CHECK
from tests.support.checks import read_values, run_check
from tests.support.fake_servers import FakeNameServer, answer_json, answer_nothing, refuse_with
from tests.support.message_brokers import CREATED, MessageBroker


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
        running.store_message(b"0,", ENDED_TOPIC, TAGS="d")
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
    assert (found(first_server).state, found(first_server).summary) == (
        CheckState.OK,
        "no half message waits for a decision",
    )
    monkeypatch.setattr("nsadmin.client.admin.AdminClient.clock_ms", CREATED + 1_000)
    holder.store_message(topic=DISCARDED_TOPIC, PGROUP="P", REAL_TOPIC="T")
    finding = found(first_server)
    assert (finding.state, finding.summary) == (
        CheckState.WARNING,
        "no half message waits for a decision; brokers discarded 1 in the last hour",
    )
    assert finding.details == (
        "discarded in the last hour: 1 for T of producer group P, which did not answer the checks of the "
        "broker",
    )
    monkeypatch.setattr("nsadmin.client.admin.AdminClient.clock_ms", CREATED + 3_600_001)
    assert found(first_server).summary == "no half message waits for a decision"


def test_a_broker_that_does_not_tell_is_unknown(first_server: FakeNameServer, holder: MessageBroker) -> None:
    holder.handlers[RequestCode.QUERY_CONSUMER_OFFSET] = refuse_with(1, "no")
    finding = found(first_server)
    assert finding.state is CheckState.UNKNOWN
    assert finding.summary == "broker-a: SYSTEM_ERROR (1): no; no half message was found"


def test_what_is_not_read_is_said(
    first_server: FakeNameServer, holder: MessageBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TransactionAdmin.list_half_messages, "__defaults__", (2,))
    finding = found(first_server)
    assert finding.summary.startswith("at least 1 half message, ")
    assert "not read: 1 newer half message" in finding.details
    for _ in range(2):
        holder.store_message(b"1,", ENDED_TOPIC, TAGS="d")
    finding = found(first_server)
    assert (finding.state, finding.details) == (
        CheckState.UNKNOWN,
        ("broker-a: not read: more than 2 transactions ended since the last check of the broker",),
    )


def test_a_silent_broker_is_waited_for_once(first_server: FakeNameServer, holder: MessageBroker) -> None:
    with MessageBroker() as silent, AdminClient(first_server.addr, timeout=1) as admin:
        silent.handlers[RequestCode.GET_BROKER_CONFIG] = answer_nothing
        first_server.clusters = {"C": {"broker-a": {0: holder.addr}, "broker-b": {0: silent.addr}}}
        observation = CHECK.observe(admin, WHOLE_CLUSTER)
    assert silent.asked_codes() == [RequestCode.GET_BROKER_CONFIG]
    finding = CHECK.judge(CHECK.make_scale(), observation)
    assert any(line.startswith("broker-b: no answer within 1 s") for line in finding.details)
    assert read_values(finding)["half"] == 2
