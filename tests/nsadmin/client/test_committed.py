"""Offsets as brokers of both ages tell them."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.command import Command, reply
from nsadmin.client.access import Access
from nsadmin.client.addresses import name_servers
from nsadmin.client.caller import Caller
from nsadmin.client.committed import Offset, committed
from nsadmin.client.queues import MessageQueue
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.servers import refuse

QUEUES = [MessageQueue("T", "broker-a", number) for number in range(3)]


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        running.offsets = {("G", "T", 0): 0, ("G", "T", 1): 5}
        yield running


@pytest.fixture
def caller() -> Iterator[Caller]:
    running = Caller(name_servers("127.0.0.1:1"), Access(5))
    yield running
    running.close()


def asked(caller: Caller, broker: ConsumerBroker) -> list[Offset]:
    return committed(caller, [(broker.addr, "G", queue) for queue in QUEUES])


def old(asked: Command) -> Command:
    """An answer of 4.9: 0 for what is 0, and for what never was."""
    offset = "5" if (asked.ext or {})["queueId"] == "1" else "0"
    answer = reply(asked, ext={"offset": offset})
    answer.version = 407
    return answer


def test_a_broker_says_what_was_never_committed(caller: Caller, broker: ConsumerBroker) -> None:
    assert asked(caller, broker) == [Offset(0, None), Offset(5, None), Offset(None, None)]
    assert set(broker.codes()) == {14}


def test_an_old_one_says_0_and_its_table_knows_better(caller: Caller, broker: ConsumerBroker) -> None:
    broker.handlers[14] = old
    broker.handlers[43] = lambda asked: reply(asked, body=b'{"offsetTable":{"T@G":{0:0,1:5},"T@H":{2:7}}}')
    assert asked(caller, broker) == [Offset(0, None), Offset(5, None), Offset(None, None)]
    broker.handlers[43] = lambda asked: reply(asked, body=b"{}")
    assert asked(caller, broker)[0] == Offset(None, None)
    assert broker.codes().count(43) == 2


def test_errors_are_told_for_what_they_concern(caller: Caller, broker: ConsumerBroker) -> None:
    broker.handlers[14] = old
    broker.handlers[43] = refuse(1, "busy")
    first, second, third = asked(caller, broker)
    assert (second.result, second.error) == (5, None)
    assert isinstance(first.error, RequestError)
    assert first == third
    broker.handlers[14] = refuse(1, "no")
    assert {str(offset.error) for offset in asked(caller, broker)} == {"SYSTEM_ERROR (1): no"}
