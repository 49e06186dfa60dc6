"""Offsets as brokers of both ages tell them."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import choose_name_servers
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers.committed_offsets import CommittedOffset, OffsetCommit, read_committed_offsets
from nsadmin.client.message_queues import MessageQueue
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import refuse_with
from tests.support.lab import Lab, start_lab

QUEUE = MessageQueue("orders", "broker-a-0", 0)
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
    broker.handlers[43] = lambda a: build_reply(a, body=b'{"offsetTable":{"T@G":{0:0,1:5},"T@H":{2:7}}}')
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


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    plan = FleetPlan(clusters=1, groups=1, replicas=1, topics=3)
    with start_lab(tmp_path_factory.mktemp("lab"), plan, name_servers=1) as running:
        yield running


def test_offsets_are_committed_and_read_back(running_lab: Lab) -> None:
    addr = running_lab.brokers["broker-a-0", 0]
    with AdminClient(running_lab.namesrv_addr) as admin:
        [end] = admin.queue_progress.get_end_offsets([(addr, QUEUE)])
        assert isinstance(end, int)
        [group, *_] = admin.topics.list_consumer_groups(addr, ["orders"]).value()["orders"]
        [done] = admin.queue_progress.commit_offsets([OffsetCommit(addr, group, QUEUE, 3)])
        assert done.error is None
        [committed] = admin.queue_progress.get_committed_offsets([(addr, group, QUEUE)])
        assert (committed.offset, committed.error) == (3, None)
        [stats] = admin.consumers.get_stats_each([(addr, group)], "orders")
        lags = {lag.queue: lag for lag in stats.value().queues}
        assert {queue.topic for queue in lags} == {"orders"}
        assert lags[QUEUE].consumer_offset == 3


def test_an_unknown_queue_is_an_error_or_empty(running_lab: Lab) -> None:
    addr = running_lab.brokers["broker-a-0", 0]
    with AdminClient(running_lab.namesrv_addr) as admin:
        [committed] = admin.queue_progress.get_committed_offsets([(addr, "no-group", QUEUE)])
        assert committed.offset is None
