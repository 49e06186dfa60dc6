"""Traffic, added up over masters."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.topics.topic_traffic import MessageCount, TopicTraffic
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with
from tests.support.topic_brokers import TopicBroker


@pytest.fixture
def a() -> Iterator[TopicBroker]:
    with TopicBroker() as broker:
        broker.topics = {"T": ["G"], "Idle": []}
        broker.counts = {("TOPIC_PUT_NUMS", "T"): 120, ("GROUP_GET_NUMS", "T@G"): 60}
        broker.handlers[208] = broker.answer_lags((10, 4), (5, 5))
        yield broker


@pytest.fixture
def b() -> Iterator[TopicBroker]:
    with TopicBroker(name="broker-b") as broker:
        broker.topics = {"T": []}
        broker.counts = {("TOPIC_PUT_NUMS", "T"): 60}
        broker.handlers[208] = broker.answer_lags((3, 0))
        yield broker


def asked(server: FakeNameServer, *names: str) -> list[TopicTraffic]:
    server.routes = {"T": {"broker-a": 6, "broker-b": 6}, "Idle": {"broker-a": 6}}
    with AdminClient(server.addr, timeout=5) as admin:
        return admin.topics.get_traffic(names)


def test_masters_are_added_up(first_server: FakeNameServer, a: TopicBroker, b: TopicBroker) -> None:
    first_server.clusters = {"C": {"broker-a": {0: a.addr}, "broker-b": {0: b.addr}}}
    assert asked(first_server, "T", "Idle", "Gone") == [
        TopicTraffic("Idle", None, None, MessageCount(0.0, 0), None, None),
        TopicTraffic("T", "G", 9, MessageCount(3.0, 180), MessageCount(1.0, 60), None, None, 9),
    ]


def test_a_master_with_two_names_is_added_once(first_server: FakeNameServer, a: TopicBroker) -> None:
    first_server.clusters = {"C": {"broker-a": {0: a.addr}, "broker-b": {0: a.addr}}}
    [row] = asked(first_server, "T")
    assert (row.lag, row.in_count) == (6, MessageCount(2.0, 120))


def test_what_is_missing_from_a_sum_is_told(first_server: FakeNameServer, a: TopicBroker) -> None:
    first_server.clusters = {"C": {"broker-a": {0: a.addr}, "broker-b": {0: f"127.0.0.1:{closed_port()}"}}}
    [row] = asked(first_server, "T")
    assert row[:5] == ("T", "G", 6, MessageCount(2.0, 120), MessageCount(1.0, 60))
    assert "refused" in str(row.error)


def test_where_nobody_answers_numbers_are_unknown(first_server: FakeNameServer) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    first_server.clusters = {"C": {"broker-a": {0: dead}, "broker-b": {1: dead}}}
    [row] = asked(first_server, "T")
    assert row[:5] == ("T", None, None, None, None)
    assert row.error is not None


def test_a_slave_alone_is_not_counted(first_server: FakeNameServer, a: TopicBroker, b: TopicBroker) -> None:
    first_server.clusters = {"C": {"broker-a": {0: a.addr}, "broker-b": {1: b.addr}}}
    [row] = asked(first_server, "T")
    assert row.in_count == MessageCount(2.0, 120)
    assert str(row.error) == "broker-b has no master now"
    assert 315 not in b.asked_codes()


def test_what_masters_take_of_a_topic_now(first_server: FakeNameServer, a: TopicBroker) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with AdminClient(first_server.addr, timeout=5) as admin:
        taking, silent = admin.topics.get_put_rates("T", [a.addr, dead])
        [idle] = admin.topics.get_put_rates("Idle", [a.addr])
    assert (taking.result, idle.result, silent.result, silent.addr) == (2.0, 0.0, None, dead)


def test_a_group_that_never_committed_has_no_accumulation(
    first_server: FakeNameServer, a: TopicBroker
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: a.addr}}}
    a.handlers[14] = refuse_with(22, "not found")
    a.handlers[208] = a.answer_lags((9255, 0))
    [row] = asked(first_server, "T")
    assert (row.lag, row.lag_reason) == (None, "no consumer offset")
    a.handlers[208] = a.answer_lags((10, 647_260_493))
    [row] = asked(first_server, "T")
    assert (row.lag, row.lag_reason) == (
        None,
        "the consumer offset is beyond the end of the queue",
    )
