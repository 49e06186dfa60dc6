"""Entries of consume queues."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client.messages.consume_queues import ConsumeQueueEntry
from nsadmin.client.results import NotFound
from nsadmin.client.topic_routes import QueueRoute
from tests.support.fake_servers import FakeBroker, answer_json, closed_port

ENTRY = {"physicOffset": 825, "physicSize": 275, "tagsCode": -7, "eval": True, "msg": "null", "bitMap": "01"}


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    def entries(asked: RemotingCommand) -> RemotingCommand:
        if (asked.ext or {})["index"] == "99":
            return build_reply(asked, remark="Index 99 of 1@T is not exist!")
        named = "it is not online" if "consumerGroup" in (asked.ext or {}) else "null"
        answer = {"minQueueIndex": 2, "maxQueueIndex": 46, "queueData": [ENTRY, ENTRY], "filterData": named}
        return answer_json(asked, answer)

    with FakeBroker() as running:
        running.handlers[321] = entries
        yield running


@pytest.fixture
def client() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as admin:
        yield admin


def test_entries_and_what_is_said_of_a_group(client: AdminClient, broker: FakeBroker) -> None:
    read = client.consume_queues.read_entries_at(broker.addr, "T", 1, 5, 2, "G").result
    assert read is not None
    assert (read.min_index, read.max_index, read.filter_data) == (2, 46, "it is not online")
    assert read.entries == tuple(ConsumeQueueEntry(at, 825, 275, -7, None, "01", True, None) for at in (5, 6))
    assert broker.asked[0].ext == {
        "topic": "T", "queueId": "1", "index": "5", "count": "2", "consumerGroup": "G",
    }  # fmt: skip


def test_a_slave_answers_where_the_master_does_not(client: AdminClient, broker: FakeBroker) -> None:
    addrs = {0: f"127.0.0.1:{closed_port()}", 1: broker.addr}
    route = QueueRoute("broker-a", "C", addrs, 6, 8, 8, 0)
    [result] = client.consume_queues.read_entries([route], "T", 1, 5, 2)
    assert (result.addr, result.error) == (broker.addr, None)
    assert result.result is not None
    assert result.result.filter_data is None


def test_no_entry_there(client: AdminClient, broker: FakeBroker) -> None:
    def said() -> tuple[type, str]:
        error = client.consume_queues.read_entries_at(broker.addr, "T", 1, 99, 2).error
        return type(error), str(error)

    assert said() == (NotFound, "Index 99 of 1@T is not exist!")
    broker.handlers[31] = lambda asked: build_reply(asked, ext={"offset": "2"})
    broker.handlers[30] = lambda asked: build_reply(asked, ext={"offset": "46"})
    has_other_offsets = "queue 1 of T has no entry at offset 99: the queue has offsets 2 to 45"
    assert said() == (NotFound, has_other_offsets)
