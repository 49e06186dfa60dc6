"""A transfer is compared with its source, up to the message that was copied last."""

import pytest

from nsadmin.client.results import NotFound
from nsadmin.operations.transfer.message_rules import MessageRules
from nsadmin.operations.transfer.transfer_run import TransferOptions
from nsadmin.operations.transfer.verification import VerifiedQueue, load_transfer, verify_topic
from tests.support.transfer_clusters import COPIED, ClusterPair


def verify(pair: ClusterPair) -> VerifiedQueue:
    """The first queue of the topic."""
    counts: list[int] = []
    verified = verify_topic(pair.clusters, load_transfer(pair.clusters, COPIED), counts.append)
    assert [other.compared_queue.source_count for other in verified[1:]] == [0] * 7
    assert sum(counts) >= verified[0].compared_queue.source_count
    return verified[0]


def fill(pair: ClusterPair, count: int) -> None:
    for number in range(count):
        pair.source.store_message(b"%d" % number, TAGS="ab"[number % 2])


def test_copies_among_messages_of_others_are_equal(pair: ClusterPair) -> None:
    fill(pair, 70)
    pair.target.store_message(b"of another producer")
    pair.copy_all()
    pair.target.store_message(b"of another producer")
    fill(pair, 3)
    verified = verify(pair)
    assert verified.compared_queue.is_equal
    assert (verified.compared_queue.source_count, verified.compared_queue.copy_count) == (70, 70)
    assert verified.planned_queue.remaining_count == 3


def test_missing_and_repeated_messages_are_named(pair: ClusterPair) -> None:
    fill(pair, 70)
    pair.copy_all()
    queue = pair.target.queues["T", 0]
    copies = pair.copied_messages()
    del queue[10:12]
    pair.target.store_again(copies[5])
    pair.target.store_again(copies[69], b"changed")
    verified = verify(pair)
    assert verified.compared_queue.missing.ranges == ((10, 12),)
    assert (verified.compared_queue.duplicate_count, verified.compared_queue.changed_count) == (2, 1)


def test_only_the_messages_of_the_rules_are_compared(pair: ClusterPair) -> None:
    fill(pair, 40)
    rules = MessageRules(tags=("a",))
    pair.copy_all(TransferOptions(rules=rules))
    verified = verify(pair)
    assert (verified.compared_queue.is_equal, verified.compared_queue.source_count) == (True, 20)


def test_messages_that_the_source_deleted_are_not_compared(pair: ClusterPair) -> None:
    fill(pair, 40)
    pair.copy_all()
    pair.source.oldest = 8
    verified = verify(pair)
    assert (verified.expired_count, verified.compared_queue.source_count) == (8, 32)
    assert (verified.compared_queue.unmatched_count, verified.compared_queue.is_equal) == (8, True)


def test_a_topic_that_was_not_transferred_is_an_error(pair: ClusterPair) -> None:
    with pytest.raises(
        NotFound, match="no messages of T were transferred: run `nsadmin transfer messages T --from"
    ):
        load_transfer(pair.clusters, COPIED)
