"""Messages that are written to see how long it takes."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.stored_messages import parse_properties
from nsadmin import AdminClient
from nsadmin.client import NotFound
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.message_brokers import MessageBroker


@pytest.fixture
def admin(first_server: FakeNameServer, message_broker: MessageBroker) -> Iterator[AdminClient]:
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}}}
    first_server.routes = {"broker-a": {"broker-a": 6}}
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client


def test_each_message_is_timed(admin: AdminClient, message_broker: MessageBroker) -> None:
    place = admin.send_probes.choose_queue("broker-a")
    probes = list(admin.send_probes.send_probes(place, 5, 3))
    assert [(s.body, (s.ext or {})["b"]) for s in message_broker.sent] == [(b"xxxxx", "broker-a")] * 3
    assert parse_properties(((message_broker.sent[0].ext or {})["i"] or "").encode())["TAGS"] == "PROBE"
    assert all(probe.elapsed_ms > 0 and probe.error is None for probe in probes)
    assert len({probe.sent_message.msg_id for probe in probes if probe.sent_message}) == 3


def test_a_failure_is_one_message_of_many(admin: AdminClient, message_broker: MessageBroker) -> None:
    taken = message_broker.handlers[310]
    answers = iter([refuse_with(2, "busy"), taken])
    message_broker.handlers[310] = lambda asked: next(answers)(asked)
    probes = list(admin.send_probes.send_probes(admin.send_probes.choose_queue("broker-a"), 1, 2))
    assert [(str(probe.error), probe.sent_message is None) for probe in probes] == [
        ("SYSTEM_BUSY (2): busy", True),
        ("None", False),
    ]


def test_a_broker_without_such_a_topic(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match='no name server has the topic "broker-b", which a broker'):
        admin.send_probes.choose_queue("broker-b")


def test_the_queues_of_a_topic(admin: AdminClient, message_broker: MessageBroker) -> None:
    places = admin.send_probes.list_queues("broker-a")
    assert {place[:3] for place in places} == {("broker-a", "broker-a", message_broker.addr)}
    assert [place.queue_id for place in places] == list(range(8))
