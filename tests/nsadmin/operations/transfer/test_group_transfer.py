"""The offsets of a group are moved through the copies, and read back."""

import pytest

from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.transfer.group_transfer import GroupTransfer, UncarriedTopic
from tests.support.transfer_clusters import ClusterPair


def fill(pair: ClusterPair) -> None:
    for queue_id in (0, 1):
        for number in range(10):
            pair.source.store_message(b"%d" % number, queue_id=queue_id)
    pair.source.offsets = {"T@G": {0: 7}}


def test_each_queue_continues_where_the_group_was(pair: ClusterPair) -> None:
    fill(pair)
    pair.copy_all()
    transfer = GroupTransfer(pair.clusters, "G", overwrites=False)
    moves, uncarried = transfer.plan_moves()
    assert [move.translated_queue.offset for move in moves] == [7, *[0] * 7]
    assert (uncarried, pair.target.offsets) == ([], {})
    moves = transfer.apply_moves(moves)
    assert {move.result for move in moves} == {"done"}
    assert pair.target.offsets["T@G"] == {0: 7, **dict.fromkeys(range(1, 8), 0)}
    assert {move.result for move in transfer.plan_moves()[0]} == {"kept"}


def test_an_offset_that_the_group_has_stays_unless_it_is_overwritten(pair: ClusterPair) -> None:
    fill(pair)
    pair.copy_all()
    pair.target.offsets = {"T@G": {0: 9}}
    for overwrites, offset in ((False, 9), (True, 7)):
        transfer = GroupTransfer(pair.clusters, "G", overwrites=overwrites)
        moves = transfer.apply_moves(transfer.plan_moves()[0])
        assert moves[0].result == ("done" if overwrites else "kept")
        assert pair.target.offsets["T@G"][0] == offset


def test_the_retry_topic_is_not_carried_and_its_messages_are_counted(pair: ClusterPair) -> None:
    fill(pair)
    pair.copy_all()
    for number in range(5):
        pair.source.store_message(b"%d" % number, "%RETRY%G")
    pair.source_server.routes["%RETRY%G"] = {"broker-a": 6}
    pair.source.offsets["%RETRY%G@G"] = {0: 2}
    _, uncarried = GroupTransfer(pair.clusters, "G", overwrites=False).plan_moves()
    assert uncarried == [UncarriedTopic("%RETRY%G", 3)]
    # Beyond the end, nobody knows.
    pair.source.offsets["%RETRY%G@G"] = {0: 9}
    _, uncarried = GroupTransfer(pair.clusters, "G", overwrites=False).plan_moves()
    assert uncarried == [UncarriedTopic("%RETRY%G", None)]
    # The topic is gone.
    del pair.source_server.routes["%RETRY%G"]
    _, uncarried = GroupTransfer(pair.clusters, "G", overwrites=False).plan_moves()
    assert uncarried == [UncarriedTopic("%RETRY%G", 0)]


def test_a_group_that_a_cluster_lacks_is_an_error(pair: ClusterPair) -> None:
    fill(pair)
    with pytest.raises(NotFound, match='the source has no offsets of the group "H"'):
        GroupTransfer(pair.clusters, "H", overwrites=False).plan_moves()
    pair.target.groups.clear()
    advice = "run `nsadmin transfer groups G --from prod --to dr` first"
    with pytest.raises(NotFound, match=f'the target has no group "G": {advice}'):
        GroupTransfer(pair.clusters, "G", overwrites=False).plan_moves()


def test_without_a_transfer_there_is_nothing_to_move(pair: ClusterPair) -> None:
    fill(pair)
    moves, uncarried = GroupTransfer(pair.clusters, "G", overwrites=False).plan_moves()
    assert (moves, uncarried) == ([], [UncarriedTopic("T", 3)])


def test_a_cluster_whose_brokers_are_not_listed_now_has_unknown_offsets(pair: ClusterPair) -> None:
    fill(pair)
    pair.copy_all()
    pair.target_server.clusters = {}
    with pytest.raises(NotApplied, match="no master is registered in the target now: run the command again"):
        GroupTransfer(pair.clusters, "G", overwrites=False).plan_moves()
