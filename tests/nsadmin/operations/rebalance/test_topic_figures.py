"""The traffic of topics: from statistics, from a sample, and from a journal."""

from pathlib import Path

import pytest

from namesrv_core.events import BrokersPolled, ConsumerLag, TopicLag
from nsadmin import AdminClient
from nsadmin.operations.collector.journals import CollectorJournal
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.records import ClusterState
from nsadmin.operations.rebalance.topic_figures import (
    OffsetReading,
    list_broker_topics,
    read_journal_figures,
    read_offsets,
    read_statistics,
    sample_figures,
)
from tests.nsadmin.operations.plans.conftest import CLUSTER, A, B, admin, running_lab

__all__ = ["admin", "running_lab"]


@pytest.fixture
def cluster_state(admin: AdminClient) -> ClusterState:
    return observe_cluster(admin, CLUSTER)


def test_statistics_and_offsets_of_all_brokers(admin: AdminClient, cluster_state: ClusterState) -> None:
    places = list_broker_topics(cluster_state, ["orders", "nowhere"])
    assert set(places) <= {(A, "orders"), (B, "orders")}
    assert places
    reading = read_offsets(admin, cluster_state, places)
    assert set(reading.max_offsets) == set(places)
    assert all(group for groups in reading.groups_by_topic().values() for group in groups)
    figures = read_statistics(admin, cluster_state, reading)
    assert list(figures) == ["orders"]
    # A simulated broker counts nothing in its first seconds.
    assert figures["orders"].sent >= 0


def test_a_sample_is_the_difference_of_two_readings(admin: AdminClient, cluster_state: ClusterState) -> None:
    places = list_broker_topics(cluster_state, ["orders"])
    reading = read_offsets(admin, cluster_state, places)
    earlier = OffsetReading(
        {
            place: {queue_id: max(0, offset - 1) for queue_id, offset in offsets.items()}
            for place, offsets in reading.max_offsets.items()
        },
        reading.group_offsets,
    )
    pauses: list[float] = []
    figures = sample_figures(admin, cluster_state, earlier, 10.0, pauses.append)
    assert pauses == [10.0]
    difference = reading.count_sent()["orders"] - earlier.count_sent()["orders"]
    assert figures["orders"].sent >= difference / 10 > 0
    assert figures["orders"].bytes_sent > 0


def test_unread_messages_are_counted_for_each_group_from_a_queue_on() -> None:
    reading = OffsetReading(
        {("a", "T"): {0: 10, 1: 10, 2: 10}}, {("a", "T"): {"g": {0: 1, 1: 4, 2: 10}, "h": {1: 8}}}
    )
    assert [reading.count_unread(("a", "T"), queue_id) for queue_id in range(4)] == [17, 8, 0, 0]
    assert reading.count_unread(("b", "T"), 0) == 0
    assert reading.count_received() == {"T": 23}


def test_a_journal_gives_the_traffic_between_its_first_and_last_poll(tmp_path: Path) -> None:
    def lag(broker_name: str, group: str, sent: int, received: int) -> ConsumerLag:
        topic_lags = (TopicLag("T", 4, 0, sent, received, sent - received),)
        return ConsumerLag("c", broker_name, 0, "127.0.0.1:1", group, topic_lags)

    polled = BrokersPolled(2, 0, 1, 5)
    journal = CollectorJournal(tmp_path, "brokers")
    journal.write_events(
        [lag("a", "g", 100, 50), lag("a", "h", 100, 100), lag("b", "g", 10, 10), polled], 1000
    )
    journal.write_events([lag("a", "g", 700, 650), lag("a", "h", 700, 400), polled], 61_000)
    journal.close()
    figures, covered_seconds = read_journal_figures(tmp_path, "c")
    assert (covered_seconds, figures["T"].sent, figures["T"].received) == (60.0, 10.0, 15.0)
    assert read_journal_figures(tmp_path, "other")[0] == {}
