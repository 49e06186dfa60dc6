"""Offsets as brokers of both ages tell them."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import choose_name_servers
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers.committed_offsets import CommittedOffset, read_committed_offsets
from nsadmin.client.message_queues import MessageQueue
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import refuse_with

QUEUES = [MessageQueue("T", "broker-a", number) for number in range(3)]


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        running.offsets = {("G", "T", 0): 0, ("G", "T", 1): 5}
        yield running


@pytest.fixture
def caller() -> Iterator[Caller]:
    running = Caller(choose_name_servers("127.0.0.1:1"), Access(5))
    yield running
    running.close()


def asked(caller: Caller, broker: ConsumerBroker) -> list[CommittedOffset]:
    return read_committed_offsets(caller, [(broker.addr, "G", queue) for queue in QUEUES])


def old(asked: RemotingCommand) -> RemotingCommand:
    """An answer of 4.9: 0 for what is 0, and for what never was."""
    offset = "5" if (asked.ext or {})["queueId"] == "1" else "0"
    answer = build_reply(asked, ext={"offset": offset})
    answer.version = 407
    return answer


def test_a_broker_says_what_was_never_committed(caller: Caller, broker: ConsumerBroker) -> None:
    assert asked(caller, broker) == [
        CommittedOffset(0, None),
        CommittedOffset(5, None),
        CommittedOffset(None, None),
    ]
    assert set(broker.asked_codes()) == {14}


def test_an_old_one_says_0_and_its_table_knows_better(caller: Caller, broker: ConsumerBroker) -> None:
    broker.handlers[14] = old
    broker.handlers[43] = lambda asked: build_reply(
        asked, body=b'{"offsetTable":{"T@G":{0:0,1:5},"T@H":{2:7}}}'
    )
    assert asked(caller, broker) == [
        CommittedOffset(0, None),
        CommittedOffset(5, None),
        CommittedOffset(None, None),
    ]
    broker.handlers[43] = lambda asked: build_reply(asked, body=b"{}")
    assert asked(caller, broker)[0] == CommittedOffset(None, None)
    assert broker.asked_codes().count(43) == 2


def test_errors_are_told_for_what_they_concern(caller: Caller, broker: ConsumerBroker) -> None:
    broker.handlers[14] = old
    broker.handlers[43] = refuse_with(1, "busy")
    first, second, third = asked(caller, broker)
    assert (second.offset, second.error) == (5, None)
    assert isinstance(first.error, RequestError)
    assert first == third
    broker.handlers[14] = refuse_with(1, "no")
    assert {str(offset.error) for offset in asked(caller, broker)} == {"SYSTEM_ERROR (1): no"}
