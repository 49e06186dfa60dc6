"""Offsets of single queues and groups, as a broker tells and takes them."""

from collections.abc import Iterator

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.client import AdminClient
from nsadmin.client.consumers.queue_progress import OffsetCommit
from nsadmin.client.message_queues import MessageQueue
from tests.support.lab import Lab, start_lab

QUEUE = MessageQueue("orders", "broker-a-0", 0)


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
