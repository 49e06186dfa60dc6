"""Plans: where each queue begins, and what is refused."""

import pytest

from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.transfer import topic_plan
from nsadmin.operations.transfer.topic_plan import TopicPair, TopicPlanner
from tests.support.message_brokers import CREATED
from tests.support.transfer_clusters import COPIED, ClusterPair


def fill(pair: ClusterPair, count: int) -> None:
    for number in range(count):
        pair.source.store_message(b"%d" % number)


def test_a_first_plan_begins_with_the_first_message_of_a_time(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.target.store_message(b"of another producer")
    [first, *others] = pair.plan_topic(CREATED + 4000).queues
    assert (first.record.begin_offset, first.record.next_offset, first.remaining_count) == (4, 4, 6)
    assert (first.record.target_begin, first.has_progress) == (1, False)
    assert [queue.remaining_count for queue in others] == [0] * 7


def test_without_a_record_the_copies_say_how_far_the_transfer_came(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.copy_all()
    pair.target_server.kv.clear()
    fill(pair, 2)
    [first, *_] = pair.plan_topic().queues
    assert (first.record.next_offset, first.remaining_count, first.record.target_begin) == (10, 2, 0)


def test_a_long_search_of_the_target_is_announced(pair: ClusterPair, monkeypatch: pytest.MonkeyPatch) -> None:
    remarks: list[str] = []
    planner = TopicPlanner(pair.clusters, {}, write_remark=remarks.append)
    pair.target.store_message(b"of another producer")
    planner.plan_topic(COPIED)
    assert remarks == []
    monkeypatch.setattr(topic_plan, "BACKWARD_SCAN", 1)
    planner.plan_topic(COPIED)
    assert remarks == ["searching the newest 1 messages of T in the target for copies of an earlier run"]


def test_a_target_topic_that_was_created_again_gets_everything_again(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.copy_all()
    pair.target.queues.clear()
    assert pair.plan_topic().queues[0].remaining_count == 10
    for number in range(20):
        pair.target.store_message(b"new %d" % number)
    assert pair.plan_topic().queues[0].remaining_count == 10


def test_copies_that_expired_in_the_target_are_not_made_again(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.copy_all()
    pair.target.oldest = 10
    assert pair.plan_topic().queues[0].remaining_count == 0


def test_a_source_topic_that_was_created_again_is_refused(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.copy_all()
    pair.source.queues.clear()
    fill(pair, 3)
    with pytest.raises(NotApplied, match="broker-a/0 does not have the message that was copied last"):
        pair.plan_topic()


def test_other_filters_than_before_are_refused(pair: ClusterPair) -> None:
    fill(pair, 3)
    pair.copy_all()
    with pytest.raises(NotApplied, match="the transfer began without filters: pass none, or copy to another"):
        pair.plan_topic(rules={"--tag": ("A",)})


def test_a_topic_that_a_cluster_lacks_and_the_same_topic_are_refused(pair: ClusterPair) -> None:
    planner = pair.make_planner()
    pair.target_server.routes = {}
    with pytest.raises(NotFound, match='the target has no topic "T"'):
        planner.plan_topic(TopicPair("T", "T"))
    with pytest.raises(NotFound, match='the source has no topic "U"'):
        planner.plan_topic(TopicPair("U", "T"))
    pair.target_server.routes = {"T": {"broker-a": 6}}
    pair.target_server.clusters = pair.source_server.clusters
    with pytest.raises(NotApplied, match="T: source and target are the same topic"):
        planner.plan_topic(TopicPair("T", "T"))
