"""Mappings as brokers tell and take them."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.results import NotApplied
from nsadmin.client.topics.queue_mappings import (
    BrokerQueueShare,
    QueueMappingItem,
    parse_share,
    share_to_record,
)
from tests.support.fake_servers import closed_port
from tests.support.static_brokers import StaticBroker

CONFIG = {
    "topicName": "T", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "topicSysFlag": 0, "order": False,
    "topicFilterType": "SINGLE_TAG", "attributes": {},
}  # fmt: skip
SHARE = BrokerQueueShare(CONFIG, 7, 1, {0: (QueueMappingItem(0, 0, "a", 0),)})


@pytest.fixture
def broker() -> Iterator[StaticBroker]:
    with StaticBroker("a") as running:
        yield running


@pytest.fixture
def client() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as admin:
        yield admin


def test_a_share_is_told_and_read_back(client: AdminClient, broker: StaticBroker) -> None:
    [nothing] = client.queue_mappings.get_each("T", [broker.addr])
    assert (nothing.result, nothing.error) == (None, None)
    [done] = client.queue_mappings.put_shares("T", [(broker.addr, "a", SHARE)], force=True)
    assert (done.error, broker.told[0]["force"], broker.told[0]["bname"]) == (None, "true", "a")
    [result] = client.queue_mappings.get_each("T", [broker.addr])
    assert (result.result, SHARE.own_queue_count) == (SHARE, 1)
    assert parse_share(share_to_record("T", "a", SHARE)) == SHARE


def test_what_is_no_static_topic_and_who_does_not_answer(client: AdminClient, broker: StaticBroker) -> None:
    broker.static["T"] = CONFIG
    dead = f"127.0.0.1:{closed_port()}"
    plain, silent = client.queue_mappings.get_each("T", [broker.addr, dead])
    assert isinstance(plain.error, NotApplied)
    assert silent.error is not None


def test_where_queues_end(client: AdminClient, broker: StaticBroker) -> None:
    broker.ends = {0: 5, 1: 0}
    assert client.queue_mappings.get_queue_ends("T", broker.addr).result == {0: 5, 1: 0}
    assert client.queue_mappings.get_own_ends("T", broker.addr, [1, 0]) == [0, 5]
